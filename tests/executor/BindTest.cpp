// What a plan refuses before it runs.
#include "executor/Plan.h"
#include "ir/RankSchedule.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/executor/Schedules.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;
constexpr Rank kMe{0};

BoundBuffer bound(Ints &values) { return {values.data(), values.size() * sizeof(int32_t)}; }

class Bind : public ::testing::Test {
protected:
  // Why the schedule cannot be bound; empty if it can.
  std::string bind(const Schedule &schedule, const Binding &binding) {
    image_ = std::make_unique<LoadedImage>(schedule);
    auto plan = Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(), binding);
    if (!plan)
      return plan.message();
    plan_ = plan.take();
    return "";
  }
  ~Bind() override { plan_.reset(); }

  fake::World world_{1};
  std::unique_ptr<Endpoint> endpoint_ = world_.attach(kMe);
  Engine engine_{*endpoint_};
  std::unique_ptr<LoadedImage> image_;
  std::unique_ptr<Plan> plan_;
  Ints x_ = Ints(100), y_ = Ints(100);
};

TEST_F(Bind, sizesOutsideOfTheClass) {
  Schedule schedule = ringAllgather(1);
  schedule.sizeClass = {10, 8, 15};
  EXPECT_EQ(bind(schedule, {8, {bound(x_), bound(y_)}, {}}), "");
  EXPECT_EQ(bind(schedule, {15, {bound(x_), bound(y_)}, {}}), "");
  EXPECT_EQ(bind(schedule, {7, {bound(x_), bound(y_)}, {}}),
            "n = 7 is outside of the sizes 8..15 that the schedule was made for");
  EXPECT_NE(bind(schedule, {16, {bound(x_), bound(y_)}, {}}), "");
}

TEST_F(Bind, missingNullAndShortBuffers) {
  EXPECT_EQ(bind(ringAllgather(1), {4, {bound(x_)}, {}}), "buffer 1 is missing, 1 were given");
  EXPECT_EQ(bind(ringAllgather(1), {4, {bound(x_), {nullptr, 16}}, {}}),
            "buffer 1 is null, it needs 16 bytes");
  EXPECT_EQ(bind(ringAllgather(1), {4, {bound(x_), {y_.data(), 15}}, {}}),
            "buffer 1 has 15 bytes, it needs 16");
}

TEST_F(Bind, buffersWithoutBytesMayBeNull) {
  EXPECT_EQ(bind(ringAllgather(1), {0, {{}, {}}, {}}), "");
}

TEST_F(Bind, buffersOfOtherRanksMayBeMissing) {
  Builder b(1);
  b.buffer(BufferRole::Out, 5);
  b.schedule.ranks[0].buffers[0].significant = false;
  EXPECT_EQ(bind(b.schedule, {4, {{}}, {}}), "");
}

TEST_F(Bind, opsThatTouchBuffersOfOtherRanks) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  b.copy(kMe, {b.block(x, 0)}, {b.block(y, 0)});
  b.schedule.ranks[0].buffers[1].significant = false;
  EXPECT_EQ(bind(b.schedule, {4, {bound(x_), bound(y_)}, {}}),
            "op 0 touches bytes 0..16 of buffer 1, which has 0 on this rank");
}

TEST_F(Bind, sizesBeyondTheAddressSpace) {
  Schedule schedule = ringAllgather(1);
  EXPECT_NE(bind(schedule, {UINT64_MAX, {bound(x_), bound(y_)}, {}}), "");
  EXPECT_NE(bind(schedule, {uint64_t{1} << 57, {bound(x_), bound(y_)}, {}}), "");
  EXPECT_NE(bind(reduceChain(1, Reduction::Sum), {uint64_t{1} << 56, {bound(x_), bound(y_)}, {}}),
            "");
}

TEST_F(Bind, temporariesThatDoNotFitIntoMemory) {
  Builder b(1);
  b.buffer(BufferRole::Temp, 1);
  std::string why = bind(b.schedule, {uint64_t{1} << 55, {}, {}});
  EXPECT_NE(why.find("no memory for"), std::string::npos) << why;
}

