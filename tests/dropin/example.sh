#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs an example in another language without the drop-in, and with every call on the devices: once with its own LAPACK,
# and once with the reference LAPACK, which calls the BLAS for everything. Fails unless all results are right and equal
# to the host's within the bound, and the ROUTINEs were called. Those after `lapack:` need the reference LAPACK.
# usage: tests/dropin/example.sh LIBRARY SCRIPT ROUTINE... [lapack: ROUTINE...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -ge 3 ]] || die "usage: example.sh LIBRARY SCRIPT ROUTINE... [lapack: ROUTINE...]"
library=$(absolute "$1") script=$(absolute "$2")
shift 2
[[ -e $script ]] || die "$script is not there"
lapack=$debian/lapack/liblapack.so.3
need liblapack3 "$lapack"
case $script in
  *.m) need octave octave-cli && command=(octave-cli --norc --no-history "$script" 300) ;;
  *.py) command=("$python" "$script" 300) ;;
  *.R) need r-base-core Rscript && command=(Rscript --vanilla "$script" 300) ;;
  *) die "$script: in which language?" ;;
esac

routines=() with_lapack=() list=routines
for word in "$@"; do
  if [[ $word == lapack: ]]; then list=with_lapack; else declare -n chosen=$list && chosen+=("$word"); fi
done

"${command[@]}" alone
forced "$library" 64 "${command[@]}" under_us
"$python" "$here/same_results.py" alone under_us
calls devices "${routines[@]}"

# Uses LD_PRELOAD, since R puts its own folders before LD_LIBRARY_PATH.
rm "$log"
LD_PRELOAD=$lapack forced "$library" 64 "${command[@]}" on_reference_lapack
"$python" "$here/same_results.py" alone on_reference_lapack
calls devices "${routines[@]}" "${with_lapack[@]}"
