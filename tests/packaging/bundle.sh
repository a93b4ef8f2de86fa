#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: bundle.sh SOURCE
# Makes a bundle, unpacks it somewhere else, and uses it without HOME and, if root runs this, from another account.
set -euo pipefail
umask 022  # another user reads what this makes

source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

"$source/run" bundle "$scratch/bundle.tar.gz"
tar --extract --file "$scratch/bundle.tar.gz" --directory "$scratch"
bundle=$(echo "$scratch"/tessera-*)

# --- contents
for file in README.md LICENSE CHANGELOG.md include/tessera/{tessera.h,blas.hpp,sched.h} lib/pkgconfig/tessera.pc \
  lib/cmake/tessera/tessera-config.cmake lib/tessera-blas/{libblas.so.3,libtessera_wheels.so} lib/tessera/python/tessera/__init__.py \
  share/man/man1/tessera-bench.1; do
  [[ -e $bundle/$file ]] || fail "it has no $file"
done
! grep -n '@' "$bundle/README.md" || fail "README.md is not filled in"
for program in "$bundle"/bin/*; do
  [[ -e $bundle/share/man/man1/${program##*/}.1 ]] || fail "${program##*/} has no manual page: it is an internal program"
done
if named=$(grep -rlaF -e "$source/" "$bundle/bin" "$bundle/lib" "$bundle/include" "$bundle/share"); then
  fail "these name folders of the build: $named"
fi

# --- the loader finds everything here or on the node, and the bundled libraries have their licences
ours='^lib(tessera|starpu)'
while read -r library; do
  name=${library##*/}
  [[ $name =~ $ours || $library == */tessera-blas/* ]] && continue
  # dpkg-query fails if one of the patterns has no match.
  package=$( (dpkg-query --search "*/$name" "*/$name.*" 2>/dev/null || true) | sed -n '1s/[:,].*//p')
  [[ -n $package && -s $bundle/share/doc/tessera/licences/$package ]] || fail "$name of '$package' has no licence here"
done < <(find "$bundle/lib" -name '*.so.*' -type f)
while read -r missing; do fail "$missing"; done < <(find "$bundle/bin" "$bundle/lib" -type f -exec sh -c \
  'readelf -h "$1" >/dev/null 2>&1 && env -u LD_LIBRARY_PATH ldd "$1" | sed -n "s,^.*not found,$1 needs &,p"' - {} \;)

# --- use
stranger=()
if [[ $(id -u) == 0 ]]; then stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
as_stranger() {  # what, command
  local what=$1 status=0 text
  shift
  text=$(cd /tmp && "${stranger[@]}" env -i PATH="$PATH" HOME=/proc/nonexistent TESSERA_CPUS=2 TESSERA_DEVICES=cpu \
    CUDA_VISIBLE_DEVICES=-1 "$@" 2>&1) || status=$?
  [[ $status == 0 ]] || fail "$what ended with $status: $text"
}
for program in "$bundle"/bin/*; do
  for option in --help --version; do as_stranger "${program##*/} $option" "$program" "$option"; done
done
as_stranger "tessera-bench" "$bundle/bin/tessera-bench" --size 300 --repeat 1 --check
while read -r example; do as_stranger "${example##*/}" "$example"; done < <(find "$bundle/lib/tessera/examples" -type f)
as_stranger "run-tests" "$bundle/run-tests" -R '^(pure|pointers|c-interface|info-blas)$'
as_stranger "pkg-config" env PKG_CONFIG_PATH="$bundle/lib/pkgconfig" sh -ec \
  "\${CXX:-c++} -std=c++20 '$source/tests/consumer/main.cpp' -o \$(mktemp -d)/main \$(pkg-config --cflags --libs tessera)"
exit $failed
