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
: >"$log"
if [ ! -e "$build/build.ninja" ]; then
  (cd "$root" && step "configuring" "$log" cmake --preset release \
    -DMUMMU_TESTS=OFF -DMUMMU_EXAMPLES=OFF -DMUMMU_WERROR=OFF)
fi
step "building" "$log" ninja -C "$build" app/mummu
"$root/tool/fetch_models.sh" >/dev/null
exec "$build/app/mummu" run -- "$question"
