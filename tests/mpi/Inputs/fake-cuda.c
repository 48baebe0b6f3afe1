// Stands for libcuda.so.1: "device" memory that the CPU cannot touch until it is opened.
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kHost = 1, kDevice = 2, kMost = 64 };
static struct {
  char *first;
  size_t bytes;
  unsigned type, isManaged;
} ranges[kMost];
static int count;

static void *add(size_t bytes, unsigned type, unsigned isManaged, int protection) {
  if (count == kMost)
    abort();
  char *memory = mmap(0, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ranges[count].first = memory;
  ranges[count].bytes = bytes;
  ranges[count].type = type;
  ranges[count++].isManaged = isManaged;
  return memory;
}

void *fakeDeviceMemory(size_t bytes) { return add(bytes, kDevice, 0, PROT_NONE); }
void *fakeManagedMemory(size_t bytes) { return add(bytes, kDevice, 1, PROT_READ | PROT_WRITE); }
void *fakePageLockedMemory(size_t bytes) { return add(bytes, kHost, 0, PROT_READ | PROT_WRITE); }

// 1: as a device sees it; 0: as the CPU does.
void fakeOpenDevices(int isOpen) {
  for (int i = 0; i < count; ++i)
    if (ranges[i].type == kDevice && !ranges[i].isManaged)
      mprotect(ranges[i].first, ranges[i].bytes, isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}

int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uintptr_t address) {
  const char *at = (const char *)address;
  for (unsigned a = 0; a < n; ++a) {
    unsigned *value = data[a];
    *value = 0;
    for (int i = 0; i < count; ++i)
      if (at >= ranges[i].first && at < ranges[i].first + ranges[i].bytes)
        *value = attributes[a] == 2 ? ranges[i].type : attributes[a] == 8 ? ranges[i].isManaged : 0;
  }
  return 0;
}
