/// Where the steps of a plan hold addresses of a parameter: what changes when its memory moves.
///
/// Example: x lies at 1000, y at 2000; steps hold 1000, 1008, 2000. Moving y by 500 makes the last
/// one 2500. Time and memory are proportional to the addresses.
#pragma once

#include "executor/Steps.h"

namespace colldsl {

class Addresses {
public:
  /// Those in the steps, which were built for that memory. Both stay where they are.
  Addresses(const Memory &memory, Steps &steps);

  /// False: the parameter of an address is ambiguous, for parameters lie between each other.
  bool areKnown() const { return areKnown_; }

  /// Once they are known: those of the parameter's bytes move by so many.
  void shift(BufferId buffer, ptrdiff_t by) {
    for (std::byte **address : places_[index(buffer)])
      *address += by;
  }

private:
  bool areKnown_;
  std::vector<std::vector<std::byte **>> places_; ///< by buffer
};

} // namespace colldsl
