#!/usr/bin/env bash
# The long checks, run before a piece of work is called done; not part of .ci/run.
#   MUMMU_FUZZ_SECONDS  how long each fuzz target searches (600)
#   MUMMU_REFERENCE     a Python with transformers, instead of one that tool/python.sh makes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tool/progress.sh
export MUMMU_REQUIRE_FIXTURES=1
seconds=${MUMMU_FUZZ_SECONDS:-600}

tool/install_packages.sh ci nightly
tool/fetch_models.sh --tests >/dev/null

say "== the release build's own tests"
cmake --workflow --preset release

say "== determinism: every cell of the matrix, family by family"
MUMMU_MATRIX=all build/release/engine_test --gtest_filter='Families/Determinism.*'

say "== every way of driving: the gate, 200 rounds each, and every cell of their matrix"
MUMMU_GATE=all MUMMU_MATRIX=all build/release/async_test --gtest_filter='*GateWays*:*WayMatrix*'

say "== 200,000 random schedules"
MUMMU_SCHEDULES=200000 build/release/engine_test --gtest_filter='RandomSchedule.*'

say "== ids and templates beside the Python packages tokenizers and jinja2"
tool/python.sh tool/check_tokenizer.py --mummu build/release/app/mummu --count 100000 --seed "$RANDOM"
tool/python.sh tool/check_templates.py build/release/app/mummu
tool/python.sh tool/make_template_golden.py --check

say "== injection, every token in every string of every template"
MUMMU_EVERY=1 build/release/text_test --gtest_filter='ChatAttack.*'

say "== downloads: 50 kills"
MUMMU_KILLS=50 MUMMU_KILL_SEED=$RANDOM python3 app/hub_test.py build/release/app/mummu src/hub/test/fake_hub.py

say "== a build without the hub has no trace of curl"
tool/check_without_hub.sh build/without_hub

say "== the real MiniLM as a GGUF file beside its folder"
tool/python.sh tool/check_bert_gguf.py build/release/app/mummu build/bert_gguf

say "== full-size shapes with random weights against transformers"
read -ra reference <<<"${MUMMU_REFERENCE:-tool/python.sh --reference}"
"${reference[@]}" tool/check_full_size.py build/release/app/mummu build/full_size

say "== clang-tidy"
cmake --preset tsan
run-clang-tidy-19 -quiet -p build/tsan "$PWD/(src|app|example)/.*\.cpp\$"

say "== streams, workers and threads: the stress tests, ten times as long, under the thread sanitizer"
cmake --build --preset tsan --target async_test
MUMMU_STRESS=10 build/tsan/async_test --gtest_filter='*Stress*' --gtest_brief=1

say "== fuzzing, $seconds s each"
cmake --preset asan
cmake --build --preset asan
found=0
for target in build/asan/*_fuzz; do
  name=$(basename "$target")
  mkdir -p "build/asan/fuzz/$name"
  say "$name"
  ASAN_OPTIONS=allocator_may_return_null=1 "$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 -artifact_prefix="build/asan/fuzz/" \
    "build/asan/fuzz/$name" "golden/fuzz/$name"
  found=$((found + 1))
done
if [ "$found" -eq 0 ]; then die "the asan build has no fuzz target"; fi
