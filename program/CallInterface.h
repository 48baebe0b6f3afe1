/// The interface of a collective: it tells if the collective can be called in place of another one.
#pragma once

#include "program/Program.h"

#include <map>
#include <set>
#include <string>

namespace colldsl {

class CallInterface {
public:
  CallInterface(const Program &program, const Decl &collective);

  /// The reason why a call of `other` cannot call this instead; empty: it can. This has buffers of
  /// the same names, roles and shapes, the same postconditions up to the names of bound variables,
  /// the same parameters in its contract with the same defaults if both have one, no others without
  /// a default, and the forms in place that the other one has. Contracts that call declarations
  /// count as different.
  std::string whyNotFor(const CallInterface &other) const;

private:
  struct Buffer {
    BufferRole role;
    std::string type;
    std::string text() const;
    bool operator==(const Buffer &) const = default;
  };
  struct Value {
    ValueType type;
    std::string atDefault; ///< "": it has none
    bool suits(const Value &other) const;
  };

  std::string whyNotBuffersOf(const CallInterface &other) const;
  std::string whyNotParametersOf(const CallInterface &other) const;

  std::string name_;
  std::map<std::string, Buffer> buffers_;
  std::string ensures_;
  bool isComparable_ = true;
  std::map<std::string, Value> contract_;      ///< parameters
  std::set<std::string> needed_;               ///< parameters without a default
  std::map<std::string, std::string> aliases_; ///< buffers, and the places where they may lie
};

} // namespace colldsl
