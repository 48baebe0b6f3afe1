/// Two endpoints over a network in one process, moved by one thread.
#pragma once

#include "protocol/remote/NetworkEndpoint.h"
#include "tests/transports/Harness.h"

#include <array>

namespace colldsl::test {

class NetworkPair {
public:
  using Make = std::function<Result<std::unique_ptr<protocol::NetworkEndpoint>>(Rank)>;
  explicit NetworkPair(const Make &make);
  ~NetworkPair() { closeAll(); }

  /// One plan: both send the other messages of these sizes, so often. Empty if all of them arrive
  /// as they were sent; else the error of one of them after both have failed, or what else is
  /// wrong, "stuck" if neither end noticed in time.
  std::string exchange(const std::vector<uint64_t> &sizes, uint32_t runs,
                       const std::function<void()> &meanwhile = {}, const Transfer &way = {});

  /// Both disconnect.
  void closeAll();

  std::array<std::unique_ptr<protocol::NetworkEndpoint>, 2> endpoints;
  std::string trouble; ///< why there are none
  uint32_t pieces = 1; ///< of memory, that a message of some length lies in
  bool holds = false;  ///< all messages of a run start at once
};

} // namespace colldsl::test
