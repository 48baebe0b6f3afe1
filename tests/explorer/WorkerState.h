/// The state of the protocol on one rank, as far as anything later depends on it: all that
/// RemoteWorker, its connections and the channels of its plans hold.
///
/// What only names something is named by what it stands for, so that the order in which the names
/// were given does not matter: RTRs by their receives. Sequence numbers are left out, as frames
/// of one peer arrive in their order.
#pragma once

#include "protocol/remote/RemoteChannels.h"
#include "tests/explorer/StateWords.h"

#include <functional>

namespace colldsl::test {

/// The worker of a rank; null: the rank has left.
using WorkerOf = std::function<const protocol::RemoteWorker *(Rank)>;

/// Appends the state of the worker.
void describe(StateWords &words, const protocol::RemoteWorker &worker, const WorkerOf &workerOf);
/// Appends the state of the channels, which are open, or wait while they close.
void describe(StateWords &words, const protocol::RemoteChannels &channels);
/// The peer that a cancel of these channels waits for: the first one whose requests are not
/// cancelled. kNoRank: none.
Rank awaitedBy(const protocol::RemoteWorker &worker, const protocol::RemoteChannels &channels);
/// Whether reads or writes are to begin.
bool hasRmas(const protocol::RemoteWorker &worker);
/// Appends a frame from one rank to another.
void describeFrame(StateWords &words, std::span<const std::byte> frame,
                   const protocol::RemoteWorker *from);
/// Appends what the RTR id of this worker stands for.
void describeRtrId(StateWords &words, const protocol::RemoteWorker *worker, uint32_t rtrId);
/// Appends which read or write this is, of those of its rank.
void describeRma(StateWords &words, const network::RmaOperation &rma);

} // namespace colldsl::test
