/// The functions that MPI programs call and the standard library serves. Rules of other libraries
/// have to serve them compatibly.
#pragma once

#include "program/CallInterface.h"
#include "program/library/Library.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace colldsl::driver {

class StandardFunctions {
public:
  /// Compiles the collectives of the standard library that its rules name.
  static Result<StandardFunctions> make();

  bool has(const std::string &function) const { return models_.contains(function); }

  /// An error if a program's rule may not serve its function in place of the standard library's
  /// rules. It may if its collective can be called like theirs and promises the same, and if the
  /// rule sets no parameter that the caller chooses. A function that the standard library lacks is
  /// no error.
  Status check(const SelectionRule &rule, const Program &program) const;

private:
  std::map<std::string, CallInterface> models_; ///< by function: the collective of its first rule
};

} // namespace colldsl::driver
