#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: installed.sh CMAKE BUILD SOURCE CXX [STARPU]
# Installs BUILD as a packager does, moves the prefix, and uses it as another user: without HOME, without environment
# variables, and, if root runs this, from another account. STARPU is the prefix of which the installation has a copy.
set -euo pipefail
umask 022  # another user reads what this makes

cmake=$1 build=$2 source=$3 cxx=$4 starpu=${5:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

# The manifest of the last installation from this build must not change, since `uninstall` reads it.
manifest=$build/install_manifest.txt
[[ ! -e $manifest ]] || cp "$manifest" "$scratch/manifest-before"
DESTDIR=$scratch/stage "$cmake" --install "$build" >"$scratch/log"
mv "$manifest" "$scratch/manifest"
[[ ! -e $scratch/manifest-before ]] || mv "$scratch/manifest-before" "$manifest"
built=$scratch/stage$(sed -n 's/^CMAKE_INSTALL_PREFIX:.*=//p' "$build/CMakeCache.txt")
prefix=$scratch/prefix
cp -a "$built" "$prefix"
failed=0

fail() { echo "FAILED: $*" >&2; failed=1; }

# --- uninstall: files of others stay
touch "$built/lib/of-somebody-else"
DESTDIR=$scratch/stage "$cmake" -D MANIFEST="$scratch/manifest" -P "$source/src/package/uninstall.cmake" >/dev/null
left=$(find "$scratch/stage" ! -type d)
[[ $left == "$built/lib/of-somebody-else" ]] || fail "uninstall left $left"
left=$(find "$scratch/stage" -type d -name '*tessera*' | grep -v "^$built\$" || true)
[[ -z $left ]] || fail "uninstall left the folder $left"
rm "$built/lib/of-somebody-else"
DESTDIR=$scratch/stage "$cmake" -D MANIFEST="$scratch/manifest" -P "$source/src/package/uninstall.cmake" >/dev/null
[[ ! -e $built ]] || fail "uninstall left the empty folders of a prefix of its own"
rm -r "$scratch/stage"

# --- the pages that messages name
for page in environment hpl languages own-policy; do
  [[ -s $(echo "$prefix"/share/doc/*/docs/$page.md) ]] || fail "docs/$page.md is not installed"
done

links=$(python3 "$source/tests/docs/links.py" "$(echo "$prefix"/share/doc/*)") || fail "$links"

# --- no file names the builder's folders
patterns=(-e "$source/" -e "$build/")
[[ -z $starpu ]] || patterns+=(-e "$starpu" -e "${starpu%/*}/building.")  # ./run builds StarPU in such a folder
if named=$(grep -rlaF "${patterns[@]}" "$prefix"); then fail "these name folders of the build: $named"; fi

# --- programs
mkdir "$scratch/user"
cp "$source"/tests/consumer/{CMakeLists.txt,main.cpp,plain.c} \
  "$source"/examples/{03_own_tasks.cpp,10_fortran.f90,11_python.py,16_tiles.c} "$scratch/user"
stranger=()
if [[ $(id -u) == 0 ]]; then
  stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  chown -R 65534:65534 "$scratch/user"
fi
as_stranger() {  # what, command
  local what=$1 status=0 text
  shift
  text=$(cd "$scratch/user" && "${stranger[@]}" env -i PATH="$PATH" HOME=/proc/nonexistent CXX="$cxx" TESSERA_CPUS=2 \
    TESSERA_DEVICES=cpu CUDA_VISIBLE_DEVICES=-1 "$@" 2>&1) || status=$?
  [[ $status == 0 ]] || fail "$what ended with $status: $text"
  [[ $text != *"Warning: directory"* ]] || fail "$what: StarPU misses a folder: $text"
}
for program in "$prefix"/bin/*; do
  name=${program##*/}
  for option in --help --version; do as_stranger "$name $option" "$program" "$option"; done
  if [[ $name == tessera-mpi-hpl ]]; then continue; fi  # tessera-hpl starts it
  [[ -s $prefix/share/man/man1/$name.1 ]] || fail "$name has no manual page"
  [[ -s $prefix/share/bash-completion/completions/$name ]] || fail "$name has no completion"
done
[[ -s $prefix/share/man/man7/tessera-environment.7 ]] || fail "the environment variables have no manual page"
if [[ -x $prefix/bin/tessera-bench ]]; then
  as_stranger "tessera-bench" "$prefix/bin/tessera-bench" --size 300 --repeat 1 --check
fi
if [[ -x $prefix/bin/tessera-hpl ]]; then
  printf '%s\n' title title HPL.out 6 1 200 1 0 0 1 1 1 16.0 >"$scratch/user/HPL.dat"
  chmod a+r "$scratch/user/HPL.dat"
  as_stranger "tessera-hpl" "$prefix/bin/tessera-hpl"
fi
if [[ -x $prefix/bin/tessera-simulate ]]; then
  as_stranger "tessera-simulate" "$prefix/bin/tessera-simulate" --platform h200x4 --size 2048 --brief
  if [[ -x $build/../simgrid/bin/graphs ]]; then
    cp "$build/../simgrid/bin/graphs" "$scratch/user"
    as_stranger "tessera-simulate --program" env LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libtessera_observer.so)")" \
      "$prefix/bin/tessera-simulate" --platform everest --brief --program ./graphs -- chains --tiles 3
  fi
fi
while read -r example; do
  as_stranger "${example##*/}" "$example"
done < <(find "$prefix" -path '*/tessera/examples/*' -type f -perm /1 ! -name 14_distributed)

# --- programs of users
as_stranger "cmake" "$cmake" -S . -B build -D CMAKE_PREFIX_PATH="$prefix" -D OWN_TASKS=03_own_tasks.cpp
as_stranger "cmake --build" "$cmake" --build build
for program in consumer own_tasks plain; do as_stranger "$program by find_package" "build/$program"; done
folder=$(dirname "$(find "$prefix" -name tessera.pc)")
# shellcheck disable=SC2016  # the inner shell expands it
by_pkg_config='warnings="-Wall -Wextra -Wpedantic -Werror" both=$(pkg-config --cflags --libs tessera tessera-starpu)
  $CXX -std=c++20 main.cpp -o main $(pkg-config --cflags --libs tessera) && ./main
  cc $warnings 16_tiles.c -o tiles $(pkg-config --cflags --libs tessera) -lm && ./tiles
  echo "#include <starpu.h>" | cc $warnings -x c -fsyntax-only - $(pkg-config --cflags tessera-starpu)
  $CXX -std=c++20 $warnings 03_own_tasks.cpp -o own_tasks $both && ./own_tasks
  if $CXX -std=c++17 -fsyntax-only main.cpp $both 2>messages; then false; fi
  grep -F "need C++20: compile with -std=c++20" messages'
as_stranger "pkg-config" env PKG_CONFIG_PATH="$folder" bash -ec "$by_pkg_config"
# Codelets where CUDA has no headers. Without CUDA, StarPU's headers are turned into those that a build with CUDA installs.
config=$(find "$prefix" -name starpu_config.h)
if [[ -n $config ]]; then
  printf '%s\n' "#include <starpu.h>" "starpu_codelet codelet;" >"$scratch/user/codelet.cpp"
  headers=${config%/*}
  if ! grep -q "define STARPU_USE_CUDA 1" "$config"; then
    headers=$scratch/user/starpu
    cp -r "${config%/*}" "$headers"
    sed 's,^/\* #undef STARPU_USE_CUDA \*/$,#define STARPU_USE_CUDA 1,' "$config" >"$scratch/config-with-cuda"
    "$cmake" -D CONFIG="$scratch/config-with-cuda" -D RESULT="$headers/starpu_config.h" \
      -P "$source/src/package/without_cuda_headers.cmake"
    grep -q "define STARPU_USE_CUDA 1" "$headers/starpu_config.h" || fail "StarPU's configuration has no line on CUDA"
  fi
  chmod -R a+rX "$scratch/user"
  here=("$cxx" -fsyntax-only -I "$headers" codelet.cpp)
  if ! "$cxx" -fsyntax-only -x c++ - <<<"#include <cuda.h>" 2>/dev/null; then  # not in a folder of the compiler
    text=$(cd "$scratch/user" && "${here[@]}" 2>&1) && fail "a codelet compiles without CUDA's headers"
    [[ $text == *"cuda.h is not found: name the folder"* ]] || fail "not a word about the missing cuda.h: $text"
  fi
  as_stranger "a codelet without CUDA's headers" "${here[@]}" -D TESSERA_WITHOUT_CUDA_HEADERS
fi

# --- programs for many processes
if [[ -e $folder/tessera-mpi.pc ]] && command -v mpirun >/dev/null; then
  cp "$source/examples/14_distributed.cpp" "$source/tests/distributed/mpirun.sh" "$scratch/user"
  as_stranger "14_distributed" ./mpirun.sh mpirun -n 2 "$(find "$prefix" -path '*/tessera/examples/14_distributed')"
  as_stranger "cmake, with MPI" "$cmake" -S . -B mpi -D CMAKE_PREFIX_PATH="$prefix" -D DISTRIBUTED=14_distributed.cpp
  as_stranger "cmake --build, with MPI" "$cmake" --build mpi --target distributed
  as_stranger "MPI by find_package" ./mpirun.sh mpirun -n 2 mpi/distributed
  # shellcheck disable=SC2016  # the inner shell expands it
  by_pkg_config='mpicxx -std=c++20 14_distributed.cpp -o distributed $(pkg-config --cflags --libs tessera-mpi) &&
    ./mpirun.sh mpirun -n 2 ./distributed'
  as_stranger "MPI by pkg-config" env PKG_CONFIG_PATH="$folder" OMPI_CXX="$cxx" bash -ec "$by_pkg_config"
fi

# --- programs in other languages
fortran=$(sed -n 's/^CMAKE_Fortran_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
if [[ -x $fortran ]]; then
  cp "$source/tests/consumer/fortran/CMakeLists.txt" "$scratch/user/CMakeLists.txt"
  without_fortran=$("$cmake" -S "$scratch/user" -B "$scratch/without" -D CMAKE_PREFIX_PATH="$prefix" -D LANGUAGE=C 2>&1) || true
  [[ $without_fortran == *"enable the language Fortran before"* ]] || fail "no reason without Fortran: $without_fortran"
  as_stranger "cmake, in Fortran" env FC="$fortran" "$cmake" -S . -B fortran -D CMAKE_PREFIX_PATH="$prefix" \
    -D PROGRAM="$scratch/user/10_fortran.f90"
  as_stranger "cmake --build, in Fortran" "$cmake" --build fortran
  as_stranger "Fortran by find_package" fortran/solver
  # shellcheck disable=SC2016  # the inner shell expands it
  by_pkg_config='$FC $(pkg-config --variable=fortran tessera) 10_fortran.f90 -o solver $(pkg-config --libs tessera) &&
    ./solver'
  as_stranger "Fortran by pkg-config" env FC="$fortran" PKG_CONFIG_PATH="$folder" bash -ec "$by_pkg_config"
fi
package=$(find "$prefix" -path '*/tessera/python' -type d)
as_stranger "Python" env PYTHONPATH="$package" /usr/bin/python3 -B 11_python.py
exit $failed
