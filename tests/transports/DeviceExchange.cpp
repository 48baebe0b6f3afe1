#include "tests/transports/DeviceExchange.h"

#include <algorithm>
#include <deque>

namespace colldsl::test {
namespace {

constexpr std::byte kNothing{0xee};

std::byte byteAt(uint32_t rank, size_t message, size_t i) {
  return std::byte(static_cast<uint8_t>(rank * 101 + message * 31 + i * 7 + i / 251));
}

/// One end of a message, in memory of the host and in memory that stands for a device's.
struct MessageEnd {
  MessageEnd(uint64_t bytes, uint32_t numPieces)
      : host(2 * bytes, kNothing), device(2 * bytes, kNothing) {
    uint64_t part = bytes / numPieces;
    for (uint32_t p = 0; p < numPieces; ++p) {
      uint64_t length = p + 1 < numPieces ? part : bytes - p * part;
      hostPieces.push_back({host.data() + 2 * p * part, length});
      devicePieces.push_back({device.data() + 2 * p * part, length});
    }
    payload = {hostPieces.data(), numPieces, true, false, bytes};
  }
  MessageEnd(const MessageEnd &) = delete;

  void fill(const std::vector<iovec> &pieces, uint32_t rank, size_t message) const {
    size_t i = 0;
    for (const iovec &piece : pieces)
      for (size_t at = 0; at < piece.iov_len; ++at)
        static_cast<std::byte *>(piece.iov_base)[at] = byteAt(rank, message, i++);
  }
  bool holds(const std::vector<iovec> &pieces, uint32_t rank, size_t message) const {
    size_t i = 0;
    for (const iovec &piece : pieces)
      for (size_t at = 0; at < piece.iov_len; ++at)
        if (static_cast<std::byte *>(piece.iov_base)[at] != byteAt(rank, message, i++))
          return false;
    return true;
  }
  static bool isUntouched(const std::vector<std::byte> &memory) {
    return std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == kNothing; });
  }

  std::vector<std::byte> host, device;
  std::vector<iovec> hostPieces, devicePieces;
  Payload payload;
  std::shared_ptr<network::DeviceRegistration> registration;
  DevicePayload onDevice;
};

class DeviceHalf {
public:
  DeviceHalf(DeviceExchange &exchange, NetworkPair &pair, uint32_t rank)
      : exchange_(exchange), endpoint_(*pair.endpoints[rank]), rank_(rank) {
    for (size_t m = 0; m < exchange.sizes.size(); ++m) {
      sent_.emplace_back(exchange.sizes[m], 1);
      received_.emplace_back(exchange.sizes[m], exchange.pieces[rank]);
    }
  }

  std::string open() {
    std::vector<MessageId> messages;
    for (uint32_t m = 0; m < exchange_.sizes.size(); ++m)
      messages.push_back(makeMessageId(3, m));
    std::vector<Transfer> ways(messages.size(), exchange_.way);
    std::vector<EdgeSpec> edge{{Rank{1 - rank_}, messages, ways}};
    auto opened = endpoint_.open({edge, edge});
    if (!opened)
      return opened.message();
    channels_ = opened.take();
    return registerAll(sent_) && registerAll(received_) ? "" : "memory cannot be registered";
  }

  void start() {
    channels_->start();
    for (uint32_t m = 0; m < sent_.size(); ++m) {
      MessageEnd &to = received_[m], &from = sent_[m];
      note(to.registration ? channels_->recvIntoDevice({0, m}, OpId{m}, to.payload, to.onDevice)
                           : channels_->recv({0, m}, OpId{m}, to.payload));
      from.fill(from.registration ? from.devicePieces : from.hostPieces, rank_, m);
      OpId op{m + static_cast<uint32_t>(sent_.size())};
      note(from.registration ? channels_->sendFromDevice({0, m}, op, from.payload, from.onDevice)
                             : channels_->send({0, m}, op, from.payload));
    }
  }

  void move() {
    for (const Completion &done : channels_->poll()) {
      if (!done.awaitsHost) {
        --pending_;
        continue;
      }
      auto m = index(done.op) - static_cast<uint32_t>(sent_.size());
      ++exchange_.heldSends[rank_];
      sent_[m].fill(sent_[m].hostPieces, rank_, m);
      channels_->sendFromHost({0, m});
    }
    channels_->check();
  }
  bool isOver() const { return pending_ == 0 || channels_->failed(); }

  std::string verdict() {
    if (channels_->failed())
      return channels_->fault().reason;
    for (uint32_t m = 0; m < received_.size(); ++m) {
      const MessageEnd &end = received_[m];
      bool isHere = end.registration && end.onDevice.isUsed;
      exchange_.cameToDevice[rank_] += isHere;
      if (!end.holds(isHere ? end.devicePieces : end.hostPieces, 1 - rank_, m))
        return "wrong bytes in message " + std::to_string(m);
      if (!MessageEnd::isUntouched(isHere ? end.host : end.device))
        return "message " + std::to_string(m) + " touched other memory";
    }
    return "";
  }

private:
  bool registerAll(std::deque<MessageEnd> &ends) {
    uint64_t from = endpoint_.transferCaps(Rank{1 - rank_}).deviceFrom;
    for (MessageEnd &end : ends) {
      if (!exchange_.isOnDevice[rank_] || end.payload.bytes < from)
        continue;
      auto id = reinterpret_cast<uint64_t>(end.device.data());
      end.registration = endpoint_.registerDevice(
          {{end.device.data(), end.device.size()}, id, 0, exchange_.dmaBuf, 0});
      if (!end.registration)
        return false;
      end.onDevice = {end.devicePieces.data(), end.registration.get()};
    }
    return true;
  }
  void note(Posted posted) { pending_ += posted == Posted::Pending; }

  DeviceExchange &exchange_;
  Endpoint &endpoint_;
  uint32_t rank_;
  std::deque<MessageEnd> sent_, received_;
  std::unique_ptr<Channels> channels_; ///< goes before its memory does
  uint32_t pending_ = 0;
};

} // namespace

std::string DeviceExchange::run(NetworkPair &pair) {
  std::deque<DeviceHalf> halves;
  for (uint32_t r = 0; r < 2; ++r)
    if (std::string s = halves.emplace_back(*this, pair, r).open(); !s.empty())
      return s;
  for (DeviceHalf &half : halves)
    half.start();
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!(halves[0].isOver() && halves[1].isOver())) {
    if (std::chrono::steady_clock::now() > until)
      return "stuck";
    for (DeviceHalf &half : halves)
      half.move();
  }
  std::string first = halves[0].verdict(), second = halves[1].verdict();
  return first.empty() ? second : first;
}

} // namespace colldsl::test
