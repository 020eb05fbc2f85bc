# Compiler flags that every target of the project shares. The arithmetic contract needs -ffp-contract=off:
# a fused multiply-add is written as one, and never invented by the compiler.
add_library(mummu_flags INTERFACE)
target_compile_options(mummu_flags INTERFACE
  -ffp-contract=off -fno-fast-math -fno-math-errno
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor)
# g++ 12 at -O3 warns of copies and reads that cannot happen inside its own string and optional; the dev build and clang
# keep these warnings.
target_compile_options(mummu_flags INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict$<SEMICOLON>-Wno-maybe-uninitialized>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(mummu_flags INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(MUMMU_WERROR)
  target_compile_options(mummu_flags INTERFACE -Werror)
endif()
if(MUMMU_SANITIZE)
  add_compile_options(-fsanitize=${MUMMU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MUMMU_SANITIZE})
endif()
