/// The suite of tests of what protocol/Endpoint.h promises, and its messages.
#pragma once

#include "tests/transports/Harness.h"

#include <gtest/gtest.h>

namespace colldsl::test {

class Contract : public ::testing::TestWithParam<TransportSetup> {
protected:
  // Which providers there are differs between versions of libfabric.
  void SetUp() override {
    if (!GetParam().isOverNetwork)
      return;
    std::string complaint = GetParam().run(1, [](Endpoint &) { return std::string(); });
    if (complaint.find("libfabric has no provider") != std::string::npos)
      GTEST_SKIP() << complaint;
  }
  void run(uint32_t numRanks, const Body &body) { EXPECT_EQ(GetParam().run(numRanks, body), ""); }
};

inline std::vector<MessageId> ids(uint32_t count) {
  std::vector<MessageId> list;
  for (uint32_t i = 0; i < count; ++i)
    list.push_back(makeMessageId(3, i));
  return list;
}

// The bytes of message `m` of a run, different for every sender.
inline std::vector<std::byte> pattern(Rank from, uint32_t run, uint32_t m, uint64_t bytes) {
  std::vector<uint64_t> words(bytes / 8 + 1);
  uint64_t x = (index(from) * 1000003u + run) * 7919u + m + 1;
  for (uint64_t &word : words)
    word = x = x * 6364136223846793005u + 1442695040888963407u;
  auto *begin = reinterpret_cast<const std::byte *>(words.data());
  return std::vector<std::byte>(begin, begin + bytes);
}

inline Rank neighborOf(Endpoint &endpoint, int distance) {
  int size = static_cast<int>(endpoint.numRanks());
  return Rank{
      static_cast<uint32_t>((static_cast<int>(index(endpoint.rank())) + distance + size) % size)};
}

struct Message {
  std::vector<std::byte> data;
  iovec piece;
  Payload payload;

  Message(const Message &) = delete; // the payload points inside
  explicit Message(std::vector<std::byte> bytes, bool upTo = false) : data(std::move(bytes)) {
    piece = {data.data(), data.size()};
    payload = {&piece, 1, true, upTo, data.size()};
  }
};

} // namespace colldsl::test
