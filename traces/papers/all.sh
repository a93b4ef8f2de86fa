# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# `./run papers`. To be sourced by ./run, which has `build`.

# A failed script does not stop the others. Each preset is built in a subshell, since it has its own StarPU.
papers() {  # options, names
  local names=() known=(blasx wu-jaja itu bogdanov herault) how=() runs=0 simulate='' bench='' name failed=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --quick | --full) how+=("$1") ;;
      --runs) how+=("$1") runs=1 ;;
      --simulate | --bench)
        name=$(absolute "${2:-/}")
        [[ -f $name && -x $name ]] || refuse "papers: $1: '${2:-}' is not a program"
        printf -v "${1#--}" '%s' "$name"
        shift
        ;;
      *)
        [[ " ${known[*]} " == *" $1 "* ]] || refuse "papers: there is no paper '$1'; there are ${known[*]}"
        names+=("$1")
        ;;
    esac
    shift
  done
  if [[ ${#names[@]} -eq 0 ]]; then names=("${known[@]}"); fi
  need_packages "${papers_packages[@]}"
  tests=OFF
  if [[ -z $simulate && $runs -eq 0 ]]; then
    (build simgrid --target tessera-simulate tessera-trace)
    simulate=$here/build/simgrid/bin/tessera-simulate
  fi
  if [[ -z $bench && $(gpu_count) -gt 0 && -n $(cuda_dir) ]]; then
    (build release --target tessera-bench tessera-trace)
    bench=$here/build/release/bin/tessera-bench
  fi
  how+=(${simulate:+--simulate "$simulate"} ${bench:+--bench "$bench"})
  [[ $runs -eq 0 || -n $bench ]] || die "papers --runs: there is no GPU, or no CUDA Toolkit to build with"
  mkdir -p build/papers
  for name in "${names[@]}"; do
    SECONDS=0
    "traces/papers/$name.py" "${how[@]}" build/papers || failed+=("$name")
    say "$name: $SECONDS s"
  done
  [[ ${#failed[@]} -eq 0 ]] || status=1 die "these papers failed: ${failed[*]}"
}
