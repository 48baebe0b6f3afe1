// Memory that ranks lend beyond their arenas: two worlds of one process stand for two processes.
#include "transports/shm/Lender.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace colldsl::test {
namespace {

using shm::Arena;
using shm::Lender;
using shm::World;

constexpr uint64_t kMiB = 1 << 20;

/// Sets the number of bytes of address space that this process may have, and the old one again.
class AddressSpace {
public:
  explicit AddressSpace(rlim_t most) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = {most, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace &) = delete;

private:
  rlimit before_;
};

class Lending : public testing::Test {
protected:
  Lending() {
    shm::Options options;
    options.arenaBytes = 64 << 10;
    options.lentBytes = 64 * kMiB;
    here_ = World::create(2, options).take();
    there_ = World::open(here_->descriptor(), 2, options).take();
    arena_.emplace(here_->arenaBegin(Rank{1}), options.arenaBytes);
    lender_.emplace(*here_, Rank{1}, *arena_);
  }

  /// A block whose bytes all are `value`.
  std::byte *lend(uint64_t bytes, int value) {
    void *memory = lender_->lend(bytes);
    if (memory)
      std::memset(memory, value, bytes);
    return static_cast<std::byte *>(memory);
  }
  uint64_t offsetOf(const std::byte *memory, uint64_t bytes) const {
    std::optional<uint64_t> offset = here_->offsetOf(memory, bytes);
    EXPECT_TRUE(offset.has_value());
    return offset.value_or(0);
  }
  uint64_t pages() const {
    struct stat file {};
    fstat(here_->descriptor(), &file);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  }

  std::unique_ptr<World> here_, there_;
  std::optional<Arena> arena_;
  std::optional<Lender> lender_;
};

TEST_F(Lending, ReachesOthersWhereTheyLookForIt) {
  std::byte *memory = lend(3 * kMiB + 1, 7);
  ASSERT_NE(memory, nullptr);
  uint64_t last = offsetOf(memory + 3 * kMiB, 1);
  const std::byte *seen = there_->reach(last);
  ASSERT_NE(seen, nullptr);
  EXPECT_NE(seen, memory + 3 * kMiB) << "each process has a mapping of its own";
  EXPECT_EQ(*seen, std::byte{7});
  EXPECT_EQ(*(seen - 3 * kMiB), std::byte{7});
  EXPECT_EQ(there_->offsetOf(seen, 1), last);
}

TEST_F(Lending, KnowsWhatLiesInIt) {
  std::byte *memory = lend(kMiB, 1);
  ASSERT_NE(memory, nullptr);
  EXPECT_FALSE(here_->offsetOf(memory + kMiB - 1, 2).has_value());
  EXPECT_FALSE(here_->offsetOf(memory - 1, 1).has_value());
  EXPECT_FALSE(here_->offsetOf(this, 1).has_value());
  EXPECT_FALSE(there_->offsetOf(memory, 1).has_value()) << "not mapped there";
}

TEST_F(Lending, GivesPagesBackToTheSystem) {
  uint64_t before = pages();
  std::byte *memory = lend(8 * kMiB, 1);
  EXPECT_GE(pages(), before + 8 * kMiB);
  EXPECT_TRUE(lender_->takeBack(memory));
  EXPECT_LT(pages(), before + kMiB);
  EXPECT_FALSE(lender_->takeBack(memory));
}

// The second block has offsets of the first one, and other bounds.
TEST_F(Lending, ShowsOthersTheBlockThatIsThereNow) {
  std::byte *first = lend(2 * kMiB, 1);
  uint64_t offset = offsetOf(first + kMiB, 1);
  ASSERT_EQ(*there_->reach(offset), std::byte{1});
  lender_->takeBack(first);
  EXPECT_EQ(there_->reach(offset), nullptr) << "nothing is lent there";
  std::byte *second = lend(5 * kMiB, 2);
  EXPECT_EQ(offsetOf(second + kMiB, 1), offset);
  const std::byte *seen = there_->reach(offset);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*(seen + 4 * kMiB - 1), std::byte{2}) << "the last byte of the block";
}

TEST_F(Lending, IsBounded) {
  EXPECT_EQ(lender_->lend(64 * kMiB + 1), nullptr);
  EXPECT_EQ(lender_->lend(UINT64_MAX), nullptr);
  std::byte *most = lend(64 * kMiB, 0);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(lender_->lend(1), nullptr);
  lender_->takeBack(most);
  EXPECT_NE(lender_->lend(1), nullptr);
}

// A rank with little address space copies without a mapping.
TEST_F(Lending, IsCopiedWhereItCannotBeMapped) {
  std::byte *memory = lend(kMiB, 3);
  uint64_t offset = offsetOf(memory, kMiB);
  std::byte room[8] = {};
  iovec pieces[2] = {{room, 3}, {room + 4, 4}};
  Payload payload{pieces, 2, false, false, 7};
  AddressSpace none(0);
  ASSERT_EQ(there_->reach(offset), nullptr);
  EXPECT_TRUE(there_->lentMemory().read(offset + kMiB - 7, payload));
  EXPECT_EQ(room[2], std::byte{3});
  EXPECT_EQ(room[3], std::byte{0});
  EXPECT_EQ(room[7], std::byte{3});
  room[7] = std::byte{9};
  EXPECT_TRUE(there_->lentMemory().write(offset, payload));
  EXPECT_EQ(memory[6], std::byte{9});
  EXPECT_EQ(lender_->lend(kMiB), nullptr);
}

} // namespace
} // namespace colldsl::test