// No image has such ops, but views may be made without one.
TEST_F(Bind, reductionsThatAreNotDefined) {
  Builder b(1, ElementType::F32);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::InOut, 1);
  b.combine(kMe, b.block(x, 0), b.block(y, 0), Reduction::Band, Side::After);
  RankSchedule alone(kMe, b.schedule.ranks[0], b.schedule.sizeClass);
  auto plan = Plan::open(engine_, alone.view(), alone.sizeClass(), {4, {bound(x_), bound(y_)}, {}});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.message(), "op 0: there is no band of f32; band is for integers");
}

/// y has two blocks in room for n elements each, x and z one; x lies in the first of y.
class LengthsInPlace : public Bind {
protected:
  LengthsInPlace() {
    z_ = blocks(BufferRole::In, 1);
    id_ = blocks(BufferRole::In, 1);
    out_ = blocks(BufferRole::Out, 2);
    Dag &dag = builder_.schedule.ranks[0];
    dag.buffers[index(id_)].aliasOf = out_;
    dag.buffers[index(id_)].aliasSlice = static_cast<uint32_t>(dag.slices.size());
    dag.slices.push_back(block(out_, 0));
    OpId kept = builder_.copy(kMe, {block(out_, 0)}, {block(out_, 1)});
    builder_.copy(kMe, {block(z_, 0)}, {block(out_, 0)}, {after(kept)});
  }
  BufferId blocks(BufferRole role, uint32_t count) {
    BufferId id = builder_.buffer(role, count);
    Buffer &buffer = builder_.schedule.ranks[0].buffers[index(id)];
    buffer.layout = Layout::Capacity;
    buffer.blocks = count;
    return id;
  }
  static Slice block(BufferId buffer, uint32_t number) {
    Slice slice;
    slice.endScale = 1;
    slice.buffer = buffer;
    slice.block = number;
    return slice;
  }
  std::string bindLengths(std::vector<uint64_t> z, std::vector<uint64_t> x,
                          std::vector<uint64_t> y = {}) {
    return bind(builder_.schedule, {4, {bound(x_), {}, bound(y_)}, {{{}, z}, {{}, x}, {{}, y}}});
  }

  Builder builder_{1};
  BufferId z_, id_, out_;
};

TEST_F(LengthsInPlace, areThoseOfTheParameter) {
  ASSERT_EQ(bindLengths({3}, {2}), "");
  for (int run = 0; run < 2; ++run) {
    std::fill(x_.begin(), x_.end(), 7);
    y_.assign(y_.size(), -1);
    y_[0] = y_[1] = 5;
    ASSERT_TRUE(plan_->start().ok());
    ASSERT_TRUE(plan_->wait(std::chrono::seconds(20)).ok());
    EXPECT_EQ(Ints(y_.begin(), y_.begin() + 8), (Ints{7, 7, 7, -1, 5, 5, -1, -1}));
    EXPECT_EQ(plan_->blockLengths(out_), (std::vector<uint64_t>{3, 2}));
    EXPECT_EQ(plan_->blockLengths(id_), std::vector<uint64_t>{3});
  }
}

TEST_F(LengthsInPlace, fullWhereNoneIsGiven) {
  ASSERT_EQ(bindLengths({}, {}), "");
  EXPECT_EQ(plan_->blockLengths(out_), (std::vector<uint64_t>{4, 0}));
}

TEST_F(LengthsInPlace, whatIsRefused) {
  EXPECT_EQ(bindLengths({3}, {5}), "buffer 1 has a block of 5 elements, it holds 4");
  EXPECT_EQ(bindLengths({3}, {2}, {2, 0}),
            "buffer 2 is out: its blocks have no lengths before data arrives");
}

/// Of 12 bytes, three numbers each: their sums, but what it was called for last is told.
struct Triples {
  uint64_t bytes = 0;
  Side side = Side::After;
  Combiner combiner() { return {apply, this, 12}; }

private:
  static void apply(std::byte *target, const std::byte *first, const std::byte *source,
                    uint64_t bytes, Side side, void *context) {
    *static_cast<Triples *>(context) = {bytes, side};
    for (uint64_t i = 0; i < bytes; i += 4)
      *reinterpret_cast<int32_t *>(target + i) = *reinterpret_cast<const int32_t *>(first + i) +
                                                 *reinterpret_cast<const int32_t *>(source + i);
  }
};

