# SPDX-License-Identifier: BSD-3-Clause
# The environment of the tests and the examples.

# Tests and examples write only to the build folder. StarPU's measurements of the machine's links go there, too.
set(TESSERA_TEST_SCRATCH ${PROJECT_BINARY_DIR}/scratch)
set(TESSERA_TEST_ENVIRONMENT TESSERA_CACHE_DIR=${TESSERA_TEST_SCRATCH}/cache)
# They see no OpenCL device, since loading PoCL takes longer than many tests. Tests on OpenCL devices override this.
file(MAKE_DIRECTORY ${TESSERA_TEST_SCRATCH}/no-opencl)
list(APPEND TESSERA_TEST_ENVIRONMENT OCL_ICD_VENDORS=${TESSERA_TEST_SCRATCH}/no-opencl OCL_ICD_FILENAMES=)
set(TESSERA_SANITIZED OFF)
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=")
  set(TESSERA_SANITIZED ON)
  # libpciaccess leaks a kilobyte. hwloc unloads it before leaks are counted, so a suppression cannot name it.
  list(APPEND TESSERA_TEST_ENVIRONMENT HWLOC_PLUGINS_BLACKLIST=hwloc_pci
       "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.supp:print_suppressions=0"
       "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/races.supp:print_suppressions=0")
endif()

# Tests that see no GPU. StarPU loads CUDA's libraries nevertheless, which would take half a second per process, so these
# tests load stand-ins. A program that calls one of them ends. The tests of the installation load the real libraries.
set(TESSERA_WITHOUT_GPUS CUDA_VISIBLE_DEVICES=-1)
if(TESSERA_TESTS AND BUILD_TESTING AND NOT TESSERA_SIMULATED)
  set(stand_ins ${TESSERA_TEST_SCRATCH}/cuda-stand-ins)
  execute_process(COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/support/cuda_stand_ins.sh ${CMAKE_C_COMPILER} ${stand_ins}
                          ${pkgcfg_lib_STARPU_starpu-1.4} RESULT_VARIABLE without_stand_ins)
  if(without_stand_ins)
    message(WARNING "There are no stand-ins for CUDA's libraries: tests that see no GPU will take longer.")
    file(REMOVE_RECURSE ${stand_ins})
  endif()
  if(NOT "$ENV{LD_LIBRARY_PATH}" STREQUAL "")
    string(APPEND stand_ins :$ENV{LD_LIBRARY_PATH})
  endif()
  list(APPEND TESSERA_WITHOUT_GPUS LD_LIBRARY_PATH=${stand_ins})
endif()

# The label `full`: `./run test` neither runs these tests nor compiles what only they need.
function(run_only_in_full)  # test...
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS full)
endfunction()
function(run_all_only_in_full)  # all tests of the current folder
  get_property(tests DIRECTORY PROPERTY TESTS)
  if(tests)
    run_only_in_full(${tests})
  endif()
endfunction()
