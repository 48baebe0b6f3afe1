/// Words and operators of other languages, and their counterparts in colldsl.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl {

/// The operator here for one of another language: "&&" gives "and". Empty if it is unknown; so do
/// the other functions here.
llvm::StringRef ourOperatorFor(llvm::StringRef op);

/// The keyword here for one of another language: "isend" gives "send".
llvm::StringRef ourWordFor(llvm::StringRef word);

/// The value here for one of another language: "nprocs" gives "ranks".
llvm::StringRef ourValueFor(llvm::StringRef name);

/// The spelling here of an MPI call such as "MPI_Isend"; empty if MPI has no such name.
std::string hintForMpi(llvm::StringRef name);

/// A hint for a function that another language has: "did you mean 'length'?".
std::string hintForFunction(llvm::StringRef name);

} // namespace colldsl
