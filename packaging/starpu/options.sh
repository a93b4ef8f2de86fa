# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How StarPU is built for a preset. To be sourced, after ../common.sh.

# True if StarPU is built with OpenCL for this preset. Simulations do not need it.
has_opencl() { ! simulates "$1" && pkg-config --exists OpenCL; }  # preset

# Prints the arguments for StarPU's configure. The limits are explicit because the defaults depend on the machine that
# builds StarPU, and a bundle runs on other machines. 16 memory nodes are enough for 8 NUMA nodes and 8 GPUs. Each
# additional node makes every handle larger and slower to register.
#
# In simulated MPI, all processes are threads of one process. Each has a copy of the program with its global variables.
# These must include StarPU's, so StarPU is linked statically. It then records no traces: Debian's static FxT is not
# compiled as position-independent code.
starpu_options() {  # preset
  local cuda linking=(--disable-static) fxt=--with-fxt
  if [[ $1 == simgrid-mpi ]]; then linking=(--disable-shared --enable-static --with-pic) fxt=--without-fxt; fi
  printf '%s\n' --disable-build-doc --disable-build-examples --disable-build-tests "${linking[@]}" \
    --disable-socl --disable-starpufft --disable-starpurm --disable-starpupy --disable-julia --disable-fortran F77=no FC=no \
    --disable-mlr --disable-hip --disable-glpk --disable-papi "$fxt" --disable-dependency-tracking \
    --enable-maxcpus=256 --enable-maxnumanodes=8 --enable-maxcudadev=8 --enable-maxnodes=16
  if has_opencl "$1"; then printf '%s\n' --enable-opencl --enable-maxopencldev=8; else echo --disable-opencl; fi
  cuda=$(cuda_dir)
  if [[ $1 == simgrid ]]; then
    printf '%s\n' --enable-simgrid --disable-mpi --disable-cuda
  elif [[ $1 == simgrid-mpi ]]; then
    printf '%s\n' --enable-simgrid --enable-mpi --with-mpicc=/usr/bin/smpicc --disable-cuda
  elif [[ -n $cuda ]]; then  # rpath: configure runs programs that it links
    printf '%s\n' --enable-mpi --enable-cuda "--with-cuda-dir=$cuda" "LDFLAGS=-Wl,-rpath,$cuda/lib64"
  else
    printf '%s\n' --enable-mpi --disable-cuda
  fi
}
