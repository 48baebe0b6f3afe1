/// The proof that a static message with a canary completes, and not too early, for any payload:
/// both ends and the memory between them as a small machine, of which all states are visited.
///
/// The receiver clears the flag, writes the canary into the last byte of its target and signals
/// that it is ready. The sender then writes its payload, and the flag behind it if the payload ends
/// in the canary. The receiver is done when the last byte is no canary or the flag is set. Writes
/// take effect one after the other, or, on a transport that may not carry canaries, in any order.
#pragma once

#include <string>

namespace colldsl::proof {

struct CanaryModel {
  bool setsFlag = true; ///< the sender, if its payload ends in the canary
  bool commitsInOrder = true;
  bool clearsFlag = true;    ///< the receiver, before it says that it is ready
  bool lastByteFirst = true; ///< the receiver writes the canary before it says that it is ready
};

/// Empty if every run of two messages in a row, each with any payload, ends with all bytes
/// received. Else the way in which a run goes wrong.
std::string refuteCanary(const CanaryModel &model);

} // namespace colldsl::proof
