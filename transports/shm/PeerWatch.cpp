#include "transports/shm/PeerWatch.h"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace colldsl::shm {

PeerWatch::~PeerWatch() {
  for (const pollfd &entry : fds_)
    if (entry.fd >= 0)
      close(entry.fd);
}

bool PeerWatch::watches(Rank rank) const {
  return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
}

bool PeerWatch::add(Rank rank, pid_t process) {
  if (process == getpid() || watches(rank))
    return true;
  int fd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (fd < 0 && errno == ESRCH)
    return false;
  // A process without free descriptors gets no pidfd: others watch this rank, and share what they
  // see.
  ranks_.push_back(rank);
  fds_.push_back({fd, POLLIN, 0});
  return true;
}

void PeerWatch::collectDead(std::vector<Rank> &dead) {
  if (fds_.empty() || poll(fds_.data(), fds_.size(), 0) <= 0)
    return;
  for (size_t i = 0; i < fds_.size(); ++i) {
    if (fds_[i].fd < 0 || (fds_[i].revents & POLLIN) == 0)
      continue;
    dead.push_back(ranks_[i]);
    close(fds_[i].fd);
    fds_[i].fd = -1;
  }
}

} // namespace colldsl::shm
