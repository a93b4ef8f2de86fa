#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: mpirun.sh MPIRUN ARG...: starts processes on this machine, also for root. Also more than it has cores, unless
# TESSERA_TEST_OWN_CORES=1: then mpirun binds each process to a core of its own, as it does by default. Exit status 77 if it has
# too few cores for that here.
set -u
mpirun=$1
shift
if [[ ${TESSERA_TEST_OWN_CORES-} != 1 ]]; then
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
fi
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=false
if [[ $(id -u) -eq 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
if [[ ${TESSERA_TEST_OWN_CORES-} == 1 ]] && ! "$mpirun" "${@:1:2}" true >/dev/null 2>&1; then exit 77; fi  # -n NUMBER
exec "$mpirun" "$@"
