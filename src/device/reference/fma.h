#pragma once

// MUMMU_FMA before a function: compiled once more for CPUs that have std::fma as an instruction,
// which gives the same bits without a call. Sanitizers do without.

#include <cstdlib>  // says whose C library this is: clones need glibc

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MUMMU_FMA __attribute__((target_clones("default", "fma"), flatten))
#else
#define MUMMU_FMA
#endif
