#!/usr/bin/env bash
# Fails when an object compiled for one instruction set defines a weak symbol: the linker keeps one
# copy of those, so code for AVX-512 could end up in the path of every machine.
#   tool/check_weak_symbols.sh build/dev...
set -euo pipefail

if [ $# -eq 0 ]; then
  echo 'usage: tool/check_weak_symbols.sh BUILD_FOLDER...' >&2
  exit 2
fi
for build in "$@"; do
  mapfile -d '' objects < <(find "$build" -path '*/mummu_cpu_*_objects.dir/*' -name '*.o' -print0)
  if [ ${#objects[@]} -eq 0 ]; then
    echo "error: $build has no object of a mummu_cpu_*_objects target; build it first" >&2
    exit 1
  fi
  # W weak, V weak data, u unique over all libraries; lower case w and v are only references.
  if weak=$(nm --demangle --defined-only --print-file-name "${objects[@]}" | grep -E ' [WVu] '); then
    printf 'error: weak symbols in objects of one instruction set:\n%s\n' "$weak" >&2
    exit 1
  fi
  echo "$build: ${#objects[@]} objects of one instruction set, no weak symbol"
done
