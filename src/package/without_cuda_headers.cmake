# SPDX-License-Identifier: BSD-3-Clause
# Writes StarPU's starpu_config.h, CONFIG, to RESULT, for a prefix that may be moved to a machine without CUDA's headers.
# StarPU's structures do not depend on them. Included, or used as a script: cmake -D CONFIG=FILE -D RESULT=FILE -P FILE
file(READ ${CONFIG} config)
string(REPLACE "#define STARPU_USE_CUDA 1\n" [=[
#ifdef TESSERA_WITHOUT_CUDA_HEADERS
#elif __has_include(<cuda.h>)
#define STARPU_USE_CUDA 1
#else
#error "cuda.h is not found: name the folder of CUDA's headers with -I, or compile codelets for CPUs only with -DTESSERA_WITHOUT_CUDA_HEADERS"
#endif
]=] config "${config}")
file(WRITE ${RESULT} "${config}")
