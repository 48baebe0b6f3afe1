#include "tests/verifier/Collectives.h"

#include <bit>

namespace colldsl::test {
namespace {

void ringSteps(ScheduleBuilder &b, uint32_t rank, BufferId y, bool ragged = false) {
  uint32_t ranks = b.ranks();
  auto block = [&](uint32_t i) {
    return ragged ? b.raggedBlock(y, i % ranks) : b.blockOf(y, i % ranks);
  };
  for (uint32_t k = 0; k + 1 < ranks; ++k) {
    b.send(rank, {block(rank + ranks - k)}, (rank + 1) % ranks);
    b.recv(rank, {block(rank + 2 * ranks - k - 1)}, (rank + ranks - 1) % ranks);
  }
}

void foldIn(ScheduleBuilder &b, uint32_t rank, uint32_t rest, Slice y, Reduction reduction) {
  if (rank >= 2 * rest)
    return;
  if (rank % 2 == 0)
    b.send(rank, {y}, rank + 1);
  else
    b.recvCombine(rank, y, rank - 1, Side::Before, reduction);
}

void foldOut(ScheduleBuilder &b, uint32_t rank, uint32_t rest, Slice y) {
  if (rank >= 2 * rest)
    return;
  if (rank % 2 == 1)
    b.send(rank, {y}, rank - 1);
  else
    b.recv(rank, {y}, rank + 1);
}

void exchange(ScheduleBuilder &b, uint32_t rank, uint32_t rest, Slice y, Reduction reduction) {
  bool folded = rank < 2 * rest;
  if (folded && rank % 2 == 0)
    return;
  uint32_t virtualRank = folded ? rank / 2 : rank - rest;
  for (uint32_t bit = 1; bit < std::bit_floor(b.ranks()); bit *= 2) {
    uint32_t w = virtualRank ^ bit;
    uint32_t peer = w < rest ? 2 * w + 1 : w + rest;
    b.send(rank, {y}, peer);
    b.recvCombine(rank, y, peer, peer < rank ? Side::Before : Side::After, reduction);
  }
}

void ensureGathered(ScheduleBuilder &b, BufferId x, BufferId y) {
  for (uint32_t r = 0; r < b.ranks(); ++r)
    for (uint32_t i = 0; i < b.ranks(); ++i)
      b.ensure(r, b.blockOf(y, i), i, b.blockOf(x, 0));
}

} // namespace

ScheduleBuilder ringAllgather(uint32_t ranks, uint64_t n) {
  ScheduleBuilder b(ranks, n);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out, ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.blockOf(x, 0)}, {b.blockOf(y, r)});
    ringSteps(b, r, y);
  }
  ensureGathered(b, x, y);
  return b;
}

ScheduleBuilder ringAllgatherInPlace(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  BufferId y = b.param("y", BufferRole::Out, ranks);
  BufferId x = b.alias("x", BufferRole::In, [&](uint32_t rank) { return b.blockOf(y, rank); });
  for (uint32_t r = 0; r < ranks; ++r)
    ringSteps(b, r, y);
  ensureGathered(b, x, y);
  return b;
}

ScheduleBuilder raggedAllgather(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  std::vector<uint64_t> lengths(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    lengths[r] = r;
  BufferId x = b.ragged("x", BufferRole::In, lengths); // every rank fills its own block
  BufferId y = b.ragged("y", BufferRole::Out, lengths);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.raggedBlock(x, r)}, {b.raggedBlock(y, r)});
    ringSteps(b, r, y, true);
    for (uint32_t i = 0; i < ranks; ++i)
      b.ensure(r, b.raggedBlock(y, i), i, b.raggedBlock(x, i));
  }
  return b;
}

ScheduleBuilder capacityAllgather(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  std::vector<uint64_t> lengths(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    lengths[r] = r;
  BufferId x = b.ragged("x", BufferRole::In, lengths);
  BufferId y = b.capacity("y", BufferRole::Out, 16, std::vector<uint64_t>(ranks, 16));
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.raggedBlock(x, r)}, {b.raggedBlock(y, r)});
    ringSteps(b, r, y, true);
    for (uint32_t i = 0; i < ranks; ++i)
      b.ensure(r, b.raggedBlock(y, i), i, b.raggedBlock(x, i));
  }
  return b;
}

