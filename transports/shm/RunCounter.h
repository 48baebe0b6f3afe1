/// The progress of a rank with the runs of a stream. It lies in that rank's arena and stays there;
/// another stream may use it later.
#pragma once

#include "transports/Tag.h"
#include "transports/shm/Layout.h"

namespace colldsl::shm {

/// Stores release and loads acquire: who finds a run over finds what the rank had sent before, and
/// who has read a number of another stream finds the names changed.
struct alignas(kLineBytes) RunCounter {
  static constexpr uint64_t kAllRuns = UINT64_MAX; ///< in `over`: no run needs anything more

  uint64_t next; ///< offset of the RunCounter made before, 0: none
  std::atomic<StreamId> stream;
  std::atomic<uint32_t> message; ///< of its tags, where these do not distinguish messages of a run
  std::atomic<uint64_t> over;    ///< no run before this one needs anything more
};

} // namespace colldsl::shm
