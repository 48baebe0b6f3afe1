#include "transports/cma/RemoteMemory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/prctl.h>

namespace colldsl::cma {
namespace {

constexpr uint32_t kWindow = 64; // pieces per system call and side

// Walks a list of pieces window by window; pieces that one call did not get through stay.
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

Outcome outcomeOf(int error) {
  switch (error) {
  case ESRCH:
    return Outcome::ProcessGone;
  case EFAULT:
  case EINVAL:
    return Outcome::BadAddress;
  default: // EPERM, ENOSYS, and any error of a sandbox
    return Outcome::Forbidden;
  }
}

using SystemCall = ssize_t (*)(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                               unsigned long);

// Moves bytes between the local cursor and the other side's pieces.
Outcome movePieces(SystemCall move, pid_t process, Cursor &local, const iovec *pieces,
                   uint32_t count, uint64_t bytes) {
  Cursor remote(pieces, count);
  std::array<iovec, kWindow> localWindow, remoteWindow;
  while (bytes > 0) {
    uint32_t locals = local.window(localWindow, bytes);
    uint32_t remotes = remote.window(remoteWindow, bytes);
    if (locals == 0 || remotes == 0)
      return Outcome::BadAddress;
    ssize_t moved = move(process, localWindow.data(), locals, remoteWindow.data(), remotes, 0);
    if (moved <= 0)
      return moved < 0 ? outcomeOf(errno) : Outcome::BadAddress;
    local.advance(static_cast<uint64_t>(moved));
    remote.advance(static_cast<uint64_t>(moved));
    bytes -= static_cast<uint64_t>(moved);
  }
  return Outcome::Copied;
}

// Reads a part of the other side's list of pieces into `list`.
Outcome readList(const RemotePayload &there, uint32_t first, iovec *list, uint32_t count) {
  iovec here{list, count * sizeof(iovec)};
  iovec piece{reinterpret_cast<void *>(there.address + first * sizeof(iovec)), here.iov_len};
  Cursor cursor(&here, 1);
  return movePieces(process_vm_readv, there.process, cursor, &piece, 1, here.iov_len);
}

Outcome movePayload(SystemCall move, const RemotePayload &there, const Payload &here) {
  Cursor local(here.pieces, here.count);
  if (there.pieces == 1) {
    iovec piece{reinterpret_cast<void *>(there.address), there.bytes};
    return movePieces(move, there.process, local, &piece, 1, there.bytes);
  }
  uint64_t left = there.bytes;
  std::array<iovec, kWindow> list;
  for (uint32_t first = 0; first < there.pieces && left > 0; first += kWindow) {
    uint32_t n = std::min(kWindow, there.pieces - first);
    if (Outcome o = readList(there, first, list.data(), n); o != Outcome::Copied)
      return o;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; ++i)
      bytes += list[i].iov_len;
    bytes = std::min(bytes, left);
    Outcome o = movePieces(move, there.process, local, list.data(), n, bytes);
    if (o != Outcome::Copied)
      return o;
    left -= bytes;
  }
  return left == 0 ? Outcome::Copied : Outcome::BadAddress;
}

} // namespace

Outcome read(const RemotePayload &from, const Payload &to) {
  return movePayload(process_vm_readv, from, to);
}

Outcome write(const RemotePayload &to, const Payload &from) {
  return movePayload(process_vm_writev, to, from);
}

void allowPeers() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

} // namespace colldsl::cma