TEST_F(Bind, combinersWorkOnWholeElements) {
  Builder b(1, ElementType::U8);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::InOut, 1);
  Slice from = b.block(x, 0), to = b.block(y, 0);
  from.denominator = to.denominator = 2; // the first half, rounded down
  b.combine(kMe, from, to, Reduction::Band, Side::Before);
  Triples triples;
  BoundBuffer third{y_.data(), 59};
  EXPECT_EQ(bind(b.schedule, {5, {bound(x_), third}, {}, triples.combiner()}),
            "buffer 1 has 59 bytes, it needs 60");
  x_ = Ints(100, 3);
  ASSERT_EQ(bind(b.schedule, {5, {bound(x_), bound(y_)}, {}, triples.combiner()}), "");
  ASSERT_TRUE(plan_->start().ok());
  EXPECT_TRUE(plan_->wait().ok());
  EXPECT_EQ(triples.bytes, 24u);
  EXPECT_EQ(triples.side, Side::Before);
  EXPECT_EQ(y_[5], 3);
  EXPECT_EQ(y_[6], 0);
}

TEST_F(Bind, blocksCountTheElementsOfACombiner) {
  Builder b(1, ElementType::U8);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::InOut, 1);
  Slice whole;
  whole.endScale = 1;
  whole.buffer = x;
  whole.block = 1;
  b.combine(kMe, whole, b.block(y, 0), Reduction::Sum, Side::After);
  Buffer &buffer = b.schedule.ranks[0].buffers[0];
  buffer.layout = Layout::CallTime;
  buffer.blocks = 2;
  Triples triples;
  auto binding = [&](uint64_t offset) {
    return Binding{2, {bound(x_), bound(y_)}, {{{0, offset}, {5, 2}}}, triples.combiner()};
  };
  EXPECT_EQ(bind(b.schedule, binding(32)), "buffer 0 has 400 bytes, it needs 408");
  EXPECT_NE(bind(b.schedule, binding(uint64_t{1} << 58)), "") << "wraps around";
  ASSERT_EQ(bind(b.schedule, binding(31)), "");
  x_[31 * 3 + 5] = 42;
  ASSERT_TRUE(plan_->start().ok());
  EXPECT_TRUE(plan_->wait().ok());
  EXPECT_EQ(y_[5], 42);
}

TEST_F(Bind, combinersThatDoNotFit) {
  Triples triples;
  auto why = [&](ElementType type, uint64_t n, Combiner combiner) {
    return bind(reduceChain(1, Reduction::Sum, type), {n, {bound(x_), bound(y_)}, {}, combiner});
  };
  Combiner combiner = triples.combiner();
  EXPECT_EQ(why(ElementType::U8, 4, combiner), "");
  EXPECT_EQ(why(ElementType::I32, 4, combiner), "buffer 0 has elements of type i32, not any");
  combiner.elementBytes = 0;
  EXPECT_EQ(why(ElementType::U8, 4, combiner), "the operator is for elements of 0 bytes");
  combiner.elementBytes = uint64_t{1} << 40;
  EXPECT_EQ(why(ElementType::U8, uint64_t{1} << 40, combiner),
            "buffer 0 is too large at n = 1099511627776");
  combiner.apply = nullptr;
  EXPECT_EQ(why(ElementType::U8, 4, combiner), "elements have a size but no operator");
}

TEST_F(Bind, copiesOfDifferentLengths) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 3), y = b.buffer(BufferRole::InOut, 3);
  b.copy(kMe, {b.block(x, 0), b.block(x, 2)}, {b.block(y, 0)});
  EXPECT_EQ(bind(b.schedule, {0, {bound(x_), bound(y_)}, {}}), "");
  EXPECT_EQ(bind(b.schedule, {1, {bound(x_), bound(y_)}, {}}),
            "op 0 copies 8 bytes to 4 bytes of buffer 1");
}

TEST_F(Bind, twoSendsOfOneMessage) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::InOut, 1);
  b.send(kMe, kMe, {b.block(x, 0)});
  b.send(kMe, kMe, {b.block(x, 0)});
  b.recv(kMe, kMe, {b.block(y, 0)});
  for (Op &op : b.schedule.ranks[0].ops)
    op.message = MessageId{7};
  EXPECT_EQ(bind(b.schedule, {1, {bound(x_), bound(y_)}, {}}),
            "ops 0 and 1 both send message 7 to rank 0");
}

