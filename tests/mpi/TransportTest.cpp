// Writes over the messages of the MPI below. Rank 0 writes to memory of rank 1.
#include "mpi/remote/MpiTransport.h"

#include <gtest/gtest.h>

namespace colldsl::mpi::test {
namespace {

using network::Access;

struct Events : network::TransportHandler {
  uint32_t done = 0;
  std::vector<uint32_t> written;

  void onBytes(std::span<const std::byte>) override { ADD_FAILURE(); }
  void onDone(network::Operation &) override { ++done; }
  void onFailed(network::Operation &, const std::string &reason) override { FAIL() << reason; }
  void onRemoteWrite(uint32_t immediate) override { written.push_back(immediate); }
  void onLost(network::Peer &, const std::string &reason) override { FAIL() << reason; }
  network::Peer *onConnectRequest(Rank) override { return nullptr; }
  void onNeglected() override {}
  void onBroken(const std::string &reason) override { FAIL() << reason; }
};

class MpiTransportOf : public ::testing::Test {
protected:
  MpiTransportOf() : transport(MPI_COMM_WORLD) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_TRUE(transport.start(events, {.frameBytes = 64}));
    there.rank = Rank{1};
    EXPECT_TRUE(transport.reach(there, {}));
  }
  ~MpiTransportOf() { transport.stop(); }

  bool writes() const { return rank == 0; }

  network::Region registerMemory(std::vector<iovec> pieces) {
    Result<network::Region> region = transport.registerMemory(pieces, Access::RemoteWrite);
    EXPECT_TRUE(region);
    return region.take();
  }
  network::Region registerMemory(std::string &memory) {
    return registerMemory({{memory.data(), memory.size()}});
  }

  /// The bytes, in two pieces, to the memory with the key that rank 1 names.
  void write(uint64_t key, std::string bytes) {
    MPI_Bcast(&key, 1, MPI_UINT64_T, 1, MPI_COMM_WORLD);
    if (!writes())
      return;
    network::RmaOperation rma;
    rma.peer = &there;
    network::RmaSpec spec{.count = 2, .key = key, .bytes = bytes.size()};
    spec.pieces[0] = {bytes.data(), 1};
    spec.pieces[1] = {bytes.data() + 1, bytes.size() - 1};
    EXPECT_EQ(transport.write(rma, spec), network::PostResult::Ok);
    while (events.done == 0)
      transport.poll();
  }

  int rank = 0;
  Events events;
  MpiTransport transport;
  network::Peer there;
};

TEST_F(MpiTransportOf, aWriteIsAnnouncedUnderItsKey) {
  std::string memory = "......";
  network::Region region;
  if (!writes())
    region = registerMemory(memory);
  write(region ? region.key() : 0, "bytes!");
  while (!writes() && events.written.empty())
    transport.poll();
  if (!writes()) {
    EXPECT_EQ(events.written, std::vector{static_cast<uint32_t>(region.key())});
    EXPECT_EQ(memory, "bytes!");
  }
}

TEST_F(MpiTransportOf, aWriteGoesIntoSeveralPieces) {
  std::string memory = "..........";
  network::Region region;
  if (!writes())
    region = registerMemory({{&memory[7], 2}, {&memory[1], 3}, {&memory[5], 1}});
  write(region ? region.key() : 0, "bytes!");
  while (!writes() && events.written.empty())
    transport.poll();
  EXPECT_EQ(memory, writes() ? ".........." : ".tes.!.by.");
}

TEST_F(MpiTransportOf, memoryThatIsReleasedIsLeftAlone) {
  std::string memory = "......", next = memory;
  network::Region region;
  if (!writes()) {
    uint64_t before = registerMemory(memory).key();
    region = registerMemory(next);
    EXPECT_EQ(region.key(), before) << "free again";
  }
  write(region ? region.key() : 0, "bytes!");
  while (!writes() && events.written.empty())
    transport.poll();
  if (!writes()) {
    EXPECT_EQ(memory, "......");
    EXPECT_EQ(next, "bytes!");
  }
}

TEST_F(MpiTransportOf, readsAreRefused) {
  std::string memory = "......";
  iovec piece{memory.data(), memory.size()};
  EXPECT_FALSE(transport.registerMemory({&piece, 1}, Access::RemoteRead));
  network::RmaOperation rma;
  EXPECT_EQ(transport.read(rma, {}), network::PostResult::Error);
}

} // namespace
} // namespace colldsl::mpi::test
