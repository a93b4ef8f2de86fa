#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: fetch.sh FOLDER
# Writes StarPU's source to FOLDER, which must not exist, and applies the files in patches/. The source is
# $TESSERA_STARPU_SOURCE. If that is not set, it is the newest 1.4.x in Debian, which is kept in the cache.
set -euo pipefail
shopt -s inherit_errexit nullglob

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
folder=$(realpath --canonicalize-missing "$1")

no_starpu() {
  die "$1" \
    "StarPU >= 1.4 is needed. Let this machine reach its Debian mirror, or set one of:" \
    "STARPU_DIR=PREFIX             an installed StarPU >= 1.4" \
    "TESSERA_STARPU_SOURCE=SOURCE  a 1.4.x release tarball, Debian's .orig.tar.gz, or either unpacked"
}

# Downloads Debian's newest StarPU 1.4.x source into the current folder, and checks its signature. Uses private package
# lists: this needs no root, and does not change the system's lists. It also uses no sandbox user, who could not write
# into this folder.
download() {
  local mirror version
  # shellcheck disable=SC2016  # apt expands it
  local which=(--format '$(REPO_URI)' 'Origin: Debian' 'Created-By: Packages')
  local options=(-q -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any
    -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD/apt")
  mkdir -p lists/partial apt/archives/partial
  mirror=$(apt-get indextargets "${which[@]}") || return 1
  if [[ -z $mirror ]]; then  # container images have no package lists
    apt-get "${options[@]}" update || return 1
    mirror=$(apt-get "${options[@]}" indextargets "${which[@]}") || return 1
  fi
  mirror=$(grep --max-count 1 --invert-match security <<<"$mirror") || return 1
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >sources.list
  options+=(-o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null)
  apt-get "${options[@]}" update || return 1
  for version in $(apt-cache "${options[@]}" showsrc starpu | sed -n 's/^Version: \(1\.4\.\)/\1/p' | sort -rVu); do
    # An index may list versions that no longer exist.
    if apt-get "${options[@]}" source --download-only "starpu=$version"; then return 0; fi
  done
  return 1
}

# Prints the newest of Debian's tarballs in the cache, or nothing.
cached_tarball() { printf '%s\n' "$cache"/starpu_1.4*.orig.tar.*[xz2] | sort -V | tail -n 1; }

# Puts Debian's tarball into the cache, so that StarPU can be built for another preset without a network.
keep_tarball() (
  make_cache
  work=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  say "StarPU: downloading Debian's source package"
  if ! download >log 2>&1; then
    tail -n 5 log >&2
    no_starpu "StarPU's source could not be downloaded."
  fi
  mv starpu_1.4*.orig.tar.*[xz2] "$cache"
)

# Applies a patch. Its text may end with a condition: "Only where FILE contains: WORDS".
apply() {  # patch
  local where='' what=''
  IFS=$'\t' read -r where what < <(sed -n 's/^Only where \([^ ]*\) contains: \(.*\)/\1\t\2/p' "$1") || true
  if [[ -n $where ]] && ! grep -qsF -- "$what" "$folder/$where"; then return; fi
  patch --directory="$folder" --strip=1 --forward --batch --silent --reject-file=- <"$1" >&2 ||
    no_starpu "StarPU $version is not what packaging/starpu/patches/${1##*/} changes: adapt that file, or take StarPU 1.4.10."
}

source=${TESSERA_STARPU_SOURCE:-}
if [[ -z $source ]]; then
  source=$(cached_tarball)
  if [[ -z $source ]]; then
    keep_tarball
    source=$(cached_tarball)
  fi
fi
mkdir "$folder"
if [[ -d $source ]]; then
  cp -r "$source/." "$folder"
else
  tar --extract --file "$source" --directory "$folder" --strip-components 1 || no_starpu "$source is no tarball."
fi
[[ -x $folder/configure ]] || no_starpu "There is no configure script in StarPU's source."
version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$folder/configure")
[[ $version == 1.4* ]] || no_starpu "This source is of StarPU '$version'."
for file in "$here"/patches/*.patch; do apply "$file"; done
echo "$version"