TEST_F(Bind, blocksWhosePlacesWereNotGiven) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::InOut, 1);
  Slice whole;
  whole.endScale = 1;
  whole.buffer = x;
  whole.block = 1;
  b.copy(kMe, {whole}, {b.block(y, 0)});
  Buffer &buffer = b.schedule.ranks[0].buffers[0];
  buffer.layout = Layout::CallTime;
  buffer.blocks = 2;
  EXPECT_EQ(bind(b.schedule, {3, {bound(x_), bound(y_)}, {}}),
            "buffer 0 needs places and lengths of 2 blocks");
  EXPECT_EQ(bind(b.schedule, {3, {bound(x_), bound(y_)}, {{{0, 98}, {5, 3}}}}),
            "buffer 0 has 400 bytes, it needs 404");
  ASSERT_EQ(bind(b.schedule, {3, {bound(x_), bound(y_)}, {{{0, 97}, {5, 3}}}}), "");
  x_[99] = 42;
  ASSERT_TRUE(plan_->start().ok());
  EXPECT_TRUE(plan_->wait().ok());
  EXPECT_EQ(y_[2], 42);
}

// y is the third block of x, z its own second half.
TEST_F(Bind, aliasesShareStorage) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::InOut, 4), y = b.buffer(BufferRole::Out, 2);
  BufferId z = b.buffer(BufferRole::Out, 1);
  b.copy(kMe, {b.block(x, 0)}, {b.block(z, 0)});
  Dag &dag = b.schedule.ranks[0];
  dag.slices.push_back(b.blocks(x, 2, 4));
  dag.slices.push_back(b.block(y, 1));
  dag.buffers[index(y)].aliasOf = x;
  dag.buffers[index(y)].aliasSlice = 2;
  dag.buffers[index(z)].aliasOf = y;
  dag.buffers[index(z)].aliasSlice = 3;
  for (int i = 0; i < 100; ++i)
    x_[static_cast<size_t>(i)] = i;
  ASSERT_EQ(bind(b.schedule, {5, {bound(x_), {}, {}}, {}}), "");
  ASSERT_TRUE(plan_->start().ok());
  EXPECT_TRUE(plan_->wait().ok());
  EXPECT_EQ(x_[15], 0);
  EXPECT_EQ(x_[19], 4);
  EXPECT_EQ(x_[14], 14);
  EXPECT_EQ(x_[20], 20);
}

/// y = x, but z = its second half also has w added to it; through a temporary.
Schedule copyAndAdd() {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 4), w = b.buffer(BufferRole::In, 2);
  BufferId y = b.buffer(BufferRole::Out, 4), z = b.buffer(BufferRole::Out, 2);
  BufferId t = b.buffer(BufferRole::Temp, 2);
  OpId whole = b.copy(kMe, {b.blocks(x, 0, 4)}, {b.blocks(y, 0, 4)});
  OpId aside = b.copy(kMe, {b.blocks(w, 0, 2)}, {b.blocks(t, 0, 2)});
  b.combine(kMe, b.blocks(t, 0, 2), b.blocks(z, 0, 2), Reduction::Sum, Side::After,
            {after(whole), after(aside)});
  Dag &dag = b.schedule.ranks[0];
  dag.slices.push_back(b.blocks(y, 2, 4));
  dag.buffers[index(z)].aliasOf = y;
  dag.buffers[index(z)].aliasSlice = static_cast<uint32_t>(dag.slices.size() - 1);
  return b.schedule;
}

