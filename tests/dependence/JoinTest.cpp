// Joins: where many ops wait for many others, an op without work stands between them, and
// each op waits for exactly the same ops as before.
#include "instantiate/dependence/DagBuilder.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace colldsl {
namespace {

/// One rank's ops over one buffer of 2^20 elements, built and finished.
class Rank0 {
public:
  explicit Rank0(int64_t elements = 1 << 20) : range_(0) {
    builder_.begin(dag, range_);
    Buffer buffer;
    buffer.endOffset = elements;
    buffer_ = builder_.addBuffer(buffer);
  }

  /// Sends or receives [begin, end).
  OpId add(OpKind kind, int64_t begin, int64_t end) {
    Region region{{}, begin, end};
    region.slice.buffer = buffer_;
    region.slice.beginOffset = begin;
    region.slice.endOffset = end;
    std::span<const Region> one(&region, 1), none;
    OpId id{builder_.size()};
    builder_.addPlain().kind = kind;
    EXPECT_TRUE(
        (kind == OpKind::Send ? builder_.touch(one, none) : builder_.touch(none, one)).ok());
    return id;
  }
  OpId send(int64_t begin, int64_t end) { return add(OpKind::Send, begin, end); }
  OpId recv(int64_t begin, int64_t end) { return add(OpKind::Recv, begin, end); }
  OpId signal() {
    OpId id{builder_.size()};
    builder_.addPlain().kind = OpKind::Signal;
    return id;
  }
  void depend(OpRange waiter, OpRange first, DepKind kind) { builder_.depend(waiter, first, kind); }
  uint32_t size() const { return builder_.size(); }
  uint64_t numDeps() const { return builder_.numDeps(); }

  void finish() { ASSERT_TRUE(builder_.finish().ok()); }

  size_t edges() const {
    size_t count = 0;
    for (const Op &op : dag.ops)
      count += op.depCount;
    return count;
  }
  size_t joins() const {
    return std::count_if(dag.ops.begin(), dag.ops.end(),
                         [](const Op &op) { return op.kind == OpKind::Calc; });
  }
  /// The place of the i-th op that is no join.
  uint32_t placeOf(OpId id) const {
    uint32_t left = index(id), at = 0;
    while (dag.ops[at].kind == OpKind::Calc || left-- > 0)
      ++at;
    return at;
  }

  Dag dag;

private:
  ValidityRange range_;
  DagBuilder builder_;
  BufferId buffer_;
};

TEST(Join, ReceivesOfPartsBehindSendsOfAll) {
  Rank0 rank;
  for (int i = 0; i < 500; ++i)
    rank.send(0, 5000);
  for (int i = 0; i < 500; ++i)
    rank.recv(10 * i, 10 * i + 10);
  rank.finish();
  EXPECT_EQ(rank.joins(), 1u);
  EXPECT_LT(rank.edges(), 4'000u); // not 250,000
  EXPECT_EQ(rank.edges(), rank.numDeps());
}

TEST(Join, SendsOfAllBehindReceivesOfParts) {
  Rank0 rank;
  for (int i = 0; i < 500; ++i)
    rank.recv(10 * i, 10 * i + 10);
  for (int i = 0; i < 500; ++i)
    rank.send(0, 5000);
  rank.finish();
  EXPECT_EQ(rank.joins(), 1u);
  EXPECT_LT(rank.edges(), 4'000u);
  EXPECT_EQ(rank.edges(), rank.numDeps());
}

TEST(Join, EveryRoundHasItsOwn) {
  Rank0 rank;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i)
      rank.recv(10 * i, 10 * i + 10);
    for (int i = 0; i < 100; ++i)
      rank.send(0, 1000);
  }
  rank.finish();
  EXPECT_EQ(rank.joins(), 4u + 3u);
  EXPECT_LT(rank.edges(), 7u * 800);
}

TEST(Join, ReadersOfPartsAndOfAll) {
  Rank0 rank;
  for (int i = 0; i < 500; ++i)
    rank.send(0, 5000);
  for (int i = 0; i < 500; ++i)
    rank.send(10 * i, 10 * i + 10);
  for (int i = 0; i < 500; ++i)
    rank.recv(10 * i, 10 * i + 10);
  rank.finish();
  EXPECT_EQ(rank.joins(), 1u);
  EXPECT_LT(rank.edges(), 4'500u);
}

TEST(Join, SmallGroupsHaveNone) {
  Rank0 rank;
  for (int i = 0; i < 8; ++i)
    rank.send(0, 80);
  for (int i = 0; i < 8; ++i)
    rank.recv(10 * i, 10 * i + 10);
  for (int i = 0; i < 8; ++i)
    rank.send(0, 80);
  rank.finish();
  EXPECT_EQ(rank.joins(), 0u);
  EXPECT_EQ(rank.edges(), 3u * 64 - 64);
}

/// Of ops without joins: which wait for which, directly or not.
std::vector<std::vector<bool>> orderOf(const Dag &dag) {
  std::vector<std::vector<bool>> before(dag.size(), std::vector<bool>(dag.size()));
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i])) {
      before[i][index(dep.op)] = true;
      for (uint32_t j = 0; j < index(dep.op); ++j)
        before[i][j] = before[i][j] || before[index(dep.op)][j];
    }
  std::vector<std::vector<bool>> result;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    if (dag.ops[i].kind == OpKind::Calc)
      continue;
    std::vector<bool> &row = result.emplace_back();
    for (uint32_t j = 0; j < i; ++j)
      if (dag.ops[j].kind != OpKind::Calc)
        row.push_back(before[i][j]);
  }
  return result;
}

