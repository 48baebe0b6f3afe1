#include "tests/mpi/Version.h"

#include <cstdio>
#include <mpi.h>
#include <string>

namespace conformance {
namespace {

int versionBehind(const char *format) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, major = 0, minor = 0, release = 0;
  MPI_Get_library_version(text, &length);
  int found = std::sscanf(text, format, &major, &minor, &release);
  return found < 2 ? 0 : major * 10000 + minor * 100 + release;
}

} // namespace

int openMpiVersion() {
  static const int version = versionBehind("Open MPI v%d.%d.%d");
  return version;
}

int mpichVersion() {
  static const int version = versionBehind("MPICH Version: %d.%d.%d");
  return version;
}

} // namespace conformance
