/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for CUDA's driver, libcuda.so.1, where there is no GPU: it only says what memory is. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { bytes = 1 << 20 };
static char *device, *managed;
static int look_ups;

static char* pages(int access) { return mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

/* Memory of a GPU: an access ends the program, as that to a real one. */
void* stand_in_device_memory(void) { return device != NULL ? device : (device = pages(PROT_NONE)); }
void* stand_in_managed_memory(void) { return managed != NULL ? managed : (managed = pages(PROT_READ | PROT_WRITE)); }
int stand_in_look_ups(void) { return look_ups; }

static int is_in(const char* memory, unsigned long long address) {
  return memory != NULL && address - (uintptr_t)memory < bytes;
}

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  const int is_managed = is_in(managed, address), is_known = is_managed || is_in(device, address);
  look_ups++;
  for (unsigned i = 0; i < count; i++) {
    if (attributes[i] == 2) { /* the kind of memory: 2, a device's, also where it is managed */
      const unsigned kind = is_known ? 2 : 0;
      memcpy(values[i], &kind, sizeof kind);
    } else if (attributes[i] == 8) { /* whether it is managed */
      const unsigned char yes = (unsigned char)is_managed;
      memcpy(values[i], &yes, sizeof yes);
    } else if (attributes[i] == 9) { /* the GPU */
      const int first = 0;
      memcpy(values[i], &first, sizeof first);
    } else if (attributes[i] == 10) { /* whether it is of cuMemAlloc */
      const unsigned char yes = (unsigned char)is_known;
      memcpy(values[i], &yes, sizeof yes);
    } else {
      return 1;
    }
  }
  return 0;
}

int cuMemGetAddressRange_v2(unsigned long long* begin, size_t* size, unsigned long long address) {
  if (!is_in(device, address)) return 1;
  *begin = (uintptr_t)device, *size = bytes;
  return 0;
}
