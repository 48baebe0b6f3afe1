#include "tests/transports/NetworkPair.h"

#include <deque>
#include <thread>

namespace colldsl::test {
namespace {

using Clock = std::chrono::steady_clock;

// In pieces of different lengths, with as much between them that is not to be touched.
struct Buffer {
  std::vector<std::byte> memory;
  std::vector<iovec> pieces;
  Payload payload;
  Buffer(uint64_t size, uint32_t count, std::byte first) : memory(2 * size + 1) {
    if (size < count * uint64_t{count})
      count = 1;
    for (uint64_t i = 0, begin = 0; i < count; ++i) {
      uint64_t end = size * (i + 1) * (i + 1) / (count * uint64_t{count});
      pieces.push_back({memory.data() + 2 * begin, end - begin});
      begin = end;
    }
    for (iovec &piece : pieces)
      for (uint64_t i = 0; i < piece.iov_len; ++i) {
        first = std::byte(static_cast<uint8_t>(first) * 5 + 1);
        static_cast<std::byte *>(piece.iov_base)[i] = first;
      }
    payload = {pieces.data(), count, true, false, size};
  }
  Buffer(const Buffer &) = delete;
};

// One rank of an exchange.
struct Half {
  std::deque<Buffer> sent, received;
  std::unique_ptr<Channels> channels; ///< goes before its memory does
  size_t pending = 0, done = 0;

  void begin(const std::vector<uint64_t> &sizes, const NetworkPair &how, std::byte seed) {
    pending = done = 0;
    channels->start();
    if (how.holds)
      channels->hold();
    auto count = static_cast<uint32_t>(sizes.size());
    sent.clear();
    received.clear();
    for (uint32_t m = 0; m < count; ++m) {
      sent.emplace_back(sizes[m], how.pieces, seed);
      received.emplace_back(sizes[m], how.pieces, std::byte{9});
      note(channels->recv({0, m}, OpId{m}, received[m].payload));
      note(channels->send({0, m}, OpId{count + m}, sent[m].payload));
    }
    if (how.holds)
      channels->push();
  }
  void note(Posted posted) { pending += posted == Posted::Pending; }

  // As the executor does: the failing end notifies the other.
  void move() {
    if (channels->failed())
      return;
    done += channels->poll().size();
    channels->check();
    if (channels->failed())
      channels->abort(channels->fault());
  }
  bool isOver() const { return channels->failed() || done >= pending; }
};

} // namespace

NetworkPair::NetworkPair(const Make &make) {
  std::array<network::RankAddress, 2> rankAddresses;
  for (uint32_t r = 0; r < 2; ++r) {
    auto made = make(Rank{r});
    if (!made) {
      trouble = made.message();
      return;
    }
    endpoints[r] = made.take();
    rankAddresses[r] = endpoints[r]->rankAddress();
  }
  for (auto &endpoint : endpoints)
    if (Status s = endpoint->start([rankAddresses](Rank r) -> Result<network::RankAddress> {
          return rankAddresses[index(r)];
        });
        !s)
      trouble = s.message();
}

std::string NetworkPair::exchange(const std::vector<uint64_t> &sizes, uint32_t runs,
                                  const std::function<void()> &meanwhile, const Transfer &way) {
  std::vector<MessageId> messages;
  for (uint32_t m = 0; m < sizes.size(); ++m)
    messages.push_back(makeMessageId(3, m));
  std::array<Half, 2> halves;
  std::string complaint;
  for (uint32_t r = 0; r < 2; ++r) {
    std::vector<EdgeSpec> edge{{Rank{1 - r}, messages, std::vector<Transfer>(sizes.size(), way)}};
    auto opened = endpoints[r]->open({edge, edge});
    if (opened)
      halves[r].channels = opened.take();
    else
      complaint = opened.message();
  }
  auto until = Clock::now() + std::chrono::seconds(10);
  for (uint32_t run = 0; run < runs && complaint.empty(); ++run) {
    for (uint32_t r = 0; r < 2; ++r)
      halves[r].begin(sizes, *this, std::byte(static_cast<uint8_t>(run * 2 + r)));
    while (!(halves[0].isOver() && halves[1].isOver()) && Clock::now() < until) {
      for (Half &half : halves)
        half.move();
      if (meanwhile)
        meanwhile();
    }
    for (uint32_t r = 0; r < 2 && complaint.empty(); ++r) {
      if (halves[r].channels->failed())
        complaint = halves[r].channels->fault().reason;
      else if (!halves[r].isOver())
        complaint = "stuck";
      for (uint32_t m = 0; m < sizes.size() && complaint.empty(); ++m)
        if (halves[r].received[m].memory != halves[1 - r].sent[m].memory)
          complaint = "wrong bytes in message " + std::to_string(m);
    }
  }
  return complaint;
}

void NetworkPair::closeAll() {
  std::thread other([this] { endpoints[0].reset(); });
  endpoints[1].reset();
  other.join();
}

} // namespace colldsl::test
