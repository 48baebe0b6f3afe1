#include "transports/cma/RemoteMemory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/prctl.h>

namespace colldsl::cma {
namespace {

constexpr uint32_t kWindow = 64; // pieces per system call and side

// Walks a list of pieces window by window: what one call did not get through stays.
class Cursor {
public:
  Cursor(const iovec *pieces, uint32_t count) : next_(pieces), left_(count) {}

  // The next pieces, up to kWindow of them and `limit` bytes.
  uint32_t window(std::array<iovec, kWindow> &out, uint64_t limit) const {
    uint32_t n = 0;
    uint64_t skip = done_;
    for (uint32_t i = 0; i < left_ && n < kWindow && limit > 0; ++i) {
      uint64_t here = std::min<uint64_t>(next_[i].iov_len - skip, limit);
      if (here > 0)
        out[n++] = {static_cast<std::byte *>(next_[i].iov_base) + skip, here};
      limit -= here;
      skip = 0;
    }
    return n;
  }

  void advance(uint64_t bytes) {
    while (left_ > 0 && bytes >= next_->iov_len - done_) {
      bytes -= next_->iov_len - done_;
      ++next_;
      --left_;
      done_ = 0;
    }
    done_ += bytes;
  }

private:
  const iovec *next_;
  uint32_t left_;
  uint64_t done_ = 0; // bytes of *next_ behind us
};

ReadOutcome outcomeOf(int error) {
  switch (error) {
  case ESRCH:
    return ReadOutcome::ProcessGone;
  case EFAULT:
  case EINVAL:
    return ReadOutcome::BadAddress;
  default: // EPERM, ENOSYS, and whatever a sandbox answers
    return ReadOutcome::Forbidden;
  }
}

// The other side's pieces `from`, read into the local cursor.
ReadOutcome readPieces(pid_t process, Cursor &to, const iovec *from, uint32_t count,
                       uint64_t bytes) {
  Cursor remote(from, count);
  std::array<iovec, kWindow> localWindow, remoteWindow;
  while (bytes > 0) {
    uint32_t locals = to.window(localWindow, bytes);
    uint32_t remotes = remote.window(remoteWindow, bytes);
    if (locals == 0 || remotes == 0)
      return ReadOutcome::BadAddress;
    ssize_t got =
        process_vm_readv(process, localWindow.data(), locals, remoteWindow.data(), remotes, 0);
    if (got <= 0)
      return got < 0 ? outcomeOf(errno) : ReadOutcome::BadAddress;
    to.advance(static_cast<uint64_t>(got));
    remote.advance(static_cast<uint64_t>(got));
    bytes -= static_cast<uint64_t>(got);
  }
  return ReadOutcome::Read;
}

} // namespace

ReadOutcome read(const RemotePayload &from, const Payload &to) {
  Cursor local(to.pieces, to.count);
  if (from.pieces == 1) {
    iovec piece{reinterpret_cast<void *>(from.address), from.bytes};
    return readPieces(from.process, local, &piece, 1, from.bytes);
  }
  uint64_t left = from.bytes;
  std::array<iovec, kWindow> list;
  for (uint32_t first = 0; first < from.pieces && left > 0; first += kWindow) {
    uint32_t n = std::min(kWindow, from.pieces - first);
    iovec here{list.data(), n * sizeof(iovec)};
    iovec there{reinterpret_cast<void *>(from.address + first * sizeof(iovec)), n * sizeof(iovec)};
    Cursor listCursor(&here, 1);
    if (auto o = readPieces(from.process, listCursor, &there, 1, here.iov_len);
        o != ReadOutcome::Read)
      return o;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; ++i)
      bytes += list[i].iov_len;
    bytes = std::min(bytes, left);
    if (auto o = readPieces(from.process, local, list.data(), n, bytes); o != ReadOutcome::Read)
      return o;
    left -= bytes;
  }
  return left == 0 ? ReadOutcome::Read : ReadOutcome::BadAddress;
}

void allowReaders() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

} // namespace colldsl::cma
