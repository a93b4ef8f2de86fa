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
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/added -D CMAKE_CXX_COMPILER=${CXX}
    -D TESSERA_SOURCE=${SOURCE} -D OWN_TASKS=${SOURCE}/examples/03_own_tasks.cpp
    -D TESSERA_CUDA=OFF -D CMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build ${SCRATCH}/added --parallel 2 --target consumer own_tasks)
run(${SCRATCH}/added/consumer)
run(${SCRATCH}/added/own_tasks)
