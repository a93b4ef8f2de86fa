# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Shared by ./run and the scripts in packaging/: messages, Debian packages, CUDA, and the cache. To be sourced.

# shellcheck disable=SC2034  # for those who source this
cache=${XDG_CACHE_HOME:-~/.cache}/tessera

make_cache() {
  mkdir -p "$cache" 2>/dev/null ||
    die "the cache $cache cannot be created: set XDG_CACHE_HOME to a folder that you can write"
}

say() { printf '%s\n' "$*" >&2; }
die() {  # message, further lines
  say "run: $1"
  shift
  [[ $# -eq 0 ]] || printf '  %s\n' "$@" >&2
  exit "${status:-3}"
}

refuse() { status=2 die "$@"; }  # like die, for arguments and variables that are not allowed

# The exit codes of docs/programs.md: a command that fails unexpectedly, for example a compiler or apt, ends the script with
# 3 instead of its own code, and so does a script in packaging/ that dies. 2 comes from `refuse` in such a script.
set -o errtrace
trap '[[ $? == 2 ]] && exit 2; exit 3' ERR

# Dies if a variable of an earlier version is set, and names its replacement.
refuse_old_variables() {
  local name now
  while IFS=$'\t' read -r name now; do
    [[ -z ${!name:-} ]] || refuse "$name is no longer read: use $now"
  done < <(grep -oE '\{"TESSERA_[A-Z_]+", "[^"]+"\}' "${BASH_SOURCE[0]%/*}/../src/common/old_variables.hpp" |
    sed 's/{"\(.*\)", "\(.*\)"}/\1\t\2/')
}

missing_packages() {
  comm -23 <(printf '%s\n' "$@" | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u)
}

need_packages() {
  local missing as_root=() apt
  command -v dpkg-query >/dev/null || die "this is not a Debian system; configure with cmake by hand, it needs:" "$*"
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || die "not root, and no sudo. Please have these packages installed:" "${missing[*]}"
    as_root=(sudo)
  fi
  say "installing: ${missing[*]}"
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || true  # the index of a third-party repository may be unreachable
  "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >&2 ||
    die "these Debian packages could not be installed (no network?):" "${missing[*]}"
}

# Prints the folder of the CUDA toolkit, or nothing if there is none.
cuda_dir() {
  local nvcc candidate
  [[ ${TESSERA_CUDA:-} != 0 ]] || return 0
  nvcc=$(command -v nvcc || true)
  for candidate in "${CUDA_HOME:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda; do
    if [[ -x $candidate/bin/nvcc && -e $candidate/include/cublas_v2.h ]]; then
      (cd "$candidate" && pwd -P)
      return
    fi
  done
}

cuda_version() { sed -n 's/^#define CUDA_VERSION *//p' "$1/include/cuda.h"; }

# True if a preset's StarPU simulates: for simgrid one process, for simgrid-mpi processes of MPI.
simulates() { [[ $1 == simgrid || $1 == simgrid-mpi ]]; }  # preset
