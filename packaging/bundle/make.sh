#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: make.sh [FILE]: packs what preset release has built into FILE, a relocatable .tar.gz. `./run bundle` builds it before.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
# shellcheck source=packaging/packages.sh
. "$here/../packages.sh"
file=${1:-}
cd "$here/../.."

# Libraries that the bundle does not contain, since it uses the node's: the C and C++ runtimes (at least as new as those of
# Debian 12), CUDA, and MPI, which is configured for the node's network.
of_the_node='^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|stdc\+\+|gcc_s|cuda|cudart|cublas|cublasLt|cusparse'
of_the_node+='|cusolver|curand|cufft|nvJitLink|nvrtc|nvidia-ml|mpi|mpi_cxx|open-rte|open-pal|pmix)\.so.*)$'

copied_libraries=()  # the originals of the libraries in the bundle

# Copies the libraries that these files need into the bundle's lib folder, recursively.
add_dependencies() {  # stage, files
  local stage=$1 file library path
  shift
  for file in "$@"; do
    for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      if [[ $library =~ $of_the_node || -e $stage/lib/$library || -e $stage/lib/tessera/$library ]]; then continue; fi
      path=$(ldd "$file" | awk -v name="$library" '$1 == name && $2 == "=>" && $3 ~ "^/" { print $3 }')
      [[ -n $path ]] || die "$file needs $library, which cannot be found"
      install -m 755 "$path" "$stage/lib/$library"
      copied_libraries+=("$path")
      add_dependencies "$stage" "$path"
    done
  done
}

# Sets the run path of programs and libraries to the bundle's folders of libraries and CUDA's default folder.
relocate() {  # stage, files
  local stage=$1 file lib
  shift
  for file in "$@"; do
    strip --strip-debug "$file"  # before patchelf, whose layout strip may not support
    lib=\$ORIGIN/$(realpath --relative-to "${file%/*}" "$stage/lib")
    patchelf --set-rpath "$lib:$lib/tessera:/usr/local/cuda/lib64" "$file"
  done
}

# What programs and tests contain without loading it: headers, and statically linked libraries.
contained_packages=(nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libstdc++6)

# Prints the Debian package of a file. Since /lib is a link to /usr/lib, the package may know it by either name.
package_of() {  # file
  local file owner
  file=$(realpath "$1")
  owner=$(dpkg-query --search "$file" 2>/dev/null || dpkg-query --search "${file#/usr}" 2>/dev/null) ||
    die "no Debian package has $file, so that its licence is unknown"
  owner=${owner%%:*}
  echo "${owner%%,*}"
}

# Copies the licences of all libraries that are not Tessera's own.
add_licences() {  # stage
  local packages=("${contained_packages[@]}") library package
  for library in "${copied_libraries[@]}"; do packages+=("$(package_of "$library")"); done
  for package in "${packages[@]}"; do
    install -D -m 644 "/usr/share/doc/$package/copyright" "$1/share/doc/tessera/licences/$package"
  done
}

elf_files() { find "$1" -type f -exec sh -c 'readelf -h "$1" >/dev/null 2>&1' - {} \; -print; }

# Writes the script run-tests, and copies the programs that it starts.
add_tests() {  # stage
  mkdir -p "$1/libexec/tessera/tests"
  ctest --test-dir build/release --show-only=json-v1 >build/release/tests.json
  python3 packaging/bundle/tests.py build/release/tests.json "$PWD" "$1" >build/release/tests.sh
  sed -e '/^# @TESTS@$/ { r build/release/tests.sh' -e 'd }' packaging/bundle/run-tests >"$1/run-tests"
  chmod +x "$1/run-tests"
}

# Installs without the programs of preset simgrid. `uninstall` must still remove what the user has installed.
install_release() {  # prefix
  local manifest=build/release/install_manifest.txt
  [[ ! -e $manifest ]] || cp -p "$manifest" "$manifest.before"
  cmake -D CMAKE_INSTALL_PREFIX="$1" -D TESSERA_WITHOUT_SIMULATION=ON -P build/release/cmake_install.cmake >/dev/null
  rm -f "$manifest"
  [[ ! -e $manifest.before ]] || mv "$manifest.before" "$manifest"
}

need_packages "${bundle_packages[@]}"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' build/release/CMakeCache.txt)
name=tessera-$version-$(uname -m)
file=${file:-$PWD/build/$name.tar.gz}
stage=$PWD/build/bundle/$name
rm -rf build/bundle
mkdir -p "$stage"
install_release "$stage"
cp LICENSE CHANGELOG.md "$stage"
sed "s/@VERSION@/$version/" packaging/bundle/README.md >"$stage/README.md"
add_tests "$stage"
mapfile -t files < <(elf_files "$stage")
add_dependencies "$stage" "${files[@]}"
mapfile -t files < <(elf_files "$stage")
relocate "$stage" "${files[@]}"
add_licences "$stage"
tar --create --directory build/bundle --owner=0 --group=0 "$name" | gzip -9 >"$file.part"
mv "$file.part" "$file"
rm -rf build/bundle
say "$file ($(du --apparent-size -h "$file" | cut -f 1))"
