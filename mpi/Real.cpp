#include "mpi/Real.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace colldsl::mpi {
namespace {

/// Stands for a function that the MPI lacks.
template <const char *name> [[noreturn]] void missing() {
  std::fprintf(stderr, "colldsl: there is no %s in the MPI behind this library\n", name);
  std::abort();
}

// MPICH 5.0.2 exports some functions of its files as MPI_X alone.
template <const char *name, typename Function> Function resolve() {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found)
    found = dlsym(RTLD_NEXT, name + 1);
  return found ? reinterpret_cast<Function>(found) : reinterpret_cast<Function>(&missing<name>);
}

#define COLLDSL_REAL(name) constexpr char k##name[] = "PMPI_" #name;
#define COLLDSL_REAL_EXTENSION(name) constexpr char k##name[] = "PMPIX_" #name;
#include "mpi/Real.def"

} // namespace

namespace real {
#define COLLDSL_REAL(name) const decltype(&MPI_##name) name = resolve<k##name, decltype(name)>();
#define COLLDSL_REAL_EXTENSION(name)                                                               \
  const decltype(&MPIX_##name) name = resolve<k##name, decltype(name)>();
#include "mpi/Real.def"
} // namespace real

Status mpiStatus(int code, const char *function) {
  if (code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  real::Error_string(code, text, &length);
  return Status::error(std::string(function) + ": " + text);
}

} // namespace colldsl::mpi
