#!/usr/bin/env bash
# Installs a built tree into a folder of its own, and builds and runs an example against that alone: once by its CMake
# package, once by pkg-config. Of a shared library it also checks that nothing but the public classes is visible.
#   tool/check_install.sh build/dev
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
tree=$build/check_install
rm -rf "$tree"
cmake --install "$build" --prefix "$tree/root" >/dev/null
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

cmake -S "$here/../example/installed" -B "$tree/cmake" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$tree/root" >/dev/null
cmake --build "$tree/cmake" >/dev/null
libdir=$(dirname "$(find "$tree/root" -name 'libmummu.*' | head -n 1)")
export LD_LIBRARY_PATH=$libdir PKG_CONFIG_PATH=$libdir/pkgconfig
# The file's prefix is where the build would have installed itself; here it is elsewhere.
flags=$(pkg-config --define-variable=prefix="$tree/root" --cflags --libs mummu)
# shellcheck disable=SC2086
"$compiler" -std=c++20 -O1 "$here/../example/worker_threads.cpp" $flags -o "$tree/by_pkg_config"

if [ -e "$libdir/libmummu.so" ]; then
  shown=$(nm -DC --defined-only "$libdir/libmummu.so")
  for hidden in Channel Driver Decoder Scheduler Gguf Sampler; do
    if grep -E " [TDB] mummu::$hidden(::|\()" <<<"$shown"; then
      echo "libmummu.so shows mummu::$hidden"
      exit 1
    fi
  done
  grep -q " T mummu::Worker::submit" <<<"$shown"
fi
"$here/run_example.sh" "$tree/cmake/embedder"
"$here/run_example.sh" "$tree/by_pkg_config"
