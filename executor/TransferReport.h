/// The attributes of the messages that one rank receives (ir/Transfer.h), and those of them that
/// its wires execute. Other attributes change nothing: the message travels the wire's own way.
#pragma once

#include "executor/CombiningReceives.h"
#include "transports/TransferCaps.h"

#include <array>
#include <string>

namespace colldsl {

/// The reaction of a plan to an attribute that a wire does not execute.
enum class TransferPolicy : uint8_t {
  Report, ///< the message travels the wire's own way, and the report says so
  Refuse, ///< the plan is not opened, on any rank
};

enum class Attribute : uint8_t {
  Eager,
  Rendezvous,
  Static,
  Reader,
  Writer,
  Canary,
  Announced,
  Streamed,
  Multicast,
};
inline constexpr size_t kAttributes = 9;

/// The spelling of the text form: "via static", "mover reader".
std::string_view spelling(Attribute attribute);

struct TransferReport {
  struct Count {
    uint32_t asked = 0;
    uint32_t executed = 0;
  };
  std::array<Count, kAttributes> counts; ///< by Attribute

  void add(const Transfer &asked, const Transfer &executed);
  void add(const TransferReport &other);

  bool isExecuted() const;
  /// "via static 4 of 4, canary 0 of 4": the number executed, of those in the schedule. Empty: it
  /// has none.
  std::string inWords() const;
};

/// The report of this rank's plan.
TransferReport reportTransfers(const RankView &view, const Steps &steps,
                               CombiningReceives &combining, const Endpoint &endpoint);

} // namespace colldsl
