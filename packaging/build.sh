# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2164  # ./run has set -e
# How ./run configures and builds a preset, and starts its programs. To be sourced by ./run, after packages.sh.

tests=ON  # whether to configure the tests: OFF if only a program is built and started, QUICK without packages for all of them
own_pkg_config_path=${PKG_CONFIG_PATH:-}

gpu_count() {
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true
  else
    find /dev -maxdepth 1 -name 'nvidia[0-9]*' | wc -l
  fi
}

# Installs what a build needs, sets starpu_prefix (empty: the system's StarPU), and makes pkg-config find that StarPU.
set_up() {  # preset
  local packages folder
  packages=$(packages_of "$1" "$tests")
  mapfile -t packages <<<"$packages"
  need_packages "${packages[@]}"
  export PKG_CONFIG_PATH=$own_pkg_config_path
  starpu_prefix=$("$here/packaging/starpu/provide.sh" "$1")
  [[ -n $starpu_prefix ]] || return 0
  for folder in "$starpu_prefix"/{lib/*-linux-*,lib64,lib}/pkgconfig; do
    if [[ -d $folder ]]; then PKG_CONFIG_PATH=$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}; fi
  done
}

# CMake caches the packages that it found, so this starts with a fresh cache if another StarPU or CUDA is to be used. It
# keeps the cache if it only adds tests, since --fresh also removes the library's object files.
#
# The compiler gets several files at a time (a unity build), which halves its work, except in preset alone. A developer
# who changes single files configures without: cmake --preset PRESET -D CMAKE_UNITY_BUILD=OFF.
configure() {  # preset
  local cuda options=() found before='' stamp=build/$1/configured-for
  if [[ $1 != alone ]]; then options+=(-DCMAKE_UNITY_BUILD=ON); fi
  cuda=$(cuda_dir)
  if [[ -n $cuda ]]; then export CUDAToolkit_ROOT=$cuda; else options+=(-DTESSERA_CUDA=OFF); fi
  if [[ $1 == package ]]; then
    options+=("-DCMAKE_INSTALL_LIBDIR=lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)" -DTESSERA_MPI=OFF)
  fi
  found="StarPU ${starpu_prefix:-of the system}, CUDA ${cuda:-none} ${cuda:+$(cuda_version "$cuda")}"
  if [[ $stamp -nt CMakePresets.json ]]; then before=$(<"$stamp"); fi
  if [[ $before == "$found, tests "@(ON|"$tests") || $before$tests == "$found, tests QUICKOFF" ]]; then return; fi
  if [[ $before != "$found, tests "* ]]; then options+=(--fresh); fi
  rm -f "$stamp"
  cmake --preset "$1" -DTESSERA_TESTS="${tests/QUICK/ON}" "${options[@]}" >&2 || die "preset $1 could not be configured"
  echo "$found, tests $tests" >"$stamp"
}

build() {  # preset, arguments of cmake --build
  local preset=$1
  shift
  set_up "$preset"
  configure "$preset"
  if [[ $(cmake --build "build/$preset" "$@" -- -n) == *"ninja: no work to do."* ]]; then return; fi
  cmake --build "build/$preset" --parallel "$(nproc)" "$@" >&2 || die "preset $preset could not be built"
}

# The programs that record runs start tessera-trace to explain them.
advised=()  # further targets, which the program tells the user to run
start() {  # preset, program, arguments; runs in the caller's folder, since arguments may name files
  local program=$here/build/$1/bin/$2
  tests=OFF
  case $1 in
    simgrid-mpi) build "$1" --target "$2" ;;
    simgrid) build "$1" --target "$2" tessera-trace tessera_manual ;;  # what an installation takes from this build
    *) build "$1" --target "$2" tessera-trace "${advised[@]}" ;;
  esac
  shift 2
  cd "$caller"
  exec "$program" "$@"
}
