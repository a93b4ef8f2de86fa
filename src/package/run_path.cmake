# SPDX-License-Identifier: BSD-3-Clause
# Where installed programs and libraries find each other, wherever the prefix is.

# The simulating Tessera and its StarPU have a separate folder, so both flavours fit into one prefix.
set(TESSERA_STARPU_LIBDIR ${CMAKE_INSTALL_LIBDIR}/tessera)
set(TESSERA_LIBDIR ${CMAKE_INSTALL_LIBDIR})
if(TESSERA_SIMULATED)
  set(TESSERA_STARPU_LIBDIR ${CMAKE_INSTALL_LIBDIR}/tessera/simulation)
  set(TESSERA_LIBDIR ${TESSERA_STARPU_LIBDIR})
endif()
set(TESSERA_STARPU_INCLUDEDIR ${TESSERA_STARPU_LIBDIR}/include)

# Folders of other projects that the loader does not search by itself.
set(TESSERA_FOREIGN_LIBDIRS ${OPENBLAS_LIBRARY_DIRS} ${HWLOC_LIBRARY_DIRS})
if(TESSERA_HAS_CUDA)
  list(APPEND TESSERA_FOREIGN_LIBDIRS ${CUDAToolkit_LIBRARY_DIR})
endif()
if(NOT TESSERA_INSTALL_STARPU)
  set(TESSERA_STARPU_LIBDIR ${STARPU_LIBDIR})
  set(TESSERA_STARPU_INCLUDEDIR ${STARPU_HEADERS})
  list(APPEND TESSERA_FOREIGN_LIBDIRS ${STARPU_LIBDIR})
endif()
list(TRANSFORM TESSERA_FOREIGN_LIBDIRS REPLACE "/+$" "")
list(REMOVE_ITEM TESSERA_FOREIGN_LIBDIRS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
list(REMOVE_DUPLICATES TESSERA_FOREIGN_LIBDIRS)

# tessera_run_path(FOLDER target...): these targets are installed in FOLDER, below the prefix.
function(tessera_run_path folder)
  set(run_path)
  foreach(libraries IN ITEMS ${TESSERA_LIBDIR} ${TESSERA_STARPU_LIBDIR})
    cmake_path(ABSOLUTE_PATH libraries BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE to)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE from)
    if(NOT libraries STREQUAL STARPU_LIBDIR)
      cmake_path(RELATIVE_PATH to BASE_DIRECTORY ${from})
      list(APPEND run_path $ORIGIN/${to})
    endif()
  endforeach()
  list(TRANSFORM run_path REPLACE "/[.]$" "")
  list(REMOVE_DUPLICATES run_path)
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "${run_path};${TESSERA_FOREIGN_LIBDIRS}")
endfunction()
