// Stands for libamdhip64.so: bytes of an array per kind of memory that HIP numbers.
#include <stdlib.h>

char fakeHipMemory[16]; // the byte at i is of kind i

int hipRuntimeGetVersion(int *version) {
  const char *given = getenv("FAKE_HIP_VERSION");
  *version = given ? atoi(given) : 60032830;
  return 0;
}

int hipDrvPointerGetAttributes(unsigned n, int *attributes, void **data, void *address) {
  long kind = (char *)address - fakeHipMemory;
  for (unsigned a = 0; a < n; ++a)
    *(unsigned *)data[a] = attributes[a] == 2 && kind > 0 && kind < 16 ? (unsigned)kind : 0;
  return 0;
}
