#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: mpirun.sh MPIRUN ARG...: starts processes on this machine, also more than it has cores, and for root.
set -u
mpirun=$1
shift
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=false
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [[ $(id -u) -eq 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
exec "$mpirun" "$@"
