#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh SOURCE: each command of `./run` explains itself, and does nothing else. Scripts in traces/ run the programs that
# their arguments name.
set -euo pipefail

run=$1/run
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

expect() {  # exit code, what is printed, arguments of ./run
  local code=$1 text=$2 printed status=0
  shift 2
  printed=$(HOME=$scratch "$run" "$@" 2>&1) || status=$?
  [[ $status == "$code" && $printed =~ $text ]] || fail "./run $*: exit code $status: $printed"
}

commands=0
while read -r command; do
  case $command in bench | hpl | simulate | trace) continue ;; esac  # built, to print their own help
  commands=$((commands + 1))
  for option in --help -h; do expect 0 "^ *$command( |\$)" "$command" $option; done
done < <("$run" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[[ $commands -ge 7 ]] || fail "./run help lists only $commands commands"
expect 0 '^Tessera [0-9.]+$' --version
expect 0 '^usage: ./run' --help
expect 2 "unknown command 'nonsense'" nonsense
expect 2 'bundle: there is no option --nonsense' bundle --nonsense
expect 2 'demo takes no arguments' demo somewhere
expect 2 'build takes one argument at most' build release debug
# Neither StarPU nor a cache is in this home.
for command in build demo test simulate package; do expect 0 '^packages: would install .*StarPU for ' --dry-run $command; done
expect 0 'StarPU for simulated time' --dry-run test --full
[[ $(HOME=$scratch "$run" --dry-run test) != *simulated* ]] || fail "the quick tests need a StarPU that simulates"
STARPU_DIR=/opt/starpu expect 0 'StarPU for real machines: the one in /opt/starpu$' --dry-run bench
TESSERA_STARPU_SOURCE=/nonexistent.tar.gz expect 2 'TESSERA_STARPU_SOURCE=/nonexistent.tar.gz: no such file' --dry-run simulate
expect 0 '^packages: would install none$' --dry-run help
expect 2 "unknown preset 'nonsense'" --dry-run build nonsense
expect 2 "unknown command 'nonsense'" --dry-run nonsense
TESSERA_SIMULATE=/nonexistent expect 2 'TESSERA_SIMULATE is no longer read: use the argument --simulate PROGRAM' papers
expect 2 "papers: --simulate: '/nonexistent' is not a program" papers --quick --simulate /nonexistent
expect 2 "papers: --bench: '' is not a program" papers --bench
[[ -z $(ls -A) ]] || fail "files were left: $(ls -A)"

# The exit codes of a machine that fails, in a copy of the scripts whose system consists of stand-ins.
mkdir -p copy/src/common copy/tests bin starpu/include/starpu/1.4
(cd "${run%/run}" && cp -r run packaging CMakeLists.txt CMakePresets.json "$scratch/copy" &&
  cp src/common/old_variables.hpp "$scratch/copy/src/common" && cp tests/suites.sh "$scratch/copy/tests")
stand_in() {  # program, what it does
  printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
  chmod +x "bin/$1"
}
expect_of_copy() {  # exit code, what is printed, arguments of ./run
  PATH=$scratch/bin:$PATH TESSERA_CUDA=0 STARPU_DIR=${starpu_dir-$scratch/starpu} run=$scratch/copy/run expect "$@"
}
stand_in dpkg-query ''  # no package is installed
stand_in sudo 'exit 1'
stand_in apt-get 'exit 100'
expect_of_copy 3 'packages could not be installed \(no network\?\)' build
# shellcheck disable=SC2016  # the stand-ins expand it
stand_in dpkg-query 'for package; do echo "installed $package"; done'
stand_in pkg-config 'case $* in *variable*) echo '"$scratch/starpu/include/starpu/1.4"' ;; esac'
touch starpu/include/starpu/1.4/starpu_config.h
stand_in cmake 'exit 1'
expect_of_copy 3 'preset release could not be configured' build
# shellcheck disable=SC2016
stand_in cmake 'mkdir -p build/release; [ "$1" != --build ]'
expect_of_copy 3 'preset release could not be built' build
stand_in cmake ''
stand_in ctest 'exit 8'
expect_of_copy 1 'ctest did not finish' test
stand_in doxygen 'exit 5'  # anything else
expect_of_copy 3 '' docs
stand_in pkg-config 'exit 1'
expect_of_copy 3 'STARPU_DIR must be the prefix of an installed StarPU' build
starpu_dir='' XDG_CACHE_HOME=/proc/cache expect_of_copy 3 'the cache /proc/cache/tessera cannot be created: set XDG_CACHE_HOME' starpu
rm -r copy bin starpu

# Replaces tessera-simulate: records its arguments, and always prints the same result.
cat >simulate <<'END'
#!/usr/bin/env bash
echo "$*" >>calls
for policy in tessera eager; do
  echo '{"platform":"p","routine":"gemm","n":1,"policy":"'"$policy"'","median_s":1,"bytes_h2d":1,"busy":1,"tile":1,"tile_n":1}'
done
END
chmod +x simulate
script() {  # exit code, what is printed, script in traces, arguments
  local code=$1 text=$2 printed status=0
  shift 2
  printed=$("${run%/run}/traces/$1" "${@:2}" 2>&1) || status=$?
  [[ $status == "$code" && $printed == *"$text"* ]] || fail "traces/$*: exit code $status: $printed"
}
script 0 '| gemm 1 | 1 s' compare.sh --simulate ./simulate h200x4
script 0 '| chains | 1 s' graphs.sh --quick --simulate ./simulate --graphs ./simulate everest
grep -q -- '--program ./simulate' calls || fail "the program after --graphs was not simulated"
script 0 '' regret.sh --simulate ./simulate everest -- --routine gemm
grep -q -- '--platform everest --sweep --brief --routine gemm --size' calls || fail "traces/regret.sh did not simulate a sweep"
script 0 'usage: traces/compare.sh [--simulate PROGRAM]' compare.sh --help
script 0 'usage: traces/distributed.sh [--simulate PROGRAM] FOLDER' distributed.sh --help
script 2 'FOLDER is missing' distributed.sh --simulate ./simulate
# Tables of solvers over processes, from simulations that all take 0.1 s.
cat >solved <<'END'
#!/bin/sh
echo '{"seconds": 0.1, "bytes_received": [1e6, 3e6]}'
END
chmod +x solved
script 0 '| dgetrs | 1×8 | 100.0 | 100.0 | 1.00 | 2, 2 |' distributed.sh --simulate ./solved solvers solves
script 0 '| 16 | 1×32 | 96 |  | 100 | 4 |' distributed.sh --simulate ./solved solvers lu
# A full disk.
printf '#!/bin/sh\necho "{}"\n' >row
chmod +x row
mkdir results
echo '[]' >results/distributed.json
(ulimit -f 0; script 1 'File too large' distributed.sh --simulate ./row results 2x2; exit $failed) || failed=1
[[ $(cat results/distributed.json) == '[]' ]] || fail "traces/distributed.py loses its earlier results if it cannot write"
# Only the smallest system has a right solution.
cat >hpl.out <<'END'
WR10R0R0         100    64     1     1               0.01             1.0000e+00
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   1.0e-03 ...... PASSED
WR10R0R0         200    64     1     1               0.01             2.0000e+00
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=       nan ...... FAILED
WR10R0R0         300    64     1     1               0.01             3.0000e+00
Error code returned by solve is 7, skip
END
script 0 '' plot_hpl.py some=hpl.out --picture all.svg
script 0 '' plot_hpl.py some=<(head -2 hpl.out) --picture right.svg
cmp all.svg right.svg || fail "traces/plot_hpl.py draws systems that were not solved"
script 2 "there is no argument 'more'" ablation.sh --simulate ./simulate more
script 2 "unknown table 'more'" compare.sh --simulate ./simulate more
script 2 "--graphs: '/nonexistent' is not a program" graphs.sh --graphs /nonexistent
script 2 "--bench: '' is not a program" campaign.sh --bench
TESSERA_GRAPHS=./simulate script 2 'TESSERA_GRAPHS is no longer read: use the argument --graphs PROGRAM' ablation.sh
exit $failed
