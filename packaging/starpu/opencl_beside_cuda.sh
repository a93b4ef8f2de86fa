#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: opencl_beside_cuda.sh SOURCE: changes a source of StarPU. `./run` does so where it has both CUDA and OpenCL.
#
# StarPU leaves out an OpenCL device whose number is that of a GPU which it drives by CUDA, as if they were the same GPU.
# The device may be of another maker. After this change, StarPU takes the devices that a program names. Tessera works
# without it: it refuses a session that needs such a device.
set -euo pipefail

file=$1/src/drivers/opencl/driver_opencl.c
clear='_starpu_devices_gpu_clear(config, STARPU_OPENCL_WORKER);'
named='if (!uconf->use_explicit_workers_opencl_gpuid)'
if [[ ! -e $file ]] || ! grep -q "^	$clear\$" "$file"; then
  echo "StarPU's ${file##*/} has a form that this cannot adapt. OpenCL devices with the numbers of GPUs of CUDA stay out." >&2
  exit 0
fi
sed -i "s/^	$clear\$/	$named $clear/" "$file"
