#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: provide.sh [--dry-run] PRESET...
# Prints for each preset a line with the prefix of a StarPU >= 1.4 for it: $STARPU_DIR, nothing if the system's fits, or
# one in the cache. Builds those that are missing, all of them at the same time. --dry-run: says which it would be.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
# shellcheck source=packaging/packages.sh
. "$here/../packages.sh"
# shellcheck source=packaging/starpu/options.sh
. "$here/options.sh"

# True if the StarPU that pkg-config finds defines this macro as 1.
starpu_has() { grep -q "^#define $1 1" "$(pkg-config --variable=starpu_includedir starpu-1.4)/starpu_config.h"; }

# True if the StarPU that pkg-config finds is recent enough, and built for SimGrid exactly if the preset simulates.
is_for() {  # preset
  local simulated=no
  pkg-config --atleast-version=1.4 starpu-1.4 2>/dev/null || return 1
  if starpu_has STARPU_SIMGRID; then
    simulated=yes
    if starpu_has STARPU_USE_MPI; then [[ $1 == simgrid-mpi ]] || return 1; else [[ $1 != simgrid-mpi ]] || return 1; fi
  fi
  [[ $simulated == "$(simulates "$1" && echo yes || echo no)" ]]
}

# The same for the StarPU with this prefix.
prefix_is_for() {  # prefix, preset
  local folders=("$1"/{lib/*-linux-*,lib64,lib}/pkgconfig)
  PKG_CONFIG_PATH=$(IFS=: && echo "${folders[*]}")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} is_for "$2"
}

system_fits() {  # preset
  [[ $1 != simgrid-mpi ]] && is_for "$1" && starpu_has STARPU_USE_FXT || return 1
  [[ $1 == simgrid || -z $(cuda_dir) ]] || starpu_has STARPU_USE_CUDA
}

short_hash() { sha256sum | cut -c 1-10; }

# Prints a hash of everything that a build of StarPU depends on, except its source.
key_of() {  # preset
  local cuda
  cuda=$(cuda_dir)
  {
    starpu_options "$1"
    cat "$here/build.sh" "$here"/patches/*.patch
    if ! simulates "$1" && [[ -n $cuda ]]; then
      cuda_version "$cuda"
      [[ ! -e $cuda/include/nvml.h ]] || echo nvml  # with that header StarPU recognises NVLink
    fi
  } | short_hash
}

# Prints a hash that identifies the content of $TESSERA_STARPU_SOURCE, or nothing if that is not set.
source_key() {
  local source=${TESSERA_STARPU_SOURCE:-}
  if [[ -d $source ]]; then
    (cd "$source" && find . -name .git -prune -o -type f -printf '%p %s %T@\n' | sort) | short_hash
  elif [[ -f $source ]]; then
    short_hash <"$source"
  elif [[ -n $source ]]; then
    refuse "TESSERA_STARPU_SOURCE=$source: no such file or directory"
  fi
}

# Prints the prefix of the newest suitable StarPU in the cache, or nothing. Since it was renamed into place, it is complete.
cached() {  # preset
  local prefix key
  key=$(key_of "$1")
  for prefix in "$cache"/starpu-1.4*-"$key" "$cache"/starpu-1.4*-"$key"-*; do
    # If no source is given, a StarPU that was built from a given source is suitable, too.
    if [[ -d $prefix && ( -z $source_key || $prefix == *-"$source_key" ) ]]; then echo "$prefix"; fi
  done | sort -V | tail -n 1
}

# Prints the presets that have no StarPU.
missing_of() {  # presets
  local preset
  [[ -z ${STARPU_DIR:-} ]] || return 0
  for preset in "$@"; do
    if ! system_fits "$preset" && [[ -z $(cached "$preset") ]]; then echo "$preset"; fi
  done
}

build_one() {  # source, version, preset
  local prefix flavour="without CUDA" log
  prefix=$cache/starpu-$2-$(key_of "$3")${source_key:+-$source_key}
  log=$prefix.log
  if simulates "$3"; then flavour="for SimGrid"; elif [[ -n $(cuda_dir) ]]; then flavour="with CUDA"; fi
  say "StarPU $2: building $flavour, one to two minutes on two cores (log: $log)"
  if ! "$here/build.sh" "$1" "$3" "$prefix" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "StarPU $2 could not be built; the whole log is $log"
  fi
}

# Builds from one source, with a job for each preset.
build_all() (  # presets
  rm -rf "$cache"/building.*  # left by a killed build: this one holds the lock
  work=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  version=$("$here/fetch.sh" "$work/source")
  jobs=()
  for preset in "$@"; do
    build_one "$work/source" "$version" "$preset" &
    jobs+=($!)
  done
  failed=0
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
  exit $failed
)

build_missing() {  # presets
  local missing lock
  missing=$(missing_of "$@")
  [[ -n $missing ]] || return 0
  need_packages "${source_packages[@]}"
  make_cache
  exec {lock}>"$cache/lock"
  flock --nonblock "$lock" || { say "waiting for another ./run that builds StarPU"; flock "$lock"; }
  missing=$(missing_of "$@")  # the other one may have built it
  # shellcheck disable=SC2086  # presets are words
  [[ -z $missing ]] || build_all $missing
}

print_prefix() {  # preset
  local prefix
  if [[ -z ${STARPU_DIR:-} ]] && system_fits "$1"; then
    echo
    return
  fi
  prefix=${STARPU_DIR:-$(cached "$1")}
  prefix_is_for "$prefix" "$1" ||
    die "$prefix: pkg-config finds no StarPU >= 1.4 there that fits preset $1." \
      "STARPU_DIR must be the prefix of an installed StarPU >= 1.4."
  echo "$prefix"
}

describe() {  # preset
  local found what="real machines"
  if simulates "$1"; then what="simulated time"; fi
  if [[ -n ${STARPU_DIR:-} ]]; then
    echo "StarPU for $what: the one in $STARPU_DIR"
  elif system_fits "$1"; then
    echo "StarPU for $what: the system's"
  else
    found=$(cached "$1")
    if [[ -n $found ]]; then
      echo "StarPU for $what: the one in $found"
    else
      echo "StarPU for $what: would be built from ${TESSERA_STARPU_SOURCE:-the source in Debian} into $cache"
    fi
  fi
}

dry=0
if [[ ${1:-} == --dry-run ]]; then
  dry=1
  shift
fi
source_key=$(source_key)
if [[ $dry == 1 ]]; then
  for preset in "$@"; do describe "$preset"; done
  exit
fi
build_missing "$@"
for preset in "$@"; do print_prefix "$preset"; done
