/// The places in the steps of a plan that hold addresses of a parameter, and that change when its
/// memory moves.
///
/// Example: x lies at 1000, y at 2000; steps hold 1000, 1008, 2000. Moving y by 500 makes the last
/// one 2500. Time and memory are proportional to the addresses.
#pragma once

#include "executor/Steps.h"

namespace colldsl {

class Addresses {
public:
  /// Finds the addresses in the steps, which were built for that memory. Both stay where they are.
  Addresses(const Memory &memory, Steps &steps);

  /// False: the parameter of an address is ambiguous, because memory of parameters interleaves.
  bool areKnown() const { return areKnown_; }

  /// Moves the addresses of the parameter by so many bytes; requires areKnown().
  void shift(BufferId buffer, ptrdiff_t by) {
    for (std::byte **address : places_[index(buffer)])
      *address += by;
  }

private:
  bool areKnown_;
  std::vector<std::vector<std::byte **>> places_; ///< by buffer
};

} // namespace colldsl
