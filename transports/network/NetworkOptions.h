/// Options of every transport over a network. Sizes in bytes.
#pragma once

#include "topology/Nics.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace colldsl::network {

struct Options {
  /// The address of this machine that all sockets are bound to, or the network that it is in
  /// ("10.0.0.0/24").
  std::string bind = "127.0.0.1";
  /// The threads that the ranks of this host up to this one may run on, in order. The ranks share
  /// out the host's network interfaces by them, where none is named. Null: this rank takes the
  /// first interface.
  std::shared_ptr<const std::vector<Threads>> boundThreads;
  /// The longest payload of one frame: of an eager message, or of a fragment. Longer messages begin
  /// with a request to send.
  uint32_t longestEagerBytes = 8 << 10;
  /// Longer messages may travel by RMA: put to where they belong, or got. At most
  /// longestEagerBytes.
  uint32_t rmaThresholdBytes = 8 << 10;
  /// Eager bytes that a peer may send without a posted receive; beyond, it sends an RTS for shorter
  /// messages, too.
  uint32_t windowBytes = 128 << 10;
  /// Receives that are posted for frames. All peers share them.
  uint32_t postedReceives = 64;
  /// Fragments of a message in flight, where the network has no RMA.
  uint32_t fragments = 8;
  /// RMA: reads and writes of peers' memory, where the network can.
  bool usesRma = true;
  /// A receiver sends an early RTR for each long message.
  bool sendsEarlyRtr = false;
  /// A send is completed once the network needs no poll of this rank any more for its frames.
  bool flushes = false;
  /// A cancel waits for peers to drain, however long they compute.
  bool cancelsWithoutTimeout = false;
  /// The time that an ending endpoint waits for its peers to take its frames, since they last took
  /// some.
  std::chrono::nanoseconds linger = std::chrono::seconds(5);
  std::chrono::nanoseconds lingerAfterFailure = std::chrono::seconds(1);
  /// A peer whose machine answers nothing for so long is taken for lost.
  std::chrono::milliseconds silence = std::chrono::seconds(10);
  /// The interval at which a waiting rank checks that its peers live.
  std::chrono::nanoseconds watchInterval = std::chrono::milliseconds(2);
  /// The number of polls without an event before a rank gives its core away.
  uint32_t spinPolls = 20;
};

} // namespace colldsl::network
