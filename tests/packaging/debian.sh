#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: debian.sh SOURCE
# Builds the Debian packages without CUDA, which Debian does not package, installs them in a new Debian, uses them there
# from another account, and purges them. Needs root, debootstrap and the system's Debian mirror. Exit code 77: not root.
set -euo pipefail
shopt -s inherit_errexit

source=$1
[[ $(id -u) == 0 ]] || { echo "skipped: debootstrap needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "debootstrap is not installed" >&2; exit 1; }
[[ ${2:-} == isolated ]] || exec unshare --mount --propagation private "$0" "$source" isolated  # takes the mounts along
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }
set -o errtrace
trap 'echo "FAILED: line $LINENO ended with $?: $BASH_COMMAND" >&2' ERR  # the output of most commands goes to a log

TESSERA_CUDA=0 "$source/run" package
packages=("$source"/build/packages/*.deb)
[[ ${#packages[@]} == 4 ]] || fail "these are not four packages: ${packages[*]}"

scratch=$(mktemp -d)
root=$scratch/root
trap 'umount "$root/proc" "$root/sys" 2>/dev/null || true; rm -rf --one-file-system "$scratch"' EXIT
# shellcheck disable=SC2016  # apt expands it
mapfile -t archives < <(apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) main' Origin:\ Debian Created-By:\ Packages |
  sort -u)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(printf '%s\n' "${archives[@]}" | awk -v suite="$suite" '$3 == suite && !found++ { print $2 }')
[[ -n $mirror ]] || { echo "apt knows no Debian mirror for $suite" >&2; exit 1; }
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$scratch/log" || { tail "$scratch/log" >&2; exit 1; }
printf '%s\n' "${archives[@]}" >"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc"
mkdir "$root/packages"
cp "${packages[@]}" "$root/packages"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"

inside() { chroot "$root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
as_stranger() {  # what, command
  local what=$1 status=0 text
  shift
  text=$(inside setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent TESSERA_CPUS=1 \
    sh -c 'cd /tmp && exec "$@"' - "$@" 2>&1) || status=$?
  [[ $status == 0 ]] || fail "$what ended with $status: $text"
}
installed_files() { find "$root" -xdev -name '*tessera*' -not -path "$root/packages*" -not -path "$root/var/lib/dpkg/info/*"; }

# --- install
inside apt-get update >>"$scratch/log"
[[ -z $(installed_files) ]] || fail "there was something before: $(installed_files)"
inside sh -c 'apt-get install --yes --no-install-recommends /packages/*.deb' >>"$scratch/log" 2>&1 ||
  { tail -n 20 "$scratch/log" >&2; exit 1; }

# --- the programs
as_stranger "tessera-info" tessera-info --size 1000
as_stranger "tessera-bench" tessera-bench --size 300 --repeat 1 --check
[[ -e $root/usr/share/man/man1/tessera-bench.1.gz ]] || fail "there is no manual page"

# --- the alternative: below the others until it is chosen, then the BLAS of a program that knows nothing of Tessera
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
ours=/usr/lib/$triplet/tessera-blas/libblas.so.3
cc "$source/tests/consumer/plain.c" -o "$root/usr/local/bin/plain" -l:libblas.so.3
as_stranger "a program" env TESSERA_BLAS_LOG=/tmp/before plain
[[ ! -e $root/tmp/before ]] || fail "Tessera was chosen without being asked"
inside update-alternatives --set "libblas.so.3-$triplet" "$ours" >>"$scratch/log"
as_stranger "a program under the alternative" env TESSERA_BLAS_LOG=/tmp/log TESSERA_DEVICES=cpu TESSERA_BLAS_MIN_FLOPS=0 plain
grep -q '"routine":"dgemm".*"place":"devices"' "$root/tmp/log" || fail "the log is: $(cat "$root/tmp/log")"

# --- the development files
inside apt-get install --yes --no-install-recommends g++ pkg-config libhwloc-dev >>"$scratch/log" 2>&1
cp "$source/tests/consumer/main.cpp" "$source/examples/03_own_tasks.cpp" "$root/tmp"
# shellcheck disable=SC2016  # the inner shell expands it
as_stranger "pkg-config" sh -ec 'g++ -std=c++20 main.cpp -o main $(pkg-config --cflags --libs tessera) && ./main
  g++ -std=c++20 03_own_tasks.cpp -o own_tasks $(pkg-config --cflags --libs tessera tessera-starpu) && ./own_tasks'

# --- purge
inside sh -c 'apt-get purge --yes libtessera0 libtessera-dev libtessera-blas tessera-tools' >>"$scratch/log" 2>&1 ||
  { tail -n 20 "$scratch/log" >&2; fail "they could not be purged"; }
[[ -z $(installed_files) ]] || fail "this was left: $(installed_files)"
left=$(inside dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' '*tessera*' 2>/dev/null | grep -v 'not-installed$' || true)
[[ -z $left ]] || fail "dpkg still knows $left"
! inside update-alternatives --query "libblas.so.3-$triplet" | grep tessera || fail "the alternative was left"
as_stranger "the program after the purge" plain
exit $failed
