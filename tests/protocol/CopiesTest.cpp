// How often workers copy a byte, and what memory their FIFOs take: counted. One thread is all
// ranks. Calls of the kernel that read and write other processes' memory come by here.
#include "protocol/local/LocalWorker.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// What the kernel copied for this process.
struct Copied {
  uint64_t read = 0, written = 0;
} copied;

ssize_t counted(uint64_t &sum, long bytes) {
  sum += bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
  return bytes;
}

} // namespace

extern "C" ssize_t process_vm_readv(pid_t process, const iovec *to, unsigned long toCount,
                                    const iovec *from, unsigned long fromCount,
                                    unsigned long flags) noexcept {
  return counted(copied.read,
                 syscall(SYS_process_vm_readv, process, to, toCount, from, fromCount, flags));
}

extern "C" ssize_t process_vm_writev(pid_t process, const iovec *from, unsigned long fromCount,
                                     const iovec *to, unsigned long toCount,
                                     unsigned long flags) noexcept {
  return counted(copied.written,
                 syscall(SYS_process_vm_writev, process, from, fromCount, to, toCount, flags));
}

namespace colldsl::test {
namespace {

using namespace protocol;

/// Ranks of one process, with nothing but worker.
class Ranks {
public:
  explicit Ranks(uint32_t numRanks, shm::Options options = {}) {
    world_ = shm::World::create(numRanks, options).take();
    for (uint32_t r = 0; r < numRanks; ++r)
      world_->control(Rank{r}).pid.store(getpid());
    for (uint32_t r = 0; r < numRanks; ++r)
      ranks_.push_back(std::make_unique<LocalWorker>(*world_, Rank{r}));
  }

  LocalWorker &operator[](uint32_t rank) { return *ranks_[rank]; }

  /// One message; true: it arrived.
  bool move(uint32_t from, uint32_t to, void *source, void *target, uint64_t bytes) {
    LocalSends *sender = ranks_[from]->sendsTo(Rank{to});
    if (!sender)
      return false;
    iovec there{source, bytes}, here{target, bytes};
    CompletionCounter sent, received;
    Request out, in;
    out.tag = in.tag = {1, 1, ++run_, 0};
    out.payload = {&there, 1, false, false, bytes};
    in.payload = {&here, 1, false, false, bytes};
    out.counter = &sent, in.counter = &received;
    sender->send(out);
    ranks_[to]->receivesFrom(Rank{from}).recv(in);
    for (int i = 0; i < 1000 && sent.outstanding + received.outstanding > 0; ++i)
      for (uint32_t rank : {from, to})
        ranks_[rank]->progress();
    return sent.outstanding + received.outstanding == 0;
  }

private:
  std::unique_ptr<shm::World> world_;
  std::vector<std::unique_ptr<LocalWorker>> ranks_;
  uint32_t run_ = 0;
};

TEST(Copies, TheKernelCopiesEachByteOnce) {
  Ranks ranks(4);
  constexpr uint64_t kBytes = 1 << 20;
  std::vector<std::byte> source(kBytes, std::byte{7}), target(kBytes);
  copied = {};
  for (uint32_t to : {1u, 2u, 3u}) {
    std::fill(target.begin(), target.end(), std::byte{0});
    ASSERT_TRUE(ranks.move(0, to, source.data(), target.data(), kBytes));
    EXPECT_EQ(target, source);
  }
  EXPECT_EQ(copied.read, 3 * kBytes); // by the receivers
  EXPECT_EQ(copied.written, 0u);      // so the one that sends to many copies nothing
}

/// Moves memory that rank 0 has of `from()`, which all ranks share.
template <typename From> void moveShared(Ranks &ranks, From from) {
  constexpr uint64_t kBytes = 1 << 20;
  void *source = from(kBytes);
  ASSERT_NE(source, nullptr);
  std::memset(source, 9, kBytes);
  std::vector<std::byte> target(kBytes);
  copied = {};
  ASSERT_TRUE(ranks.move(0, 1, source, target.data(), kBytes));
  EXPECT_EQ(target, std::vector<std::byte>(kBytes, std::byte{9}));
  EXPECT_EQ(copied.read + copied.written, 0u);
  ranks[0].release(source);
}

TEST(Copies, SharedMemoryNeedsNoKernel) {
  Ranks ranks(2);
  moveShared(ranks, [&](uint64_t bytes) { return ranks[0].allocate(bytes); });
}

TEST(Copies, LentMemoryNeedsNoKernel) {
  shm::Options options;
  options.lentBytes = 64 << 20;
  Ranks ranks(2, options);
  for (int i = 0; i < 3; ++i) // the same offsets
    moveShared(ranks, [&](uint64_t bytes) { return ranks[0].lend(bytes); });
}

// Memory for three FIFOs per rank: enough for two neighbours among any number of ranks, and too
// little for a rank with four.
TEST(Memory, FollowsTheNumberOfPeers) {
  constexpr uint64_t kPage = 4096;
  for (uint32_t numRanks : {5u, 64u, 500u}) {
    shm::Options options;
    options.arenaBytes = 3 * (shm::fifoBytes(LocalOptions().fifo.ringBytes) / kPage + 1) * kPage;
    Ranks ranks(numRanks, options);
    uint64_t number = numRanks, found = 0;
    for (uint32_t r = 0; r < numRanks; ++r)
      for (uint32_t to : {(r + 1) % numRanks, (r + numRanks - 1) % numRanks}) {
        ASSERT_TRUE(ranks.move(r, to, &number, &found, sizeof number)) << numRanks << ", " << r;
        EXPECT_EQ(found, number);
      }
    EXPECT_TRUE(ranks.move(0, 2, &number, &found, sizeof number));
    EXPECT_FALSE(ranks.move(0, 3, &number, &found, sizeof number)) << numRanks;
  }
}

TEST(Memory, GoesBackToTheSystem) {
  constexpr uint64_t kBytes = 8 << 20;
  auto world = shm::World::create(1);
  (*world)->control(Rank{0}).pid.store(getpid());
  LocalWorker worker(**world, Rank{0});
  auto pages = [&] {
    struct stat file {};
    fstat((*world)->descriptor(), &file);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  };
  uint64_t before = pages();
  void *memory = worker.allocate(kBytes + 1);
  std::memset(memory, 1, kBytes + 1);
  EXPECT_GE(pages(), before + kBytes);
  worker.release(memory);
  EXPECT_LT(pages(), before + kBytes / 4);
}

} // namespace
} // namespace colldsl::test
