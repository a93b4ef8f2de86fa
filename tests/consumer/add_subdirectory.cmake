# SPDX-License-Identifier: BSD-3-Clause
# Builds Tessera from SOURCE as a part of the consumer, without optimisation and without its tools, examples and tests,
# and runs the consumer. STARPU_DIR is empty if StarPU is where every build finds it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

unset(ENV{PKG_CONFIG_PATH})
unset(ENV{STARPU_DIR})
if(STARPU_DIR)
  set(ENV{STARPU_DIR} ${STARPU_DIR})
endif()
file(COPY ${CMAKE_CURRENT_LIST_DIR}/ ${SOURCE}/examples/03_own_tasks.cpp DESTINATION ${SCRATCH}/source)
file(RENAME ${SCRATCH}/source/03_own_tasks.cpp ${SCRATCH}/source/own_tasks.cpp)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SCRATCH}/source -B ${SCRATCH}/build -D CMAKE_CXX_COMPILER=${CXX}
    -D TESSERA_SOURCE=${SOURCE} -D TESSERA_CUDA=OFF -D CMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build --parallel 2 --target consumer own_tasks)
run(${SCRATCH}/build/consumer)
run(${SCRATCH}/build/own_tasks)
