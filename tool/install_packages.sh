#!/usr/bin/env bash
# Installs with apt-get what is missing on this machine, and nothing when nothing is missing.
#   tool/install_packages.sh GROUP...
#     build   compile the command line
#     test    build and run the tests
#     ci      the sanitizer builds and the format check (clang 19)
#     nightly clang-tidy 19
#     fetch   download the default model
#     python  pip and virtual environments
# A package counts as there when the file that we need from it is there, whoever installed it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/progress.sh"

missing=()

need() {  # need PACKAGE FILE...: the package unless one of the files exists
  local package=$1 file
  shift
  for file in "$@"; do
    if [ -e "$file" ]; then return; fi
  done
  missing+=("$package")
}

need_program() { command -v "$2" >/dev/null || missing+=("$1"); }

need_header() {  # need_header PACKAGE HEADER
  need "$1" "/usr/include/$2" "/usr/local/include/$2" "/usr/include/x86_64-linux-gnu/$2" \
    "/usr/include/aarch64-linux-gnu/$2"
}

group_build() {
  need_program g++ g++
  need_program cmake cmake
  need_program ninja-build ninja
  need_program pkg-config pkg-config
  need_header nlohmann-json3-dev nlohmann/json.hpp
  need_header libfmt-dev fmt/core.h
  need_header libcli11-dev CLI/CLI.hpp
  need_header libedit-dev histedit.h
  need_header libpcre2-dev pcre2.h
  need_header libutf8proc-dev utf8proc.h
  need_header libxxhash-dev xxhash.h
  need_header libcurl4-openssl-dev curl/curl.h
  need_header libssl-dev openssl/evp.h
}

group_test() {
  group_build
  group_fetch
  need_program ccache ccache
  need_header libgtest-dev gtest/gtest.h
  need_header libgmock-dev gmock/gmock.h
  need_header libboost1.81-dev boost/asio/bind_allocator.hpp
  need_program python3 python3
  need_program openssl openssl
}

group_ci() {
  group_test
  need_program git git
  need_program clang-19 clang++-19
  need_program clang-format-19 clang-format-19
  need_program llvm-19 llvm-symbolizer-19
  need libclang-rt-19-dev /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.*
}

group_nightly() {
  need_program clang-tidy-19 clang-tidy-19
}

group_fetch() {
  need_program curl curl
  need ca-certificates /etc/ssl/certs/ca-certificates.crt
}

group_python() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  # A source that does not answer must not stop us: what is missing shows in the install.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 || true
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

if [ $# -eq 0 ]; then die "usage: tool/install_packages.sh build|test|ci|fetch|python..."; fi
for group in "$@"; do
  declare -F "group_$group" >/dev/null || die "no package group is named '$group'"
  "group_$group"
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
  die "this machine has no apt-get: please install what these Debian packages hold: ${missing[*]}"
fi
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "please run as root: apt-get install ${missing[*]}"
  sudo -v || die "please run as root: apt-get install ${missing[*]}"
fi
mkdir -p "$here/../build"
step "installing ${missing[*]}" "$here/../build/packages.log" apt_install "${missing[@]}"
