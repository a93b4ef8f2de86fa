# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# What `./run test` builds and runs, for each of its three scopes. To be sourced by ./run, which has `build`.

# Tests run side by side, except those of a preset that uses GPUs: they need the GPUs' memory to themselves. PROCESSORS
# says which tests occupy more than one core.
run_ctest() {  # preset, labels to leave out, ctest's arguments
  local preset=$1 labels parallel
  parallel=$(if [[ $preset == release && $(gpu_count) -gt 0 ]]; then echo 1; else nproc; fi)
  read -ra labels <<<"$2"
  shift 2
  ctest --test-dir "build/$preset" --parallel "$parallel" --output-on-failure \
    --output-log "build/$preset/ctest.log" \
    --label-exclude "^($(IFS='|' && echo "${labels[*]}"))\$" "$@"
}

# Builds in the background, with the CPU time that the running tests leave: most tests wait more than they compute. StarPU's
# workers poll while they wait, and yield to a build with a higher nice value, but hardly to one in the idle class. The log is
# shown only if the build fails.
build_beside() {  # function, arguments
  mkdir -p build
  set -m  # in a process group, which the end of this script can stop
  (renice -n 5 "$BASHPID" >/dev/null && "$@") >build/beside.log 2>&1 &
  builder=$!
  set +m
  trap 'kill -- "-$builder" 2>/dev/null || true' EXIT
}

await_build() {
  say "waiting for the build that was started beside the tests"
  wait "$builder" || { tail -n 50 build/beside.log >&2; die "a build failed; the whole log is build/beside.log"; }
  trap - EXIT
}

print_results() {  # presets
  local preset
  echo
  for preset in "$@"; do
    echo "$preset: $(grep -sE 'tests passed|No tests' "build/$preset/ctest.log" || echo 'ctest did not finish')"
    if [[ -e build/$preset/ctest.log ]]; then sed -n '/tests FAILED:/,/^$/ s/^\t *//p' "build/$preset/ctest.log"; fi
  done
}

# Prints the labels of tests that need more GPUs than this machine has.
labels_without_gpus() {
  case $(gpu_count) in 0) echo "gpu multi-gpu" ;; 1) echo multi-gpu ;; esac
}

# The tests that most mistakes break. Building another StarPU for simulated time would take too long here. This function and
# the next end the script, with 1 if a test has failed.
quick_tests() {  # ctest's arguments
  local failed=0
  tests=QUICK
  build release --target quick-tests
  run_ctest release "full slow $(labels_without_gpus)" "$@" || failed=1
  print_results release
  echo "Not run: programs of other projects, tools, examples, MPI, OpenCL, Fortran, Python, sanitizers, simulated time."
  echo "./run test --full runs them, in 20 to 50 minutes on two cores; ./run test --all also the slow ones."
  exit $failed
}

build_small_presets() {
  build tsan --target thread-tests
  build simgrid --target sim-tests
}

full_tests() {  # --full or --all, ctest's arguments
  local slow=slow asan=asan presets failed=0
  if [[ $1 == --all ]]; then slow="" asan=asan-tools; fi
  shift
  presets=(release "$asan" tsan simgrid)
  "$here/packaging/starpu/provide.sh" release simgrid >/dev/null  # both at the same time
  build release
  if [[ $asan == asan ]]; then build_beside build asan --target sanitized-tests; else build_beside build "$asan"; fi
  run_ctest release "$slow $(labels_without_gpus)" "$@" || failed=1
  await_build
  build_beside build_small_presets
  run_ctest "$asan" "$slow gpu multi-gpu" --label-regex '^cpu$' "$@" || failed=1
  await_build
  run_ctest tsan "$slow gpu multi-gpu" --label-regex '^threads$' "$@" || failed=1
  run_ctest simgrid "$slow" --label-regex '^sim$' "$@" || failed=1
  if [[ -z $slow ]]; then  # processes in simulated time need a StarPU of their own
    build simgrid-mpi
    run_ctest simgrid-mpi "$slow" --label-regex '^sim$' "$@" || failed=1
    build alone --target tessera
    run_ctest alone "$slow" --label-regex '^single-files$' "$@" || failed=1
    presets+=(simgrid-mpi alone)
  fi
  print_results "${presets[@]}"
  exit $failed
}

run_tests() {  # --full, --all or nothing, ctest's arguments
  local scope=quick packages
  if [[ ${1:-} == --full || ${1:-} == --all ]]; then
    scope=$1
    shift
  fi
  [[ $# -gt 0 ]] || set -- --no-tests=error
  packages=$(test_packages_of "$scope")
  mapfile -t packages <<<"$packages"
  need_packages "${packages[@]}"
  if [[ $scope == quick ]]; then quick_tests "$@"; else full_tests "$scope" "$@"; fi
}
