/// A collective as calls see it: whether it can be called in place of another one.
#pragma once

#include "program/Program.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace colldsl {

class CallInterface {
public:
  CallInterface(const Program &program, const Decl &collective);

  /// Whether a call that suits `other` suits this: buffers of the same names, roles and shapes, the
  /// same parameters that are in the contract, no others without a default, and a form in place
  /// where the other one has one.
  bool takesWhatSuits(const CallInterface &other) const;

private:
  struct Shape {
    BufferRole role;
    std::vector<DimKind> dims;
    bool operator==(const Shape &) const = default;
  };

  std::map<std::string, Shape> buffers_;
  std::map<std::string, ValueType> contract_; ///< parameters
  std::set<std::string> needed_;              ///< parameters without a default
  std::set<std::string> aliases_;             ///< buffers that may lie in another one
};

} // namespace colldsl
