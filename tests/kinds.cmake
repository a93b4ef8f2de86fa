# Tests on a CUDA GPU, an OpenCL device and cores in one session. If NVIDIA's is the only OpenCL, the CUDA GPU and the
# OpenCL device may be the same GPU, whose memory they share.
if(NOT TESSERA_HAS_CUDA)
  return()
endif()
set(TESSERA_TEST_NVIDIA_OPENCL /etc/OpenCL/vendors/nvidia.icd CACHE FILEPATH "The OpenCL platform of tests beside CUDA")
set(kinds_environment ${TESSERA_TEST_ENVIRONMENT} OCL_ICD_VENDORS=${TESSERA_TEST_NVIDIA_OPENCL} TESSERA_DEVICES=cuda=1,opencl=1 TESSERA_CPUS=1
                      TESSERA_TEST_NEEDS_GPUS=1 TESSERA_TEST_NEEDS_OPENCL=1 TESSERA_GPU_MEMORY=4096)

# add_kinds_test(NAME TEST FILTER variable=value...)
function(add_kinds_test name test filter)
  add_test(NAME ${name}-gpu COMMAND test-${test} --gtest_filter=${filter})
  set_tests_properties(${name}-gpu PROPERTIES LABELS "gpu;full" TIMEOUT 600 SKIP_RETURN_CODE ${skipped} PROCESSORS 2
                       ENVIRONMENT "${kinds_environment};${ARGN}")
endfunction()

add_executable(test-kinds runtime/kinds.cpp)
target_link_libraries(test-kinds PRIVATE tessera_test_support)
target_precompile_headers(test-kinds REUSE_FROM test_headers)
add_kinds_test(kinds kinds *)
foreach(test pointers pointers-single matrices matrices-single unread random-chains random-chains-single cholesky cholesky-single lu
             lu-single lu-nopiv lu-nopiv-single inverse inverse-single)
  if(TARGET test-${test})
    add_kinds_test(kinds-${test} ${test} *)
  endif()
endforeach()
add_kinds_test(kinds-random-chains-cores random-chains * TESSERA_PLACEMENT=scheduler TESSERA_CPUS=2)
add_kinds_test(kinds-random-chains-owners random-chains * TESSERA_PLACEMENT=owner)
add_kinds_test(kinds-memory gpu-guest *LargerThanItsMemory TESSERA_GPU_MEMORY=64)
