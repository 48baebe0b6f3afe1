#include "tests/transports/TransportPair.h"

#include <algorithm>

namespace colldsl::test {

void TransportEnd::sendOne(std::vector<std::byte> bytes) {
  auto &[frame, memory] = frames_.emplace_back(network::Frame(), std::move(bytes));
  frame.kind = network::Operation::Kind::Send;
  frame.peer = &peer;
  frame.data = memory.data();
  frame.bytes = static_cast<uint32_t>(memory.size());
  ++open_;
  transport->send(peer, frame);
}

TransportPair::TransportPair(const datagram::Options &options, datagram::Calls &calls) {
  std::array<network::RankAddress, 2> rankAddresses;
  for (uint32_t r = 0; r < 2; ++r) {
    auto made = datagram::DatagramTransport::open(Rank{r}, options, calls);
    if (!made) {
      trouble = made.message();
      return;
    }
    ends[r].transport = made.take();
    std::vector<std::byte> address = ends[r].transport->address().take();
    std::copy(address.begin(), address.end(), rankAddresses[r].address.begin());
    rankAddresses[r].addressBytes = static_cast<uint16_t>(address.size());
  }
  for (uint32_t r = 0; r < 2; ++r) {
    ends[r].peer.rank = Rank{1 - r};
    Status s = ends[r].transport->start(ends[r], {Rank{r}, 0, 64 << 10});
    if (s)
      s = ends[r].transport->reach(ends[r].peer, rankAddresses[1 - r]);
    if (!s)
      trouble = s.message();
  }
}

std::vector<std::byte> makeFrame(uint32_t seed, size_t bytes) {
  std::vector<std::byte> frame(bytes);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + bytes;
  for (std::byte &b : frame) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<std::byte>(state >> 56);
  }
  return frame;
}

} // namespace colldsl::test
