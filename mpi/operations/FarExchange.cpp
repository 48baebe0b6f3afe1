#include "mpi/operations/FarExchange.h"

#include "mpi/comm/ServedComm.h"
#include "mpi/remote/RemoteRanks.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mpi {

FarExchange::FarExchange(ServedComm &comm, bool sendsSame, uint32_t stream)
    : worker_(comm.job().remote()->worker()), group_{comm.contexts().own().number,
                                                     *comm.ranks().members(),
                                                     Rank{static_cast<uint32_t>(
                                                         comm.ranks().self())}},
      stream_(stream), sendsSame_(sendsSame), hasStaticBuffers_(comm.hints().hasStaticBuffers()),
      graph_(comm.topology().graph()) {}

Result<std::unique_ptr<FarExchange>> FarExchange::make(ServedComm &comm, bool sendsSame,
                                                       uint32_t stream, NeighborGraph::Way way) {
  auto number = RemoteRanks::streamOf(stream, comm.contexts().own().owner, comm.job().numRanks());
  if (!number)
    return Status::error("the communicator has too many persistent calls");
  std::unique_ptr<FarExchange> made(new FarExchange(comm, sendsSame, *number));
  if (made->graph_)
    made->plans_ =
        stream == 0 ? comm.runs().plans() : comm.runs().plansOf(*contextOfRelays(comm, stream));
  if (way)
    made->use(std::move(way));
  return made;
}

std::optional<Job::Context> FarExchange::contextOfRelays(ServedComm &comm, uint32_t stream) {
  Job::Context own = comm.contexts().own();
  auto number = RemoteRanks::streamOf(stream, own.owner, comm.job().numRanks());
  if (!number || !comm.topology().graph())
    return std::nullopt;
  return Job::Context{*number, own.number};
}

void FarExchange::add(std::vector<FarMessage> &messages, int peer, std::span<const iovec> pieces) {
  Rank rank{static_cast<uint32_t>(peer)};
  if (messages.empty() || messages.back().peer != rank)
    messages.push_back({rank, {}, 0});
  for (const iovec &piece : pieces) {
    appendPiece(messages.back().pieces, piece);
    messages.back().bytes += piece.iov_len;
  }
}

// The messages in the order in which they are sent.
std::vector<const FarMessage *> FarExchange::inRounds() const {
  std::vector<const FarMessage *> messages;
  for (const FarMessage &message : out_)
    messages.push_back(&message);
  if (!way_ || way_->round.empty())
    return messages;
  auto roundOf = [&](const FarMessage *message) {
    auto at = std::lower_bound(way_->to.begin(), way_->to.end(), index(message->peer));
    return way_->round[static_cast<size_t>(at - way_->to.begin())];
  };
  std::sort(messages.begin(), messages.end(),
            [&](auto *a, auto *b) { return roundOf(a) < roundOf(b); });
  return messages;
}

Status FarExchange::route() {
  isRouted_ = false;
  keepsMemory_ = *hasStaticBuffers_;
  straight_ = std::make_unique<RemoteExchange>(worker_, group_, stream_, keepsMemory_);
  for (const FarMessage *message : inRounds())
    if (goesStraight(*message))
      straight_->send(message->peer, message->pieces);
  for (const FarMessage &message : in_)
    if (goesStraight(message))
      straight_->recv(message.peer, message.pieces);
  Status s = straight_->open();
  isRouted_ = s.ok();
  return s;
}

// The way of all messages changes between two runs, on all ranks.
void FarExchange::use(NeighborGraph::Way way) {
  graph_ = nullptr;
  way_ = std::move(way);
  if (way_ && way_->capacityBytes > 0)
    relayed_ = std::make_unique<RelayedExchange>(plans_, way_, sendsSame_);
  isRouted_ = isRouted_ && !way_;
}

void FarExchange::shift(ptrdiff_t sent, ptrdiff_t received,
                        const std::function<bool(const void *)> &stays) {
  straight_->shift(sent, received, stays);
  for (auto [messages, by] : {std::pair(&out_, sent), std::pair(&in_, received)})
    for (FarMessage &message : *messages)
      for (iovec &piece : message.pieces)
        if (!stays(piece.iov_base))
          piece.iov_base = static_cast<std::byte *>(piece.iov_base) + by;
}

void FarExchange::start(uint32_t number) {
  begun_ = {};
  if (graph_ && graph_->isDue(number)) [[unlikely]]
    use(graph_->exchange(sendsSame_));
  if (!isRouted_ || keepsMemory_ != *hasStaticBuffers_) [[unlikely]]
    begun_ = route();
  if (relayed_)
    begun_ = begun_ ? relayed_->start(number, out_) : relayed_->refuse(number, begun_);
  if (begun_)
    straight_->start(number);
}

bool FarExchange::isDone() const {
  return !begun_ || (straight_->isDone() && (!relayed_ || relayed_->isDone()));
}

bool FarExchange::progress() {
  bool moved = straight_->progress();
  return (relayed_ && relayed_->progress()) || moved;
}

// A relayed message may have a wrong length; the straight messages are finished all the same.
Status FarExchange::finish() {
  if (!begun_)
    return begun_;
  Status relayed = relayed_ ? relayed_->finish(in_) : Status();
  Status straight = straight_->finish();
  return relayed ? straight : relayed;
}

void FarExchange::cancel() {
  if (relayed_)
    relayed_->cancel();
  straight_->cancel();
}

} // namespace colldsl::mpi
