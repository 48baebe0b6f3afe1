/// Notices the death of other processes through their pidfds. Not thread safe.
#pragma once

#include "ir/Ids.h"

#include <poll.h>
#include <sys/types.h>
#include <vector>

namespace colldsl::shm {

class PeerWatch {
public:
  PeerWatch() = default;
  ~PeerWatch();
  PeerWatch(const PeerWatch &) = delete;
  PeerWatch &operator=(const PeerWatch &) = delete;

  /// Watches the process of a rank from now on. Without effect if it is watched
  /// already. False: the process is gone.
  bool add(Rank rank, pid_t process);

  /// Appends the ranks whose processes are gone, each once. One system call.
  void collectDead(std::vector<Rank> &dead);

private:
  bool watches(Rank rank) const;

  std::vector<Rank> ranks_; ///< parallel to fds_
  std::vector<pollfd> fds_; ///< fd < 0: its death was reported, or it has no pidfd
};

} // namespace colldsl::shm
