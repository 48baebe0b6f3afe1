// Receives that may combine, on every transport.
#include "tests/transports/Contract.h"

#include <algorithm>
#include <array>
#include <deque>

namespace colldsl::test {
namespace {

// Notes each byte that is combined.
struct Noted final : CombiningTarget {
  Noted(uint64_t bytes, uint64_t elementBytes, bool hasRoom) : got(bytes), before(bytes) {
    this->elementBytes = elementBytes;
    room = hasRoom ? before.data() : nullptr;
  }
  void combine(uint64_t offset, const std::byte *from, uint64_t bytes) override {
    isRight = isRight && offset == next && offset + bytes <= got.size() &&
              offset % elementBytes == 0 && bytes % elementBytes == 0;
    next += bytes;
    if (isRight)
      std::copy_n(from, bytes, got.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::vector<std::byte> got, before;
  uint64_t next = 0;
  bool isRight = true;
};

// Empty: all of the message was combined, or all of it was stored.
std::string stateOf(const Noted &target, const std::vector<std::byte> &stored,
                    const std::vector<std::byte> &expected) {
  if (target.combinedBytes == 0)
    return target.next != 0 ? "combined in secret" : stored != expected ? "wrong bytes" : "";
  if (!target.isRight || target.combinedBytes != expected.size() || target.got != expected)
    return "not combined once, in whole elements and in order";
  return std::count(stored.begin(), stored.end(), std::byte{0xee}) !=
                 static_cast<std::ptrdiff_t>(stored.size())
             ? "stored as well"
             : "";
}

TEST_P(Contract, aMessageIsCombinedOnce) {
  run(2, [](Endpoint &endpoint) -> std::string {
    const std::vector<uint64_t> sizes = {48, 600, 4800, 16368, 70008, 700008};
    const auto messages = static_cast<uint32_t>(sizes.size());
    Rank peer = neighborOf(endpoint, 1);
    std::vector<EdgeSpec> edge{{peer, ids(messages)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    Channels &channels = **opened;
    if (!channels.prepare({sizes.back()}))
      return "no room";
    for (uint32_t run = 0; run < 16; ++run) {
      bool isInPieces = run % 2 != 0, isLate = run / 2 % 2 != 0, hasRoom = run / 8 % 2 != 0;
      uint64_t elementBytes = run / 4 % 2 != 0 ? 24 : 8; // 24 divides no part
      std::deque<Message> sends, recvs;
      std::deque<std::array<iovec, 2>> halves;
      std::deque<Noted> targets;
      std::vector<Completion> done;
      size_t pending = 0;
      channels.start();
      auto receive = [&](uint32_t m) {
        recvs.emplace_back(std::vector<std::byte>(sizes[m], std::byte{0xee}));
        targets.emplace_back(sizes[m], elementBytes, hasRoom);
        pending += channels.recvCombining({0, m}, OpId{messages + m}, recvs[m].payload,
                                          targets[m]) == Posted::Pending;
      };
      for (uint32_t m = 0; m < messages; ++m) {
        if (!isLate)
          receive(m);
        Message &sent = sends.emplace_back(pattern(endpoint.rank(), run, m, sizes[m]));
        halves.push_back(
            {iovec{sent.data.data(), 40}, iovec{sent.data.data() + 40, sizes[m] - 40}});
        Payload payload = sent.payload;
        if (isInPieces)
          payload = {halves.back().data(), 2, false, false, sizes[m]};
        pending += channels.send({0, m}, OpId{m}, payload) == Posted::Pending;
      }
      for (uint32_t m = 0; isLate && m < messages; ++m)
        receive(m);
      if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
        return "not finished";
      for (uint32_t m = 0; m < messages; ++m)
        if (auto s = stateOf(targets[m], recvs[m].data, pattern(peer, run, m, sizes[m]));
            !s.empty())
          return s + " in message " + std::to_string(m) + " of run " + std::to_string(run);
    }
    return "";
  });
}

} // namespace
} // namespace colldsl::test
