/// What the machine has to say about a schedule, by trying it out.
#pragma once

#include "tests/verifier/Machine.h"

namespace colldsl::test {

class Oracle {
public:
  Oracle(const Schedule &schedule, const std::vector<Sizes> &sizes, uint32_t slots, uint32_t seed)
      : schedule_(schedule), sizes_(sizes), slots_(slots), random_(seed), idle_(schedule, sizes) {}

  /// Some run gets stuck, without buffering or with channels of so many slots.
  bool deadlocks();
  /// Two conflicting ops of a rank can be under way at the same time, or an op is in conflict
  /// with itself.
  bool races();
  /// Some run reads what was not written, or leaves something else than was promised, or
  /// writes what is not.
  bool breaksContract();

private:
  bool getsStuck(Buffering buffering);
  bool mayOverlap(Machine::Place a, Machine::Place b);
  bool touchesWhile(Machine::Place slow, Machine::Place other);
  bool isSelfConflict(uint32_t rank, const Op &op) const;
  bool conflict(uint32_t rank, const Op &a, const Op &b) const;
  bool breaksPromise(const Machine &machine);
  bool isPromised(const Machine &machine, uint32_t rank, const Ensure &ensure,
                  uint64_t element) const;
  bool writesTooMuch() const;
  bool failsToSynchronize();
  bool treesDiffer(const Machine &machine) const;

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  uint32_t slots_;
  std::mt19937 random_;
  Machine idle_; ///< never runs; knows where slices lie
};

} // namespace colldsl::test
