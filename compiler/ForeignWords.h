/// Words and operators of other languages, and what is written in this one instead.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl {

/// "&&" is "and". Empty: unknown, as for the others here.
llvm::StringRef ourOperatorFor(llvm::StringRef op);

/// Of keywords: "isend" is "send".
llvm::StringRef ourWordFor(llvm::StringRef word);

/// Of names of values: "nprocs" is "ranks".
llvm::StringRef ourValueFor(llvm::StringRef name);

/// For a call of MPI, "MPI_Isend": how it is written here; empty: it is no name of MPI's.
std::string hintForMpi(llvm::StringRef name);

/// A hint for a function that another language has: "did you mean 'length'?".
std::string hintForFunction(llvm::StringRef name);

} // namespace colldsl
