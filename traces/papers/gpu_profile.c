/* SPDX-License-Identifier: BSD-3-Clause
 * Writes what the GPUs of a program do to the CSV file that GPU_PROFILE names: a row for each kernel and each copy.
 * CUDA loads this library into a program that is started with CUDA_INJECTION64_PATH=gpu_profile.so.
 *
 *     cc -O2 -shared -fPIC -I/usr/local/cuda/include gpu_profile.c -o gpu_profile.so -lcupti
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* rows;

static void provide_buffer(uint8_t** buffer, size_t* size, size_t* records) {
  *size = 8 << 20;
  *records = 0; /* as many as fit */
  *buffer = aligned_alloc(8, *size);
  if (*buffer == NULL) *size = 0; /* CUPTI then drops records */
}

static void write_row(unsigned gpu, const char* kind, uint64_t start, uint64_t end, uint64_t bytes) {
  fprintf(rows, "%u,%s,%llu,%llu,%llu\n", gpu, kind, (unsigned long long)start, (unsigned long long)end,
          (unsigned long long)bytes);
}

static void read_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  CUpti_Activity* record = NULL;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const CUpti_ActivityKernel10* kernel = (const CUpti_ActivityKernel10*)record;
      write_row(kernel->deviceId, "kernel", kernel->start, kernel->end, 0);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const CUpti_ActivityMemcpy6* copy = (const CUpti_ActivityMemcpy6*)record;
      const char* kind = copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? "in"
                         : copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? "out"
                                                                             : "copy";
      write_row(copy->deviceId, kind, copy->start, copy->end, copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
      const CUpti_ActivityMemcpyPtoP4* copy = (const CUpti_ActivityMemcpyPtoP4*)record;
      write_row(copy->dstDeviceId, "peer", copy->start, copy->end, copy->bytes);
    }
  }
  free(buffer);
}

static void finish(void) {
  cuptiActivityFlushAll(1);
  fclose(rows);
}

/* CUDA calls this when the program starts to use it. */
int InitializeInjection(void) {
  const char* name = getenv("GPU_PROFILE");
  rows = name != NULL ? fopen(name, "w") : NULL;
  if (rows == NULL) return fprintf(stderr, "gpu_profile: GPU_PROFILE must name a file that can be written\n"), 0;
  fprintf(rows, "gpu,kind,start_ns,end_ns,bytes\n");
  const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                      CUPTI_ACTIVITY_KIND_MEMCPY2};
  CUptiResult status = cuptiActivityRegisterCallbacks(provide_buffer, read_buffer);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == CUPTI_SUCCESS; i++)
    status = cuptiActivityEnable(kinds[i]);
  if (status != CUPTI_SUCCESS) return fprintf(stderr, "gpu_profile: CUPTI's status %d\n", (int)status), 0;
  atexit(finish);
  return 1;
}
