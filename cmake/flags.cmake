# One set of flags for the whole build.
#
# x86-64-v3 and no -march=native: the tuning that -march=native implies on some processors costs Eigen a fifth of
# its speed, and Eigen's templates must see the same instruction set in every file (one-definition rule).
add_library(headcount_flags INTERFACE)
target_compile_options(headcount_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(HEADCOUNT_WERROR)
  target_compile_options(headcount_flags INTERFACE -Werror)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v3)
  set(HEADCOUNT_INSTRUCTION_SET x86-64-v3)
else()
  set(HEADCOUNT_INSTRUCTION_SET "the compiler's default")
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
add_compile_definitions(EIGEN_DONT_PARALLELIZE)  # threads are ours, whatever -fopenmp says

# Kernels are chosen at run time: these files, which see neither Eigen nor each other's inline functions, may use more
# than the baseline. gcc 12 takes its own AVX-512 intrinsics for uses of uninitialized values.
file(GLOB kernel_sources ${CMAKE_SOURCE_DIR}/src/math/kernels/*.cpp)
set_source_files_properties(${kernel_sources} PROPERTIES COMPILE_OPTIONS "-fno-math-errno")
if(HEADCOUNT_INSTRUCTION_SET STREQUAL x86-64-v3)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/math/kernels/avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-fno-math-errno;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512;$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
endif()

if(HEADCOUNT_SANITIZE)
  add_compile_options(-fsanitize=${HEADCOUNT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADCOUNT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND HEADCOUNT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=pointer-overflow)  # Eigen counts from the null pointer of empty matrices
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The sanitizers' checks make gcc see uninitialized values where there are none, in the standard library too.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
