# Cross-compiles for 64-bit ARM Linux and runs the tests under qemu: the reference kernels reproduce
# golden/hashes.txt there too. On Debian, as root:
#   dpkg --add-architecture arm64 && apt-get update
#   apt-get install g++-aarch64-linux-gnu qemu-user nlohmann-json3-dev \
#     lib{fmt,gtest,gmock,pcre2,utf8proc}-dev:arm64
#   cmake -S . -B build/aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake \
#     -DMUMMU_APP=OFF -DMUMMU_EXAMPLES=OFF
#   cmake --build build/aarch64 --target base_test device_test
#   ctest --test-dir build/aarch64 -L 'base|device'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
