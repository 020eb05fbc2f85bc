#!/usr/bin/env bash
# Runs Python with the packages of tool/requirements.txt: tool/python.sh [--reference] SCRIPT ARGUMENT...
# With --reference those of tool/reference_requirements.txt, which are large.
# Makes a virtual environment in the cache folder the first time, and again when the list changes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/progress.sh"

list=$here/requirements.txt
if [ "${1:-}" = --reference ]; then
  list=$here/reference_requirements.txt
  shift
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mummu
version=$(sha256sum "$list" | cut -c 1-12)
venv=$cache/python-$version

make_venv() {
  python3 -m venv --clear "$venv" &&
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
      -r "$list" && touch "$venv/complete"
}

if [ ! -e "$venv/complete" ]; then
  "$here/install_packages.sh" python
  mkdir -p "$cache" "$here/../build"
  exec 9>"$cache/python.lock"
  flock 9
  [ -e "$venv/complete" ] || step "Python packages" "$here/../build/python.log" make_venv
  exec 9>&-
fi
exec "$venv/bin/python" "$@"