/// What conflicts demand and nothing else.
std::vector<std::vector<bool>> demandedBy(const std::vector<std::array<int64_t, 3>> &ops) {
  std::vector<std::vector<bool>> order;
  for (size_t b = 0; b < ops.size(); ++b) {
    std::vector<bool> row(b);
    for (size_t a = b; a-- > 0;) {
      auto [beginA, endA, writesA] = ops[a];
      auto [beginB, endB, writesB] = ops[b];
      if (row[a] || (!writesA && !writesB) || std::max(beginA, beginB) >= std::min(endA, endB))
        continue;
      row[a] = true;
    }
    for (size_t a = b; a-- > 0;)
      for (size_t c = 0; row[a] && c < a; ++c)
        row[c] = row[c] || order[a][c];
    order.push_back(row);
  }
  return order;
}

TEST(Join, OpsWaitForNeitherMoreNorLess) {
  std::mt19937 random(11);
  size_t joins = 0;
  for (int round = 0; round < 60; ++round) {
    Rank0 rank;
    std::vector<std::array<int64_t, 3>> ops;
    while (ops.size() < 220) { // runs of the same kind, of the whole or of parts
      bool writes = random() % 2 == 0, ofParts = random() % 2 == 0;
      auto run = static_cast<int64_t>(1 + random() % 40);
      for (int64_t i = 0; i < run; ++i) {
        int64_t begin = ofParts ? i : 0, end = ofParts ? i + 1 : 40;
        if (random() % 8 == 0)
          end = begin + 1 + static_cast<int64_t>(random() % 20);
        rank.add(writes ? OpKind::Recv : OpKind::Send, begin, end);
        ops.push_back({begin, end, writes});
      }
    }
    rank.finish();
    joins += rank.joins();
    ASSERT_EQ(orderOf(rank.dag), demandedBy(ops)) << "round " << round;
    EXPECT_EQ(rank.edges(), rank.numDeps());
  }
  EXPECT_GT(joins, 60u);
}

/// A label is of the statement's op, not of the join for which that op waits.
TEST(Join, IsPartOfNoLabel) {
  Rank0 rank;
  for (int i = 0; i < 30; ++i)
    rank.send(0, 300);
  OpId last{0};
  for (int i = 0; i < 30; ++i)
    last = rank.recv(10 * i, 10 * i + 10);
  OpId follower = rank.signal();
  rank.depend({index(follower), index(follower) + 1}, {index(last), index(last) + 1},
              DepKind::IRequires);
  rank.finish();
  ASSERT_EQ(rank.joins(), 1u);
  const Op &signal = rank.dag.ops[rank.placeOf(follower)];
  auto deps = rank.dag.depsOf(signal);
  ASSERT_EQ(deps.size(), 1u);
  EXPECT_EQ(deps[0], (Dep{OpId{rank.placeOf(last)}, DepKind::IRequires}));
}

/// A wait for the start of a call is one for its ops that no other op of it precedes, with a join
/// or without.
TEST(Join, WithinACallPrecedesItsOps) {
  Rank0 rank;
  OpRange call{rank.size(), 0};
  for (int i = 0; i < 30; ++i)
    rank.send(0, 300);
  for (int i = 0; i < 30; ++i)
    rank.recv(10 * i, 10 * i + 10);
  call.last = rank.size();
  OpId early = rank.signal(), late = rank.signal();
  rank.depend({index(early), index(early) + 1}, call, DepKind::IRequires);
  rank.depend({index(late), index(late) + 1}, call, DepKind::Requires);
  rank.finish();
  auto kindsOf = [&](OpId op) {
    std::map<OpKind, size_t> kinds;
    for (const Dep &dep : rank.dag.depsOf(rank.dag.ops[rank.placeOf(op)]))
      ++kinds[rank.dag.op(dep.op).kind];
    return kinds;
  };
  EXPECT_EQ(kindsOf(early), (std::map<OpKind, size_t>{{OpKind::Send, 30}}));
  EXPECT_EQ(kindsOf(late), (std::map<OpKind, size_t>{{OpKind::Recv, 30}}));
}

/// The text may say that an op waits for younger ones.
TEST(Join, StandsBehindYoungerOpsToo) {
  Rank0 rank;
  for (int i = 0; i < 20; ++i)
    rank.signal();
  for (int i = 0; i < 20; ++i)
    rank.recv(10 * i, 10 * i + 10);
  rank.depend({0, 20}, {20, 40}, DepKind::Requires);
  rank.finish();
  EXPECT_EQ(rank.joins(), 1u);
  EXPECT_EQ(rank.edges(), 40u);
  EXPECT_EQ(rank.dag.ops.front().kind, OpKind::Recv);
  EXPECT_EQ(rank.dag.ops[20].kind, OpKind::Calc);
  EXPECT_EQ(rank.dag.ops.back().kind, OpKind::Signal);
}

} // namespace
} // namespace colldsl
