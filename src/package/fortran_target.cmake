# SPDX-License-Identifier: BSD-3-Clause
# tessera_fortran_target(SOURCE): the target tessera::fortran, for projects that have enabled Fortran. Compiled when used.
function(tessera_fortran_target source)
  if(NOT CMAKE_Fortran_COMPILER_LOADED OR TARGET tessera_fortran)
    return()
  endif()
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/tessera_fortran)
  add_library(tessera_fortran STATIC EXCLUDE_FROM_ALL ${source})
  set_target_properties(tessera_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${modules} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tessera_fortran INTERFACE ${modules})
  # Only to link: the library's requirements on C++ compilers do not concern a Fortran project.
  target_link_libraries(tessera_fortran INTERFACE $<LINK_ONLY:tessera::tessera>)
  add_library(tessera::fortran ALIAS tessera_fortran)
endfunction()
