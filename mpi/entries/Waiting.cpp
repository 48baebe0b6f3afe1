// Functions that wait, or are called again and again, and have no entry elsewhere: the rows of
// mpi/Functions.def. Parameters have the types of mpi.h.
#include "mpi/entries/EntryParameters.h"

using namespace colldsl::mpi;

#define COLLDSL_WAITS(name, parameters)                                                            \
  COLLDSL_ENTRY(name, (PARAMETERS_##parameters(name))) {                                           \
    return callBelow(real::name PASSED_##parameters);                                              \
  }
#define COLLDSL_POLLS(name, parameters)                                                            \
  COLLDSL_ENTRY(name, (PARAMETERS_##parameters(name))) {                                           \
    return pollBelow(real::name PASSED_##parameters);                                              \
  }
#include "mpi/Functions.def"
