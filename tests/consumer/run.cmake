# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the consumer. WAY: find_package and pkg-config install the library from BUILD first, add_subdirectory
# builds it from SOURCE, without optimisation and without its tools, examples and tests.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${SCRATCH}/prefix)
set(ENV{PKG_CONFIG_PATH} ${STARPU_LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH})  # StarPU's, as this build found it
set(options -D WAY=${WAY} -D CMAKE_CXX_COMPILER=${CXX})
if(WAY STREQUAL "add_subdirectory")
  list(APPEND options -D TESSERA_SOURCE=${SOURCE} -D TESSERA_CUDA=OFF -D CMAKE_UNITY_BUILD=ON)
else()
  file(REMOVE_RECURSE ${SCRATCH})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  list(APPEND options -D CMAKE_PREFIX_PATH=${prefix})
endif()
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build ${options})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build --parallel 2 --target consumer)
run(${SCRATCH}/build/consumer)
