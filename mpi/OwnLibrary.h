/// The user's schedule library under an MPI program (COLLDSL_LIBRARY): which calls it may serve.
#pragma once

#include "runtime/Library.h"

#include <set>
#include <string>

namespace colldsl::mpi {

/// Functions for which the library has a collective of that name, or rules, and all collectives
/// that these name take what those of the standard library take: buffers of the same names and
/// roles, the same parameters that are in the contract, and no others without a default. So it
/// depends on no rank and no call whether the library serves a function. Of each other function
/// `problem` says why, in the end.
Result<std::set<std::string>> functionsOf(Library &own, Library &standard, std::string &problem);

} // namespace colldsl::mpi
