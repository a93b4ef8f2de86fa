# SPDX-License-Identifier: BSD-3-Clause
# Finds StarPU as the target PkgConfig::STARPU, without any variable if the system has one or `./run` has built one.
# Sets TESSERA_INSTALL_STARPU: whether an installation contains a copy of it.
set(STARPU_DIR "$ENV{STARPU_DIR}" CACHE PATH "Prefix of an installed StarPU >= 1.4 (default: pkg-config, then ./run's)")

# Sets `result` to the newest StarPU that `./run` has built for real machines, with CUDA if there is one.
function(find_starpu_of_run result)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB prefixes ${cache}/tessera/starpu-1.4*/include)
  list(SORT prefixes COMPARE NATURAL)
  set(found)
  set(found_cuda)
  foreach(include IN LISTS prefixes)
    file(STRINGS ${include}/starpu/1.4/starpu_config.h switches REGEX "^#define STARPU_(SIMGRID|USE_CUDA) 1")
    cmake_path(GET include PARENT_PATH prefix)
    if(switches MATCHES STARPU_SIMGRID)
      continue()
    elseif(switches)
      set(found_cuda ${prefix})
    endif()
    set(found ${prefix})
  endforeach()
  if(found_cuda)
    set(found ${found_cuda})
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

if(STARPU_DIR)
  list(PREPEND CMAKE_PREFIX_PATH ${STARPU_DIR})
endif()
pkg_check_modules(STARPU QUIET IMPORTED_TARGET GLOBAL starpu-1.4>=1.4)
if(NOT STARPU_FOUND)
  find_starpu_of_run(starpu_of_run)
  if(starpu_of_run)
    list(PREPEND CMAKE_PREFIX_PATH ${starpu_of_run})
    pkg_check_modules(STARPU QUIET IMPORTED_TARGET GLOBAL starpu-1.4>=1.4)
  endif()
endif()
if(NOT STARPU_FOUND)
  message(FATAL_ERROR
    "Tessera needs StarPU >= 1.4, and pkg-config finds no starpu-1.4. Any of these helps:\n"
    "  - ${PROJECT_SOURCE_DIR}/run starpu   builds one, which is then found\n"
    "  - STARPU_DIR=PREFIX   in the environment or by -D, names an installed one\n"
    "  - PKG_CONFIG_PATH   contains the folder of its starpu-1.4.pc\n"
    "  - the Debian package libstarpu-dev, where it is at least 1.4")
endif()
# Cached like the rest, since CMake does not ask pkg-config again in later runs.
find_path(STARPU_HEADERS starpu.h HINTS ${STARPU_INCLUDE_DIRS} NO_DEFAULT_PATH REQUIRED)

# The loader finds the system's StarPU by itself. Other StarPUs may be in a folder that only this account can read.
set(starpu_is_elsewhere ON)
if(STARPU_LIBDIR IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  set(starpu_is_elsewhere OFF)
endif()
option(TESSERA_INSTALL_STARPU "Install a copy of StarPU with Tessera (OFF: use it where it is)" ${starpu_is_elsewhere})
