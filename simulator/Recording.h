/// The record of a simulation: the times of all activities, and the reason why each did not begin
/// earlier.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl::sim {

/// An activity of a rank: an op that ran, or a message that was received. Messages are named by
/// their send's vertex.
struct ActivityId {
  uint32_t vertex = 0xffffffffu;
  bool isMessage = false;
  bool known() const { return vertex != 0xffffffffu; }
  bool operator==(const ActivityId &) const = default;
};

/// The last thing that an activity waited for.
enum class Cause : uint8_t {
  Start,      ///< nothing: it began with its rank
  Dependency, ///< an op that it requires or irequires, which had to finish or start
  Processor,  ///< the processor was busy
  Gap,        ///< the interface was busy
  Wire,       ///< the message was on its way
};

struct Activity {
  uint64_t begin = 0;
  uint64_t end = 0; ///< of the processor's part
  ActivityId after; ///< the last thing that it waited for
  Cause cause = Cause::Start;
  bool happened = false;
  uint64_t interfaceEnd = 0; ///< of a send: when its interface may send again; 0: it is none
};

/// Per vertex.
struct Recording {
  std::vector<Activity> ops;
  std::vector<Activity> messages; ///< index: the send
  std::vector<ActivityId> last;   ///< per rank: what ended last
  /// ns that the message's first byte spent on the links of a network; index: the send. Empty:
  /// there is none.
  std::vector<uint64_t> onLinks;

  const Activity &of(ActivityId id) const {
    return id.isMessage ? messages[id.vertex] : ops[id.vertex];
  }
};

} // namespace colldsl::sim
