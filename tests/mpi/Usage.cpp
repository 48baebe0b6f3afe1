#include "tests/mpi/Usage.h"

#include <cstdio>
#include <filesystem>
#include <malloc.h>
#include <unistd.h>

namespace conformance {
namespace {

long readResidentKiB() {
  long size = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long countOpenFiles() {
  std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

} // namespace

Usage Usage::now() {
  malloc_trim(0);
  return {readResidentKiB(), countOpenFiles()};
}

} // namespace conformance
