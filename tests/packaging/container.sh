#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: container.sh SOURCE STARPU: whether what packaging/Containerfile copies is enough to configure the build of its
# packages, with the StarPU in that prefix, and to start ./run.
set -euo pipefail

source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source"
while read -r -a words; do
  cp -r "${words[@]:1:${#words[@]}-2}" "$scratch"
done < <(grep '^COPY [^-]' packaging/Containerfile)
cd "$scratch"
./run --version
cmake --preset package -D TESSERA_TESTS=OFF -D TESSERA_CUDA=OFF -D TESSERA_MPI=OFF -D STARPU_DIR="$2"
