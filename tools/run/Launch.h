/// Starts the ranks of a run on this machine, or joins those that a launcher started, and gathers
/// what they report.
#pragma once

#include "runtime/job/LocalRanks.h"
#include "tools/run/RankRun.h"
#include "wireup/Launcher.h"

#include <future>

namespace colldsl::tools {

enum class TransportKind : uint8_t {
  Shm,  ///< shared memory between processes; long messages in pieces
  Cma,  ///< as Shm, but receivers read long messages from the sender's memory
  Fake, ///< all ranks are threads of this process; messages overtake each other
};

struct LaunchOptions {
  TransportKind transport = TransportKind::Cma; ///< unless the network is used alone
  Network network;   ///< between nodes, if a launcher started the ranks on several, or alone
  uint64_t seed = 1; ///< for Fake: determines the order of messages
  bool bindToCores = false;
  uint64_t singleCopyMinBytes = 0; ///< of Cma; 0: the default
  Launcher *launcher =
      nullptr; ///< of this process, which is one of the ranks; null: they are forked
  std::shared_future<void> prepared; ///< loads the transport's libraries; see prepare()
};

/// Begins to load the libraries of the transport, while the caller makes a schedule.
void prepare(LaunchOptions &options);

/// The result of `body` on each rank, available on all ranks that a launcher started. An error is
/// like that of launch(). Not for the fake transport.
Result<std::vector<std::vector<std::byte>>>
onAllRanks(uint32_t numRanks, const LaunchOptions &options, const RankBody &body);

/// One report per rank, available on all ranks that a launcher started. An error names the rank
/// that failed, with the reports of the others about it.
Result<std::vector<RankReport>> launch(const RunTask &task, const LaunchOptions &options);

} // namespace colldsl::tools