ScheduleBuilder recursiveDoublingAllreduce(uint32_t ranks, Reduction reduction) {
  ScheduleBuilder b(ranks);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  uint32_t rest = ranks - std::bit_floor(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
    foldIn(b, r, rest, b.blockOf(y, 0), reduction);
    exchange(b, r, rest, b.blockOf(y, 0), reduction);
    foldOut(b, r, rest, b.blockOf(y, 0));
    b.ensureReduceAll(r, b.blockOf(y, 0), b.blockOf(x, 0), reduction);
  }
  b.schedule().deterministic = true;
  return b;
}

ScheduleBuilder ringAllreduce(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  BufferId x = b.param("x", BufferRole::In, ranks), y = b.param("y", BufferRole::Out, ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.blocksOf(x, 0, ranks)}, {b.blocksOf(y, 0, ranks)});
    for (uint32_t k = 0; k + 1 < ranks; ++k) {
      b.send(r, {b.blockOf(y, (r + ranks - k) % ranks)}, (r + 1) % ranks);
      b.recvCombine(r, b.blockOf(y, (r + 2 * ranks - k - 1) % ranks), (r + ranks - 1) % ranks,
                    Side::Before);
    }
    for (uint32_t k = 0; k + 1 < ranks; ++k) {
      b.send(r, {b.blockOf(y, (r + 1 + ranks - k) % ranks)}, (r + 1) % ranks);
      b.recv(r, {b.blockOf(y, (r + ranks - k) % ranks)}, (r + ranks - 1) % ranks);
    }
    b.ensureReduceAll(r, b.blocksOf(y, 0, ranks), b.blocksOf(x, 0, ranks));
  }
  b.schedule().deterministic = true;
  return b;
}

ScheduleBuilder disseminationBarrier(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    Deps before;
    for (uint32_t distance = 1; distance < ranks; distance *= 2) {
      b.signal(r, (r + distance) % ranks, before);
      before.push_back(requires_(b.wait(r, (r + ranks - distance) % ranks)));
    }
  }
  b.schedule().synchronizes = true;
  return b;
}

ScheduleBuilder chainReduce(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  for (uint32_t r = 0; r < ranks; ++r) {
    Slice acc = b.blockOf(b.temp(r, "acc"), 0);
    b.copy(r, {b.blockOf(x, 0)}, {acc});
    if (r > 0)
      b.recvCombine(r, acc, r - 1, Side::Before, Reduction::MatMul);
    b.send(r, {acc}, r + 1 < ranks ? r + 1 : 0);
  }
  b.recv(0, {b.blockOf(y, 0)}, ranks - 1);
  b.ensureReduceAll(0, b.blockOf(y, 0), b.blockOf(x, 0), Reduction::MatMul);
  return b;
}

ScheduleBuilder pairwiseAlltoall(uint32_t ranks, uint64_t n) {
  ScheduleBuilder b(ranks, n);
  BufferId x = b.param("x", BufferRole::In, ranks), y = b.param("y", BufferRole::Out, ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.blockOf(x, r)}, {b.blockOf(y, r)});
    for (uint32_t k = 1; k < ranks; ++k) {
      b.send(r, {b.blockOf(x, (r + k) % ranks)}, (r + k) % ranks);
      b.recv(r, {b.blockOf(y, (r + ranks - k) % ranks)}, (r + ranks - k) % ranks);
    }
    for (uint32_t i = 0; i < ranks; ++i)
      b.ensure(r, b.blockOf(y, i), i, b.blockOf(x, r));
  }
  return b;
}

ScheduleBuilder bruckAllgather(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out, ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    b.copy(r, {b.blockOf(x, 0)}, {b.blockOf(y, r)});
    for (uint32_t have = 1; have < ranks; have *= 2) {
      Slices mine, theirs;
      for (uint32_t i = 0; i < std::min(have, ranks - have); ++i) {
        mine.push_back(b.blockOf(y, (r + i) % ranks));
        theirs.push_back(b.blockOf(y, (r + have + i) % ranks));
      }
      b.send(r, mine, (r + ranks - have) % ranks);
      b.recv(r, theirs, (r + have) % ranks);
    }
  }
  ensureGathered(b, x, y);
  return b;
}

} // namespace colldsl::test
