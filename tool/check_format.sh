#!/usr/bin/env bash
# Fails when a tracked C++ file is not formatted as .clang-format says.
#   --fix  formats them instead
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A clone may belong to another user; reading its list of files is harmless.
mapfile -d '' files < <(git -c safe.directory='*' ls-files -z -- '*.h' '*.cpp')
if [ ${#files[@]} -eq 0 ]; then
  echo 'error: git lists no C++ file here' >&2
  exit 1
fi
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${files[@]}"
else
  clang-format-19 --dry-run -Werror "${files[@]}"
  echo "${#files[@]} files are formatted"
fi
