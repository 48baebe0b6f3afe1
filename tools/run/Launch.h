/// Starts the ranks of a run on this machine, or joins those that a launcher started, and gathers
/// what they report.
#pragma once

#include "executor/LocalRanks.h"
#include "tools/run/RankRun.h"
#include "wireup/Launcher.h"

#include <future>

namespace colldsl::tools {

enum class TransportKind : uint8_t {
  Shm, ///< shared memory between processes; long messages in pieces
  Cma, ///< the same, but receivers read long messages from the sender's memory
  Ofi, ///< messages over libfabric between processes, of several machines if a launcher started
       ///< them
  Datagram, ///< the same over datagrams, which may get lost
  Verbs,    ///< the same over an RDMA device
  Fake,     ///< all ranks are threads of this process; messages overtake each other
};

struct LaunchOptions {
  TransportKind transport = TransportKind::Cma;
  uint64_t seed = 1; ///< Fake: of the order of messages
  bool bindToCores = false;
  uint64_t singleCopyMinBytes = 0; ///< of cma; 0: the usual
  Launcher *launcher =
      nullptr; ///< of this process, which is one of the ranks; null: they are forked
  std::shared_future<void> prepared; ///< what the transport loads; see prepare()
};

/// Begins to load what the transport needs, while the caller makes a schedule.
void prepare(LaunchOptions &options);

/// What each rank returned, on all that a launcher started; an error is as that of launch(). Not
/// for the fake transport.
Result<std::vector<std::vector<std::byte>>>
onAllRanks(uint32_t numRanks, const LaunchOptions &options, const RankBody &body);

/// One report per rank, on all that a launcher started. An error names the rank that failed, and
/// what the others report about it.
Result<std::vector<RankReport>> launch(const RunTask &task, const LaunchOptions &options);

} // namespace colldsl::tools
