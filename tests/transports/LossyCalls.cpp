#include "tests/transports/LossyCalls.h"

#include <cstring>

namespace colldsl::test {
namespace {

constexpr uint32_t kMaxCallsLate = 8;

void sendNow(int fd, const sockaddr_in &to, const std::vector<std::byte> &bytes) {
  (void)sendto(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr *>(&to), sizeof to);
}

} // namespace

void LossyCalls::sendOne(int fd, const mmsghdr &message) {
  if ((loses && loses(message)) || happens(weather_.loss)) {
    ++lost_;
    return;
  }
  Late late{fd, {}, {}, 0};
  std::memcpy(&late.to, message.msg_hdr.msg_name, sizeof late.to);
  for (size_t i = 0; i < message.msg_hdr.msg_iovlen; ++i) {
    auto *begin = static_cast<const std::byte *>(message.msg_hdr.msg_iov[i].iov_base);
    late.bytes.insert(late.bytes.end(), begin, begin + message.msg_hdr.msg_iov[i].iov_len);
  }
  if (happens(weather_.spoiling))
    late.bytes[random_() % late.bytes.size()] ^= std::byte{1} << random_() % 8;
  if (happens(weather_.duplication))
    sendNow(fd, late.to, late.bytes);
  if (happens(weather_.reordering)) {
    late.calls = 1 + static_cast<uint32_t>(random_() % kMaxCallsLate);
    late_.push_back(std::move(late));
  } else {
    sendNow(fd, late.to, late.bytes);
  }
}

void LossyCalls::sendLate() {
  for (size_t i = 0; i < late_.size();) {
    if (--late_[i].calls > 0) {
      ++i;
      continue;
    }
    sendNow(late_[i].fd, late_[i].to, late_[i].bytes);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

int LossyCalls::send(int fd, mmsghdr *messages, unsigned count) {
  std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < count; ++i)
    sendOne(fd, messages[i]);
  return static_cast<int>(count);
}

int LossyCalls::receive(int fd, mmsghdr *messages, unsigned count) {
  {
    std::lock_guard lock(mutex_);
    sendLate();
  }
  int found = Calls::receive(fd, messages, count);
  std::lock_guard lock(mutex_);
  for (int i = 0; i < found; ++i)
    if ((isDeaf && isDeaf(fd)) || (weather_.deafness > 0 && happens(weather_.deafness))) {
      messages[i].msg_len = 0; // and so no packet
      ++lost_;
    }
  return found;
}

datagram::TimeNs LossyCalls::now() {
  std::lock_guard lock(mutex_);
  return clock_ != 0 ? clock_ : Calls::now();
}

} // namespace colldsl::test
