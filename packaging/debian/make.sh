#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: make.sh VERSION: makes Debian packages of what preset package has built, in build/packages. `./run package` builds it
# before. debhelper divides what CMake installs into packages, as the other files of this folder say.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
# shellcheck source=packaging/packages.sh
. "$here/../packages.sh"
version=$1
cd "$here/../.."

need_packages "${package_packages[@]}"
source=$PWD/build/packages/tessera-$version
rm -rf build/packages
mkdir -p "$source"
cp -r packaging/debian "$source"
rm "$source/debian/make.sh"
# lintian refuses overrides that match nothing, such as those for CUDA's run path without CUDA.
[[ -n $(cuda_dir) ]] || sed -i '\,/usr/local/cuda,d' "$source"/debian/*.lintian-overrides
printf '%s\n' "tessera ($version) unstable; urgency=medium" '' '  * CHANGELOG.md has the changes.' '' \
  " -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date --rfc-email)" >"$source/debian/changelog"
(cd "$source" && TESSERA_BUILD=$OLDPWD/build/package dpkg-buildpackage --build=binary --no-sign) >build/packages/log 2>&1 ||
  { tail -n 20 build/packages/log >&2; die "the packages could not be built; the whole log is build/packages/log"; }
# These packages are not uploaded, so their maintainer has no address.
lintian --allow-root --fail-on error,warning build/packages/*.changes >&2 \
  --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog || die "lintian found mistakes"
say build/packages/*.deb
