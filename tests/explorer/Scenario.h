/// What the machines of long messages have in common: ranks that exchange messages of two plans,
/// one of which may fail in the first plan anywhere, or die.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl::test {

inline constexpr uint8_t kMaxRanks = 3, kMaxMessages = 3;

/// How the bytes of a message move.
enum class Way : uint8_t {
  Read,        ///< by the receiver
  Written,     ///< by the sender, once the receiver has answered
  Fragments,   ///< with the frames
  EarlyRtr,    ///< by the sender, into the buffer of an early RTR, which is for all runs
  Canary,      ///< the same; the last byte is watched, which ends the first run's payload as well
  Announced,   ///< as EarlyRtr, once the receiver waits, with no notice but the first RTR
  Eager,       ///< in the first frame
  Cooperative, ///< by both ends, part by part
};

struct MessageSpec {
  uint8_t from, to;
  Way way;
  bool isOfSecondPlan = false;
};

enum class Trouble : uint8_t { None, Fails, FailsAndDies, Dies };

struct Scenario {
  uint8_t ranks = 2;
  std::vector<MessageSpec> messages = {};
  Trouble trouble = Trouble::None;
  uint8_t troubled = 0;      ///< rank
  bool hasAllOrders = false; ///< of steps that commute with all others, too
  bool isLate = false;       ///< ranks perhaps answer later than others wait
  bool hasHistories = false; ///< states with different histories differ
  uint8_t runs = 1;          ///< of each plan
  uint32_t windowBytes = 0;  ///< for eager messages; 0: there is room for all
  uint8_t refused = 0;       ///< by network::Access, a bit each: no memory is registered for that
  bool opensLate = false;    ///< to open a plan is a step
  bool disconnects = false;  ///< a rank leaves once it has closed its plans
};

} // namespace colldsl::test
