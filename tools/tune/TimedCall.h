/// A timed call of a function on one rank: its memory, and a plan.
#pragma once

#include "runtime/CollectivePlan.h"
#include "select/Candidate.h"
#include "topology/MachineProfile.h"

#include <map>

namespace colldsl::tools {

/// Longest wait for one call. The death of a rank ends the wait at once.
inline constexpr std::chrono::seconds kCallTimeout{60};

/// The buffers of a function, for all of its collectives.
class CallMemory {
public:
  /// `model`: a collective of the function. An error: there is not enough memory.
  static Result<CallMemory> make(const Program &program, const Decl &model, Rank rank,
                                 uint32_t ranks, uint64_t bytes);

  /// Binds a plan, which is not committed yet.
  Status describe(CollectivePlan &plan) const;

  /// Write the send buffers and read the results, as programs do between calls. Without this a copy
  /// by the sender would look faster than it is.
  void write();
  void read();

private:
  struct Area {
    std::string name;
    BufferRole role = BufferRole::In;
    bool isSignificant = true;
    uint64_t blocks = 0; ///< blocks whose lengths the call gives; 0: none
    uint64_t bytes = 0;
    std::shared_ptr<std::byte> data;
  };

  std::vector<Area> areas_;
  std::vector<std::string> counts_; ///< parameters: lists of lengths, one per rank
  ElementType type_ = ElementType::U8;
  uint64_t elements_ = 0;
  uint32_t ranks_ = 1;
  uint8_t turn_ = 0;
  uint64_t sum_ = 0;
};

/// A plan that is timed.
class TimedCall {
public:
  /// `name`: a function, for which the library's rules choose, or a collective.
  TimedCall(Communicator &communicator, Library &library, std::string name)
      : plan_(communicator, library, std::move(name)) {}

  /// Collective. An error is one on all ranks.
  Status commit(const CallMemory &memory, const std::vector<TunedCollective::Value> &values);
  /// Collective.
  Status run();
  /// The collective that runs. Call it after commit().
  TunedCollective what() const { return plan_.chosen(); }

private:
  CollectivePlan plan_;
};

} // namespace colldsl::tools
