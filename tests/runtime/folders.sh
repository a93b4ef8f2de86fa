#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: folders.sh 01_gemm 04_plain_blas libtessera_blas.so
# A program with the library and a program under the drop-in, where HOME is not writable, fills up, contains damaged files
# or does not exist. They compute, end with status 0, and leave nothing in StarPU's own folder.
set -euo pipefail
umask 022  # another user reads what this makes

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch"/{programs,tmp}
chmod 755 "$scratch"
chmod 1777 "$scratch/tmp"

# Copies of the build and of StarPU, which any user can run.
cp "$@" "$scratch/programs"
ldd "$1" | sed -n 's,.* => \(/.*\) (.*,\1,p' | grep -v -e '^/usr/' -e '^/lib' | xargs cp -t "$scratch/programs"
gemm=$scratch/programs/${1##*/} plain=$scratch/programs/${2##*/} dropin=$scratch/programs/${3##*/}
export LD_LIBRARY_PATH=$scratch/programs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

unset STARPU_HOME STARPU_PERF_MODEL_DIR XDG_CACHE_HOME TESSERA_CACHE_DIR LD_PRELOAD
export TESSERA_DEVICES=cpu TESSERA_CPUS=2 LC_ALL=C TMPDIR=$scratch/tmp
failed=0

fail() { echo "FAILED: $*" >&2; failed=1; }

# A call under the drop-in that CPU workers compute in tiles.
under=(env LD_PRELOAD="$dropin" TESSERA_BLAS_MIN_FLOPS=0)

# Both programs, after the words that come before a command: env, setpriv, prlimit.
both() {  # what, words
  local what=$1 status=0 text
  shift
  text=$("$@" "$gemm" 2>&1) || status=$?
  [[ $status == 0 && $text == *"as it should be"* ]] || fail "$what: library ended with $status: $text"
  status=0
  text=$("$@" "${under[@]}" "$plain" 300 1 2>&1) || status=$?
  [[ $status == 0 && $text != *tessera:* ]] || fail "$what: drop-in ended with $status: $text"
  [[ -z $(find "$scratch" -name .starpu) ]] || fail "$what: StarPU's own folder was made"
  [[ -z $(ls -A "$TMPDIR") ]] || fail "$what: left behind: $(ls -A "$TMPDIR")"
}

# An empty HOME, and the place of StarPU's files about the machine's links in this case.
home() { rm -rf "$scratch/home" && mkdir "$scratch/home"; }
bus() { echo "$scratch"/home/.cache/tessera/starpu/*/bus; }

export HOME=$scratch/home
for place in /proc/nonexistent /proc /dev/null ''; do both "HOME='$place'" env HOME="$place"; done
both 'HOME unset' env -u HOME
both 'a cache that cannot be written' env HOME="$scratch" TESSERA_CACHE_DIR=/proc/cache
both 'no folder for temporary files' env HOME=/proc/nonexistent TMPDIR=/proc/nonexistent

home
chmod 500 "$scratch/home"
if [[ $(id -u) == 0 ]]; then  # who may write everywhere
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  both 'a read-only HOME' "${nobody[@]}" env HOME="$scratch/home"
  both 'HOME=/, as nobody' "${nobody[@]}" env HOME=/
else
  both 'a read-only HOME' env HOME="$scratch/home"
  both 'HOME=/' env HOME=/
fi
chmod 700 "$scratch/home"

# A full disk, if this user may mount one.
home
full=(unshare --map-root-user --mount bash -c)
if "${full[@]}" 'mount -t tmpfs -o size=4k,nr_inodes=64 none "$0"' "$scratch/home" 2>/dev/null; then
  both 'a full disk' "${full[@]}" 'mount -t tmpfs -o size=4k,nr_inodes=64 none "$HOME"
    head -c 8192 /dev/zero >"$HOME/filling" 2>/dev/null
    "$@" && ! find "$HOME" -name "*.partial" | grep .' env
fi

home
both 'a fresh HOME' env HOME="$scratch/home"
[[ -s $(echo "$(bus)"/*.config) ]] || fail 'a fresh HOME: no files'
before=$(cat "$(bus)"/*)
both 'no file may be written, but all are there' prlimit --fsize=0 env HOME="$scratch/home"
for damage in 'truncate -s 0' 'truncate -s 7' 'rm' 'cp /bin/true'; do
  for file in "$(bus)"/*; do $damage "$file"; done
  both "files after $damage" env HOME="$scratch/home"
  [[ $(cat "$(bus)"/* | tr -d '\0') == "$before" ]] || fail "files after $damage: not made anew"
done

# If no file can be written, StarPU cannot start: a message says so, and no signal ends the program.
home
status=0
text=$(prlimit --fsize=0 env HOME="$scratch/home" "$gemm" 2>&1 | cat; exit "${PIPESTATUS[0]}") || status=$?
[[ $text == *"StarPU needs a folder that it can write"* && $text == *"File too large"* ]] ||
  fail "no file may be written: library ended with $status: $text"
status=0
text=$(prlimit --fsize=0 env HOME="$scratch/home" "${under[@]}" "$plain" 300 1 2>&1 | cat; exit "${PIPESTATUS[0]}") ||
  status=$?
[[ $status == 0 && $(grep -c tessera: <<<"$text") == 1 ]] ||
  fail "no file may be written: drop-in ended with $status: $text"
[[ -z $(ls -A "$TMPDIR") ]] || fail "no file may be written: left behind: $(ls -A "$TMPDIR")"

home
pids=()
for _ in 1 2 3 4; do
  HOME=$scratch/home "$gemm" >/dev/null &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail 'several at once'; done
[[ $(cat "$(bus)"/*) == "$before" ]] || fail 'several at once: other files'

exit $failed
