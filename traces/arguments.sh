# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder: --help, arguments that name programs, and the cores of a machine. To be sourced.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../packaging/common.sh"
die() { say "${0##*/}: $1" && exit 2; }
refuse_old_variables
if [[ ${1:-} == --help || ${1:-} == -h ]]; then  # prints the comment at the top of the script
  sed -n '3,/^set /s/^# //p' "$0"
  exit
fi

# Sets a variable for each argument `--NAME PROGRAM` of these names, and `rest` to the other arguments.
take_programs() {  # names, arguments
  local names=$1 name
  shift
  for name in $names; do printf -v "$name" ''; done
  rest=()
  while [[ $# -gt 0 ]]; do
    name=${1#--}
    if [[ $1 == --* && " $names " == *" $name "* ]]; then
      [[ -f ${2:-} && -x $2 ]] || die "$1: '${2:-}' is not a program"
      printf -v "$name" '%s' "$2"
      shift
    else
      rest+=("$1")
    fi
    shift
  done
}

# Sets `simulate` and `graphs`, and builds both unless there is an argument --simulate.
find_simulate() {
  local build=$here/../build/simgrid/bin
  [[ -n $simulate ]] || "$here/../run" build simgrid
  simulate=${simulate:-$build/tessera-simulate} graphs=${graphs:-$build/graphs}
}

# Prints how many cores remain if each GPU occupies one, as in StarPU.
cores_beside_gpus() {  # machine
  python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); print(m["cpu"]["cores"] - len(m["gpus"]))' \
    "$here/platforms/$1.json"
}
