#!/usr/bin/env bash
# From a fresh clone to an answer: installs what is missing, builds, gets the default model, asks it.
#   ./quickstart.sh ["a question"]
# Run again it answers at once. Only the answer goes to stdout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/tool/progress.sh"

case ${1:-} in
  -h | --help)
    say 'usage: ./quickstart.sh ["a question"]'
    exit 0
    ;;
esac
question=${*:-Why is the sea salty?}
build=$root/build/release
log=$root/build/quickstart.log

"$root/tool/install_packages.sh" build fetch
mkdir -p "$root/build"
if [ ! -e "$build/build.ninja" ]; then
  : >"$log"
  (cd "$root" && step "configuring" "$log" cmake --preset release \
    -DMUMMU_TESTS=OFF -DMUMMU_EXAMPLES=OFF -DMUMMU_WERROR=OFF)
fi
# ninja says by -n whether there is anything to do, in a few milliseconds.
if ! ninja -C "$build" -n app/mummu 2>/dev/null | grep -q 'no work to do'; then
  step "building" "$log" ninja -C "$build" app/mummu
fi
"$root/tool/fetch_models.sh" >/dev/null
exec "$build/app/mummu" run -- "$question"
