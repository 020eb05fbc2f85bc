#!/usr/bin/env bash
# Runs an example program on the default model or another fixture, as the tests do: run_example.sh PROGRAM [FIXTURE].
# Says what to do when the model is not there.
set -euo pipefail
fixtures=${MUMMU_FIXTURES:-${XDG_CACHE_HOME:-$HOME/.cache}/mummu/fixtures}
model=$fixtures/${2:-SmolLM2-135M-Instruct.Q4_1.gguf}
if [ ! -e "$model" ]; then
  [ -z "${MUMMU_REQUIRE_FIXTURES:-}" ] || { echo "missing fixture $model"; exit 1; }
  echo "skipped: $model is missing; get it with tool/fetch_models.sh --tests"
  exit 0
fi
output=$("$1" "$model")
printf '%s\n' "$output"
[ -n "$output" ]
