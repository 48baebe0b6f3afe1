#include "tests/ir/Schedules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace colldsl {
namespace {

OpId add(Schedule &s, uint32_t rank, OpKind kind, uint32_t peer, uint64_t id) {
  Op op;
  op.kind = kind;
  op.peer = Rank{peer};
  op.message = MessageId{id};
  return s.ranks[rank].add(op, {}, {}, {});
}

uint64_t idOf(const Schedule &s, uint32_t rank, uint32_t op) {
  return value(s.ranks[rank].ops[op].message);
}

Schedule ofRanks(uint32_t ranks) {
  Schedule s;
  s.ranks.resize(ranks);
  return s;
}

TEST(Schedule, CountsOpsOfAllRanks) {
  EXPECT_EQ(Schedule().numOps(), 0u);
  EXPECT_EQ(ringSchedule(4).numOps(), 4u * 7);
}

TEST(Renumber, GivesTagsInTheSendersOrder) {
  Schedule s = ofRanks(2);
  add(s, 0, OpKind::Send, 1, 900);
  add(s, 0, OpKind::Signal, 1, uint64_t{5} << 32 | 900);
  add(s, 0, OpKind::Send, 1, 3);
  add(s, 1, OpKind::Recv, 0, 3);
  add(s, 1, OpKind::Recv, 0, 900);
  add(s, 1, OpKind::Wait, 0, uint64_t{5} << 32 | 900);
  renumberMessages(s);
  EXPECT_EQ(idOf(s, 0, 0), 0u);
  EXPECT_EQ(idOf(s, 0, 1), 1u);
  EXPECT_EQ(idOf(s, 0, 2), 2u);
  EXPECT_EQ(idOf(s, 1, 0), 2u);
  EXPECT_EQ(idOf(s, 1, 1), 0u);
  EXPECT_EQ(idOf(s, 1, 2), 1u);
}

TEST(Renumber, CountsPerDirectedPair) {
  Schedule s = ofRanks(3);
  add(s, 0, OpKind::Send, 1, 7);
  add(s, 0, OpKind::Send, 2, 7);
  add(s, 0, OpKind::Recv, 1, 7);
  add(s, 1, OpKind::Recv, 0, 7);
  add(s, 1, OpKind::Send, 0, 7);
  add(s, 2, OpKind::Recv, 0, 7);
  renumberMessages(s);
  for (uint32_t r = 0; r < 3; ++r)
    for (const Op &op : s.ranks[r].ops)
      EXPECT_EQ(value(op.message), 0u);
}

TEST(Renumber, SendsToOneself) {
  Schedule s = ofRanks(1);
  add(s, 0, OpKind::Recv, 0, 5);
  add(s, 0, OpKind::Send, 0, 4);
  add(s, 0, OpKind::Send, 0, 5);
  add(s, 0, OpKind::Recv, 0, 4);
  renumberMessages(s);
  EXPECT_EQ(idOf(s, 0, 1), 0u);
  EXPECT_EQ(idOf(s, 0, 3), 0u);
  EXPECT_EQ(idOf(s, 0, 2), 1u);
  EXPECT_EQ(idOf(s, 0, 0), 1u);
}

// Unmatched ends must stay unmatched.
TEST(Renumber, LonelyEndsStayLonely) {
  Schedule s = ofRanks(2);
  add(s, 0, OpKind::Send, 1, 10);
  add(s, 0, OpKind::Send, 1, 11);
  add(s, 1, OpKind::Recv, 0, 20);
  add(s, 1, OpKind::Recv, 0, 11);
  add(s, 1, OpKind::Recv, 0, 21);
  add(s, 1, OpKind::Recv, 7, 10); // from a rank that does not exist
  renumberMessages(s);
  EXPECT_EQ(idOf(s, 1, 1), idOf(s, 0, 1));
  std::set<uint64_t> ids = {idOf(s, 0, 0), idOf(s, 0, 1), idOf(s, 1, 0), idOf(s, 1, 2)};
  EXPECT_EQ(ids.size(), 4u);
}

TEST(Renumber, LeavesLocalOpsAlone) {
  Schedule s = ofRanks(1);
  add(s, 0, OpKind::Calc, 0, 42);
  renumberMessages(s);
  EXPECT_EQ(idOf(s, 0, 0), 42u);
}

using Key = std::tuple<uint32_t, uint32_t, uint64_t>;

/// Which receive each send meets, as (rank, op) -> (rank, op).
std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> meetings(const Schedule &s) {
  std::map<Key, std::pair<uint32_t, uint32_t>> sends;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> met;
  for (uint32_t r = 0; r < s.numRanks(); ++r)
    for (uint32_t i = 0; i < s.ranks[r].size(); ++i)
      if (const Op &op = s.ranks[r].ops[i]; op.kind == OpKind::Send)
        sends[{r, index(op.peer), value(op.message)}] = {r, i};
  for (uint32_t r = 0; r < s.numRanks(); ++r)
    for (uint32_t i = 0; i < s.ranks[r].size(); ++i)
      if (const Op &op = s.ranks[r].ops[i]; op.kind == OpKind::Recv)
        if (auto at = sends.find({index(op.peer), r, value(op.message)}); at != sends.end())
          met[at->second] = {r, i};
  return met;
}

TEST(Renumber, KeepsThePairsOfEnds) {
  std::mt19937_64 dice(3);
  for (int round = 0; round < 50; ++round) {
    Schedule s = ofRanks(4);
    std::set<Key> used;
    std::vector<std::tuple<uint32_t, OpKind, uint32_t, uint64_t>> ends;
    for (int m = 0; m < 60; ++m) {
      auto from = static_cast<uint32_t>(dice() % 4);
      auto to = static_cast<uint32_t>(dice() % 4);
      uint64_t id = dice() % 2 ? dice() : dice() % 50;
      if (!used.insert({from, to, id}).second)
        continue;
      if (dice() % 8 != 0)
        ends.emplace_back(from, OpKind::Send, to, id);
      if (dice() % 8 != 0)
        ends.emplace_back(to, OpKind::Recv, from, id);
    }
    std::shuffle(ends.begin(), ends.end(), dice);
    for (auto [rank, kind, peer, id] : ends)
      add(s, rank, kind, peer, id);
    auto before = meetings(s);
    renumberMessages(s);
    EXPECT_EQ(meetings(s), before);
    Schedule again = s;
    renumberMessages(again);
    EXPECT_EQ(difference(s, again), "");
  }
}

/// renumberMessages() by sorting all ends at once.
void renumberAll(Schedule &s) {
  struct End {
    Rank from, to;
    MessageId message;
    bool sends;
    OpId op;
    uint32_t tag = 0;
  };
  std::vector<End> ends;
  for (uint32_t r = 0; r < s.numRanks(); ++r)
    for (uint32_t i = 0; i < s.ranks[r].size(); ++i)
      if (const Op &op = s.ranks[r].ops[i]; sendsMessage(op.kind))
        ends.push_back({Rank{r}, op.peer, op.message, true, OpId{i}});
      else if (receivesMessage(op.kind))
        ends.push_back({op.peer, Rank{r}, op.message, false, OpId{i}});
  std::map<std::pair<Rank, Rank>, uint32_t> sends, lonely;
  for (End &end : ends) // in the order of ranks and ops
    if (end.sends)
      end.tag = sends[{end.from, end.to}]++;
  lonely = sends;
  std::map<std::tuple<Rank, Rank, MessageId>, std::vector<uint32_t>> tags;
  for (const End &end : ends)
    if (end.sends)
      tags[{end.from, end.to, end.message}].push_back(end.tag);
  std::stable_sort(ends.begin(), ends.end(), [](const End &a, const End &b) {
    return std::tie(a.from, a.to, a.message, a.op) < std::tie(b.from, b.to, b.message, b.op);
  });
  std::map<std::tuple<Rank, Rank, MessageId>, size_t> met;
  for (End &end : ends) {
    if (end.sends)
      continue;
    const std::vector<uint32_t> &sent = tags[{end.from, end.to, end.message}];
    size_t &taken = met[{end.from, end.to, end.message}];
    end.tag = taken < sent.size() ? sent[taken++] : lonely[{end.from, end.to}]++;
  }
  for (const End &end : ends)
    s.ranks[index(end.sends ? end.from : end.to)].ops[index(end.op)].message =
        makeMessageId(end.tag, 0);
}

TEST(Renumber, DoesAsSortingAllEndsDoes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    uint32_t ranks = 1 + random() % 6;
    Schedule s = ofRanks(ranks);
    auto peer = [&] {
      return random() % 20 ? random() % ranks : random() % 3 ? ranks : UINT32_MAX;
    };
    constexpr OpKind kKinds[] = {OpKind::Send, OpKind::Recv, OpKind::Signal, OpKind::Wait,
                                 OpKind::Calc};
    for (uint32_t i = random() % 60; i > 0; --i)
      add(s, random() % ranks, kKinds[random() % 5], static_cast<uint32_t>(peer()),
          random() % 3 * (uint64_t{1} << 33) + random() % 3);
    Schedule expected = s;
    renumberAll(expected);
    renumberMessages(s);
    for (uint32_t r = 0; r < ranks; ++r)
      for (uint32_t i = 0; i < s.ranks[r].size(); ++i)
        ASSERT_EQ(idOf(s, r, i), idOf(expected, r, i)) << "rank " << r << ", op " << i;
  }
}

} // namespace
} // namespace colldsl
