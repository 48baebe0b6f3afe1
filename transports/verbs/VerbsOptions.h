/// Options of the transport over verbs.
#pragma once

#include "ir/Result.h"
#include "transports/network/NetworkOptions.h"
#include "wireup/NetworkSettings.h"

namespace colldsl::verbs {

/// `bind` applies only to the monitor of processes and to calls of librdmacm, which have sockets.
struct Options : network::Options {
  Options() {
    longestEagerBytes = 64 << 10;
    windowBytes = 256 << 10;
  }
  std::string device; ///< as ibv_devices(1) names it; empty: the nearest one with a port that is up
  uint32_t port = 0;  ///< 0: the first one that is up
  int gidIndex = -1; ///< -1: an address of RoCE version 2 and IPv4, if there is one, else the first
  uint32_t sendsPerPeer = 64; ///< requests that a peer's queue pair holds at once
  /// Frames that a peer may have on the way to this rank, where a device has no other way to stop
  /// senders (iWARP). Each takes a receive for longestEagerBytes.
  uint32_t framesPerPeer = 8;
  /// Bytes of a write that become visible in their order, where the device does not say that all
  /// do.
  uint64_t inOrderBytes = 0;
  uint32_t completions = 4096; ///< that the completion queue holds, if the device allows so many
};

/// From the options device, bind, port, gid and in-order; defaults for those that are not set.
Result<Options> readOptions(NetworkSettings &settings);

} // namespace colldsl::verbs