// The first places are spoilt: no op reads or writes there any more.
TEST_F(Bind, parametersThatMove) {
  constexpr size_t kBlock = 3;
  Ints x(100, -1), w(100, -1), y(100, -1);
  ASSERT_EQ(bind(copyAndAdd(), {kBlock, {bound(x), bound(w), bound(y), {}}, {}}), "");
  size_t atX = 0, atW = 0, atY = 0;
  for (size_t move : {0, 1, 40, 7}) {
    ASSERT_TRUE(plan_->shift(BufferId{0}, (ptrdiff_t(move) - ptrdiff_t(atX)) * 4));
    ASSERT_TRUE(plan_->shift(BufferId{1}, (ptrdiff_t(2 * move) - ptrdiff_t(atW)) * 4));
    ASSERT_TRUE(plan_->shift(BufferId{2}, (ptrdiff_t(move + 5) - ptrdiff_t(atY)) * 4));
    atX = move, atW = 2 * move, atY = move + 5;
    for (Ints *values : {&x, &w, &y})
      std::fill(values->begin(), values->end(), -1);
    for (size_t i = 0; i < 4 * kBlock; ++i)
      x[atX + i] = static_cast<int>(10 * i + move);
    for (size_t i = 0; i < 2 * kBlock; ++i)
      w[atW + i] = static_cast<int>(1000 * i);
    ASSERT_TRUE(plan_->start().ok());
    ASSERT_TRUE(plan_->wait().ok());
    for (size_t i = 0; i < y.size(); ++i) {
      size_t at = i - atY;
      int added = at >= 2 * kBlock ? static_cast<int>(1000 * (at - 2 * kBlock)) : 0;
      EXPECT_EQ(y[i], i >= atY && at < 4 * kBlock ? static_cast<int>(10 * at + move) + added : -1)
          << i << ", moved by " << move;
    }
  }
}

TEST_F(Bind, parametersBetweenEachOtherStay) {
  ASSERT_EQ(bind(copyAndAdd(), {3, {bound(x_), bound(x_), bound(y_), {}}, {}}), "");
  EXPECT_FALSE(plan_->shift(BufferId{2}, 4));
  x_.assign(x_.size(), 1);
  ASSERT_TRUE(plan_->start().ok());
  ASSERT_TRUE(plan_->wait().ok());
  EXPECT_EQ(y_[0], 1);
}

// Longer and shorter than before, at other places; what lies behind stays.
TEST_F(Bind, anewToOtherSizesAndPlaces) {
  Ints x(400), w(200), y(400);
  ASSERT_EQ(bind(copyAndAdd(), {3, {bound(x), bound(w), bound(y), {}}, {}}), "");
  for (uint64_t n : {3, 50, 1, 0, 49, 2, 77}) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int>(10 * i + n);
    for (size_t i = 0; i < w.size(); ++i)
      w[i] = static_cast<int>(10000 * i);
    std::fill(y.begin(), y.end(), -1);
    size_t at = n % 5;
    BoundBuffer moved{y.data() + at, (y.size() - at) * 4};
    ASSERT_TRUE(plan_->bind({n, {bound(x), bound(w), moved, {}}, {}}).ok());
    ASSERT_TRUE(plan_->start().ok());
    ASSERT_TRUE(plan_->wait().ok());
    for (size_t i = 0; i < y.size(); ++i) {
      size_t place = i - at;
      int added = place >= 2 * n && place < 4 * n ? static_cast<int>(10000 * (place - 2 * n)) : 0;
      ASSERT_EQ(y[i], i >= at && place < 4 * n ? static_cast<int>(10 * place + n) + added : -1)
          << n << " elements, " << i;
    }
  }
}

TEST_F(Bind, afterAFailureItStartsOnceItIsBound) {
  ASSERT_EQ(bind(copyAndAdd(), {3, {bound(x_), bound(x_), bound(y_), {}}, {}}), "");
  EXPECT_EQ(plan_->bind({3, {bound(x_), bound(x_), {y_.data(), 40}, {}}, {}}).message(),
            "buffer 2 has 40 bytes, it needs 48");
  EXPECT_EQ(plan_->start().message(), "the plan is not bound");
  ASSERT_TRUE(plan_->bind({3, {bound(x_), bound(x_), bound(y_), {}}, {}}).ok());
  x_.assign(x_.size(), 2);
  ASSERT_TRUE(plan_->start().ok());
  ASSERT_TRUE(plan_->wait().ok());
  EXPECT_EQ(y_[0], 2);
}

TEST_F(Bind, startWhileRunning) {
  Builder b(1);
  b.calc(kMe, 1000000000);
  ASSERT_EQ(bind(b.schedule, {1, {}, {}}), "");
  ASSERT_TRUE(plan_->start().ok());
  EXPECT_EQ(plan_->start().message(), "the plan is running");
  EXPECT_EQ(plan_->bind({1, {}, {}}).message(), "the plan is running");
  EXPECT_EQ(plan_->wait(std::chrono::milliseconds(5)).message(), "timed out after 0.005 s");
}

} // namespace
} // namespace colldsl::test
