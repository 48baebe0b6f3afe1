/// Collectives that hold what they promise, written out by hand.
#pragma once

#include "tests/verifier/ScheduleBuilder.h"

namespace colldsl::test {

ScheduleBuilder ringAllgather(uint32_t ranks, uint64_t n = 8);
/// x lies in y[rank].
ScheduleBuilder ringAllgatherInPlace(uint32_t ranks);
/// Rank r contributes r elements: the first rank none.
ScheduleBuilder raggedAllgather(uint32_t ranks);
/// The same with blocks whose lengths travel with the messages.
ScheduleBuilder capacityAllgather(uint32_t ranks);
ScheduleBuilder recursiveDoublingAllreduce(uint32_t ranks, Reduction reduction = Reduction::Sum);
/// Reduce-scatter around the ring, then allgather.
ScheduleBuilder ringAllreduce(uint32_t ranks);
ScheduleBuilder disseminationBarrier(uint32_t ranks);
ScheduleBuilder chainReduce(uint32_t ranks);
ScheduleBuilder pairwiseAlltoall(uint32_t ranks, uint64_t n = 8);
/// Sends lists of blocks through log2(ranks) rounds.
ScheduleBuilder bruckAllgather(uint32_t ranks);

} // namespace colldsl::test
