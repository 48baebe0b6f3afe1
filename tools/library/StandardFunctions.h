/// The functions that MPI programs call and the standard library serves, as rules of other
/// libraries have to serve them.
#pragma once

#include "runtime/CallInterface.h"
#include "runtime/Library.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace colldsl::tools {

class StandardFunctions {
public:
  /// Compiles the collectives of the standard library that its rules name.
  static Result<StandardFunctions> make();

  bool has(const std::string &function) const { return models_.contains(function); }

  /// Whether the rule, of a program, may serve its function in place of the standard library's
  /// rules: its collective can be called like theirs, promises the same, and the rule gives no
  /// value that is the caller's to choose. A function that the standard library has not is fine.
  Status check(const SelectionRule &rule, const Program &program) const;

private:
  std::map<std::string, CallInterface> models_; ///< by function: the collective of its first rule
};

} // namespace colldsl::tools
