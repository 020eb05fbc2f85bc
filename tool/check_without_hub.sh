#!/usr/bin/env bash
# Builds the command line with MUMMU_HUB=OFF and fails when anything of curl or OpenSSL is in it.
#   tool/check_without_hub.sh BUILD_FOLDER
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
cmake -S "$root" -B "$build" -G Ninja -DMUMMU_HUB=OFF -DMUMMU_TESTS=OFF -DMUMMU_EXAMPLES=OFF -DBUILD_SHARED_LIBS=ON >/dev/null
ninja -C "$build" app/mummu >/dev/null
for file in "$build/libmummu.so" "$build/app/mummu"; do
  needed=$(readelf --dynamic --wide "$file" | grep NEEDED)
  if grep -E 'lib(curl|crypto|ssl)' <<<"$needed" || nm -D "$file" | grep -E ' (curl|EVP)_'; then
    echo "error: $file needs what MUMMU_HUB=OFF leaves out" >&2
    exit 1
  fi
done
"$build/app/mummu" devices >/dev/null
echo "$build: no trace of curl"
