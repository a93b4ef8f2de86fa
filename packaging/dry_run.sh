# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The output of `./run --dry-run COMMAND`: the packages that COMMAND would install, and the StarPU that it would use or
# build. To be sourced by ./run.

# shellcheck disable=SC2154  # the lists of packages are in packages.sh
dry_run() {  # command, arguments
  local command=${1:-help} presets=() packages=() starpu=() preset some missing
  tests=OFF
  case $command in
    build) tests=ON presets=("${2:-release}") ;;
    starpu) tests=ON presets=("${2:-release}") ;;
    demo | bench | hpl | trace) presets=(release) ;;
    simulate) if has_word --nodes "$@"; then presets=(simgrid-mpi); else presets=(simgrid); fi ;;
    papers) presets=(simgrid) packages=("${papers_packages[@]}") ;;
    bundle) tests=ON presets=(release) packages=("${bundle_packages[@]}") ;;
    package) presets=(package) packages=("${package_packages[@]}") ;;
    docs) packages=("${docs_packages[@]}") ;;
    test)
      tests=ON presets=(release simgrid)
      case ${2:-} in --full) ;; --all) presets+=(simgrid-mpi) ;; *) tests=QUICK presets=(release) ;; esac
      some=$(test_packages_of "$([[ $tests == QUICK ]] && echo quick || echo "$2")")
      mapfile -t packages <<<"$some"
      ;;
    help | -h | --help | --version) ;;
    *) refuse "unknown command '$command'; ./run help lists them" ;;
  esac
  command -v dpkg-query >/dev/null || die "this is not a Debian system: ./run installs nothing here"
  for preset in "${presets[@]}"; do
    some=$(packages_of "$preset" "$tests")
    mapfile -t -O "${#packages[@]}" packages <<<"$some"
  done
  if [[ ${#presets[@]} -gt 0 ]]; then
    some=$(packaging/starpu/provide.sh --dry-run "${presets[@]}")
    mapfile -t starpu <<<"$some"
  fi
  if [[ "${starpu[*]}" == *"would be built"* ]]; then packages+=("${source_packages[@]}"); fi
  missing=$([[ ${#packages[@]} -eq 0 ]] || missing_packages "${packages[@]}")
  if [[ -n $missing ]]; then echo "packages: would install ${missing//$'\n'/ }"; else echo "packages: would install none"; fi
  [[ ${#starpu[@]} -eq 0 ]] || printf '%s\n' "${starpu[@]}"
}
