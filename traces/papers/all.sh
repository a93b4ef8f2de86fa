# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# `./run papers`. To be sourced by ./run, which has `build`.

# A failed script does not stop the others. Each preset is built in a subshell, since it has a StarPU of its own.
papers() {  # options, names
  local names=() known=(blasx wu-jaja itu bogdanov herault) how=() runs=0 name failed=()
  for name in "$@"; do
    case $name in
      --quick | --full) how+=("$name") ;;
      --runs) how+=("$name") runs=1 ;;
      *)
        [[ " ${known[*]} " == *" $name "* ]] || die "papers: there is no paper '$name'; there are ${known[*]}"
        names+=("$name")
        ;;
    esac
  done
  if [[ ${#names[@]} -eq 0 ]]; then names=("${known[@]}"); fi
  need_packages "${papers_packages[@]}"
  tests=OFF
  if [[ -z ${TESSERA_SIMULATE:-} && $runs -eq 0 ]]; then
    (build simgrid --target tessera-simulate tessera-trace)
    export TESSERA_SIMULATE=$here/build/simgrid/bin/tessera-simulate
  fi
  if [[ -z ${TESSERA_BENCH:-} && $(gpu_count) -gt 0 && -n $(cuda_dir) ]]; then
    (build release --target tessera-bench tessera-trace)
    export TESSERA_BENCH=$here/build/release/bin/tessera-bench
  fi
  [[ $runs -eq 0 || -n ${TESSERA_BENCH:-} ]] || die "papers --runs: there is no GPU, or no CUDA Toolkit to build with"
  mkdir -p build/papers
  for name in "${names[@]}"; do
    SECONDS=0
    "traces/papers/$name.py" "${how[@]}" build/papers || failed+=("$name")
    say "$name: $SECONDS s"
  done
  [[ ${#failed[@]} -eq 0 ]] || die "these papers failed: ${failed[*]}"
}
