# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# The Debian packages that ./run installs, by purpose. To be sourced, after common.sh.

build_packages=(g++ cmake ninja-build make pkg-config
  libopenblas-dev libhwloc-dev libfxt-dev
  libopenmpi-dev                                   # StarPU's MPI layer, and ours
  ocl-icd-opencl-dev libclblast-dev                # GPUs of any vendor
  python3-minimal                                  # makes the Fortran module
  nlohmann-json3-dev libcli11-dev libfmt-dev       # tools
  libcairo2-dev fonts-dejavu-core)                 # pictures of traces
quick_test_packages=(libgtest-dev libgmock-dev     # to build the tests
  python3)                                         # tests of the documents
other_test_packages=(gfortran                      # to build the tests of the Fortran module
  openmpi-bin libscalapack-openmpi-dev)            # to start the tests of distributed matrices, and to compare results
source_packages=(xz-utils debian-archive-keyring patch)  # to unpack StarPU's source, check its signature, and change it
simgrid_packages=(libsimgrid-dev)
docs_packages=(doxygen)
run_test_packages=(groff-base                                            # manual pages
  chromium chromium-driver python3-selenium                              # reports, in a browser
  vite xvfb xauth libgl1-mesa-dri imagemagick xdotool                    # traces, in ViTE
  libblas-test libblas3                                                  # reference BLAS and its testers
  liblapack-test liblapack3                                              # reference LAPACK and its testers
  python3-numpy python3-scipy python3-pytest python3-hypothesis          # NumPy's tests, and an example
  hpcc octave r-base-core                                                # other programs that call a BLAS
  pocl-opencl-icd                                                        # OpenCL devices without a GPU
  "${docs_packages[@]}")
slow_test_packages=(debootstrap
  scalapack-mpi-test)                                                    # ScaLAPACK's testers
bundle_packages=(binutils patchelf python3-minimal)
package_packages=(debhelper dpkg-dev lintian)
papers_packages=(python3 python3-numpy python3-scipy)

# Prints the packages that a build needs.
packages_of() {  # preset, tests: ON, OFF or QUICK
  printf '%s\n' "${build_packages[@]}"
  if [[ $2 != OFF ]]; then printf '%s\n' "${quick_test_packages[@]}"; fi
  if [[ $2 == ON ]]; then printf '%s\n' "${other_test_packages[@]}"; fi
  case $1 in
    release | debug | asan | asan-tools | tsan | package | alone) ;;
    cuda) [[ -n $(cuda_dir) ]] || die "no CUDA toolkit found; set CUDA_HOME" ;;
    simgrid | simgrid-mpi) printf '%s\n' "${simgrid_packages[@]}" ;;
    *) refuse "unknown preset '$1'; there are release, debug, asan, asan-tools, tsan, cuda, simgrid, simgrid-mpi and alone" ;;
  esac
}

# Prints the packages that `./run test` needs.
test_packages_of() {  # --full, --all or quick
  printf '%s\n' "${build_packages[@]}" "${quick_test_packages[@]}" "${source_packages[@]}"
  if [[ $1 != quick ]]; then printf '%s\n' "${other_test_packages[@]}" "${run_test_packages[@]}" "${simgrid_packages[@]}"; fi
  if [[ $1 == --all ]]; then printf '%s\n' "${slow_test_packages[@]}"; fi
}
