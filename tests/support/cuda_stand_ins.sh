#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: cuda_stand_ins.sh COMPILER FOLDER LIBRARY
# Writes to FOLDER a stand-in for each large CUDA library that LIBRARY loads. It has the same symbols, and calling any of
# them ends the program.
set -euo pipefail

compiler=$1 folder=$2 library=$3
mkdir -p "$folder"
ldd "$library" | sed -nE 's,^\s*(libcu(blas|blasLt|solver|sparse)\.so\.[0-9]+) => (/.*) \(.*,\1 \3,p' |
  while read -r name file; do
    {
      echo 'static void called(void) { __builtin_trap(); }'
      nm --dynamic --defined-only --without-symbol-versions "$file" |
        awk '$2 == "T" && $3 != "_init" && $3 != "_fini" { print "__attribute__((alias(\"called\"))) void " $3 "(void);" }'
    } | "$compiler" -shared -fPIC -w -x c - -o "$folder/$name.new" "-Wl,-soname,$name" -Wl,--default-symver
    mv "$folder/$name.new" "$folder/$name"  # a test may be loading the last one
  done
