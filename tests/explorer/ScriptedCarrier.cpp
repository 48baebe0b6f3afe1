#include "tests/explorer/ScriptedCarrier.h"

#include <algorithm>
#include <cstring>
#include <llvm/Support/xxhash.h>

namespace colldsl::test {

using network::Access;
using network::Frame;
using network::MoveSpec;
using network::Peer;
using network::PostResult;
using network::Region;

void Digest::add(const void *bytes, size_t count) {
  llvm::ArrayRef<uint8_t> added(static_cast<const uint8_t *>(bytes), count);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(added);
  uint64_t together[] = {low, high, hash.low64, hash.high64, count};
  llvm::XXH128_hash_t next = llvm::xxh3_128bits(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(together), sizeof together));
  low = next.low64;
  high = next.high64;
}

/// Ends with its region.
struct ScriptedNetwork::Registration : Region::Registration {
  Registration(ScriptedNetwork &ofNetwork, uint32_t ofRank, uint64_t itsKey)
      : network(ofNetwork), rank(ofRank) {
    key = itsKey;
    descriptor = reinterpret_cast<void *>(itsKey);
  }
  ~Registration() override { network.registered_[rank].erase(key); }
  ScriptedNetwork &network;
  uint32_t rank;
};

void ScriptedNetwork::arrive(uint32_t from, uint32_t to) {
  Sent &sent = wires_[from][to].front();
  inboxes_[to].push_back({News::Kind::Frame, std::move(sent.bytes)});
  if (sent.frame)
    taken_[from].push_back(sent.frame);
  wires_[from][to].pop_front();
  arrived_[from][to] -= arrived_[from][to] != 0;
}

void ScriptedNetwork::arriveLater() {
  for (uint32_t from = 0; from < kMaxRanks; ++from)
    for (uint32_t to = 0; to < kMaxRanks; ++to)
      for (Sent &sent : wires_[from][to]) {
        taken_[from].push_back(std::exchange(sent.frame, nullptr));
        ++arrived_[from][to];
      }
}

void ScriptedNetwork::arriveNow(uint32_t to) {
  for (uint32_t from = 0; from < kMaxRanks; ++from)
    while (arrived_[from][to] != 0)
      arrive(from, to);
}

// The memory of the dead is gone.
void ScriptedNetwork::moveBytes(size_t index) {
  Move &move = moves_[index];
  move.hasMoved = true;
  move.hasFailed = isDead_[move.target] || !copy(move);
  hasMissed_ |= move.hasFailed && !isDead_[move.target] && !isDead_[move.origin];
  move.isNotified = !move.writes || move.hasFailed;
  move.isFinished = isDead_[move.origin];
  dropOver();
}

void ScriptedNetwork::notify(size_t index) {
  Move &move = moves_[index];
  move.isNotified = true;
  inboxes_[move.target].push_back({News::Kind::Written, {}, nullptr, move.spec.ticket});
  dropOver();
}

void ScriptedNetwork::finish(size_t index) {
  Move &move = moves_[index];
  move.isFinished = true;
  auto kind = move.hasFailed ? News::Kind::Failed : News::Kind::Moved;
  inboxes_[move.origin].push_back({kind, {}, move.operation, move.number});
  dropOver();
}

void ScriptedNetwork::dropOver() {
  std::erase_if(moves_, [](const Move &move) { return move.isNotified && move.isFinished; });
}

const ScriptedNetwork::Memory *ScriptedNetwork::find(uint32_t rank, uint64_t key,
                                                     Access access) const {
  auto found = registered_[rank].find(key);
  return found != registered_[rank].end() && found->second.access == access ? &found->second
                                                                            : nullptr;
}

// False: memory of one end is not registered.
bool ScriptedNetwork::copy(Move &move) {
  const MoveSpec &spec = move.spec;
  const Memory *there =
      find(move.target, spec.key, move.writes ? Access::RemoteWrite : Access::RemoteRead);
  for (uint32_t i = 0; i < spec.count; ++i)
    if (!find(move.origin, reinterpret_cast<uint64_t>(spec.descriptors[i]),
              move.writes ? Access::Write : Access::Read))
      return false;
  if (!there)
    return false;
  uint64_t at = spec.address; // of one piece, as the remote iovs are
  for (uint32_t i = 0; i < spec.count; ++i) {
    auto *here = static_cast<std::byte *>(spec.pieces[i].iov_base);
    uint64_t bytes = spec.pieces[i].iov_len;
    onTouch_(move.origin, here, bytes, !move.writes);
    onTouch_(move.target, there->begin + at, bytes, move.writes);
    std::memcpy(move.writes ? there->begin + at : here, move.writes ? here : there->begin + at,
                bytes);
    at += bytes;
  }
  return true;
}

void ScriptedNetwork::dropTo(uint32_t rank) {
  inboxes_[rank].clear();
  for (uint32_t from = 0; from < kMaxRanks; ++from) {
    for (const Sent &sent : wires_[from][rank])
      if (sent.frame)
        taken_[from].push_back(sent.frame);
    wires_[from][rank].clear();
    arrived_[from][rank] = 0;
  }
}

// Its frames and operations are gone with it.
void ScriptedNetwork::leave(uint32_t rank) {
  hasLeft_[rank] = true;
  dropTo(rank);
  taken_[rank].clear();
  for (auto &wire : wires_[rank])
    for (Sent &sent : wire)
      sent.frame = nullptr;
  for (Move &move : moves_)
    if (move.origin == rank) {
      move.isNotified |= !move.hasMoved;
      move.isFinished = move.hasMoved = true;
    }
  dropOver();
}

void ScriptedNetwork::kill(uint32_t rank) {
  isDead_[rank] = true;
  dropTo(rank);
  for (Move &move : moves_) {
    if (move.target == rank)
      move.isNotified |= move.hasMoved;
    if (move.origin == rank)
      move.isFinished |= move.hasMoved;
  }
  dropOver();
}

// What the dead one had sent before is taken first.
bool ScriptedNetwork::mayLose(uint32_t rank, uint32_t dead) const {
  return isReached_[rank][dead] && isDead_[dead] && !isDead_[rank] && !isLost_[rank][dead] &&
         wires_[dead][rank].empty();
}

void ScriptedNetwork::lose(uint32_t rank, uint32_t dead) {
  isLost_[rank][dead] = true;
  inboxes_[rank].push_back({News::Kind::Lost, {}, nullptr, dead});
}

void ScriptedNetwork::note(uint32_t rank, const News &news) {
  Digest &history = histories_[rank];
  history.addValue(news.kind);
  history.addValue(news.number);
  history.add(news.bytes.data(), news.bytes.size());
}

void ScriptedNetwork::describeHistories(StateWords &words) const {
  for (const Digest &history : histories_) {
    words.add(history.low);
    words.add(history.high);
  }
}

void ScriptedNetwork::describe(StateWords &words, const News &news, uint32_t to,
                               const WorkerOf &workerOf) const {
  words.add(news.kind);
  switch (news.kind) {
  case News::Kind::Frame: {
    network::Header header;
    std::memcpy(&header, news.bytes.data(), sizeof header);
    words.add(header.from);
    return describeFrame(words, news.bytes, workerOf(header.from));
  }
  case News::Kind::Moved:
  case News::Kind::Failed:
    return describeMove(words, *news.move);
  case News::Kind::Written:
    return describeTicket(words, workerOf(Rank{to}), news.number);
  case News::Kind::Lost:
    return words.add(news.number);
  }
}

void ScriptedNetwork::describe(StateWords &words, const Move &move,
                               const WorkerOf &workerOf) const {
  for (uint32_t part :
       {move.origin, move.target, uint32_t{move.writes}, uint32_t{move.hasMoved},
        uint32_t{move.hasFailed}, uint32_t{move.isNotified}, uint32_t{move.isFinished}})
    words.add(part);
  words.add(move.id);
  words.add(move.spec.key);
  words.add(move.spec.address);
  for (uint32_t i = 0; i < move.spec.count; ++i)
    words.add(reinterpret_cast<uint64_t>(move.spec.descriptors[i]));
  if (move.writes && !move.isNotified)
    describeTicket(words, workerOf(Rank{move.target}), move.spec.ticket);
}

// The order of reads and writes does not matter, nor that of frames that have arrived.
void ScriptedNetwork::describe(StateWords &words, const WorkerOf &workerOf) const {
  for (uint32_t rank = 0; rank < kMaxRanks; ++rank) {
    words.add(inboxes_[rank].size());
    for (const News &news : inboxes_[rank])
      describe(words, news, rank, workerOf);
    std::vector<StateWords> taken;
    for (const Frame *frame : taken_[rank])
      taken.emplace_back().add(frame->peer->rank);
    words.addUnordered(std::move(taken));
    for (const auto &[key, memory] : registered_[rank])
      words.add(key);
    for (const auto &wire : wires_[rank]) {
      words.add(wire.size());
      for (const Sent &sent : wire) {
        words.add(sent.frame != nullptr);
        describeFrame(words, sent.bytes, workerOf(Rank{rank}));
      }
    }
    for (size_t arrived : arrived_[rank])
      words.add(arrived);
    words.add(hasRefused_[rank]);
    words.add(isDead_[rank]);
    words.add(hasLeft_[rank]);
    for (bool isLost : isLost_[rank])
      words.add(isLost);
  }
  std::vector<StateWords> moves;
  for (const Move &move : moves_)
    describe(moves.emplace_back(), move, workerOf);
  words.addUnordered(std::move(moves));
}

ScriptedCarrier::ScriptedCarrier(ScriptedNetwork &network, uint32_t self)
    : network_(network), self_(self) {
  capabilities_.name = "scripted";
  capabilities_.moves = true;
  capabilities_.local = true;
  capabilities_.isWatched = false;
}

Status ScriptedCarrier::start(network::CarrierReader &reader, const network::Owner &) {
  reader_ = &reader;
  return {};
}

Status ScriptedCarrier::reach(Peer &peer, const network::RankAddress &) {
  peers_[index(peer.rank)] = &peer;
  network_.isReached_[self_][index(peer.rank)] = true;
  return {};
}

PostResult ScriptedCarrier::send(Peer &to, Frame &frame) {
  uint32_t rank = index(to.rank);
  if (network_.isDead_[rank] || network_.hasLeft_[rank])
    network_.taken_[self_].push_back(&frame);
  else
    network_.wires_[self_][rank].push_back({&frame, {frame.data, frame.data + frame.bytes}});
  return PostResult::Ok;
}

PostResult ScriptedCarrier::begin(network::Move &operation, const MoveSpec &spec, bool writes) {
  if (!network_.accepts_[self_]) {
    network_.hasRefused_[self_] = true;
    return PostResult::NoResource;
  }
  ScriptedNetwork::Move &move = network_.moves_.emplace_back();
  move.number = ++network_.lastMove_[self_];
  move.origin = self_;
  move.target = index(operation.peer->rank);
  move.writes = writes;
  move.operation = &operation;
  move.id = static_cast<protocol::RemoteMove &>(operation).id;
  move.spec = spec;
  return PostResult::Ok;
}

Result<Region> ScriptedCarrier::registerMemory(std::span<const iovec> pieces, Access access) {
  if ((refused & maskOf(access)) != 0)
    return Status::error("no memory is registered for that");
  const iovec &memory = pieces.front();
  uint32_t place =
      network_.placeOf_ ? network_.placeOf_(self_, static_cast<std::byte *>(memory.iov_base)) : 0;
  uint64_t kind = uint64_t{place} << 8 | static_cast<uint64_t>(access);
  uint64_t key = kind << 32 | ++network_.lastKey_[self_][kind];
  auto made = std::make_unique<ScriptedNetwork::Registration>(network_, self_, key);
  if (access != Access::Send)
    network_.registered_[self_][key] = {static_cast<std::byte *>(memory.iov_base), memory.iov_len,
                                        access};
  return Region(std::move(made));
}

bool ScriptedCarrier::isIdle(const Peer &peer) const {
  uint32_t to = index(peer.rank);
  return network_.wires_[self_][to].size() == network_.arrived_[self_][to];
}

bool ScriptedCarrier::poll() {
  auto &inbox = network_.inboxes_[self_];
  auto &taken = network_.taken_[self_];
  bool moved = !taken.empty();
  for (Frame *frame : std::exchange(taken, {}))
    reader_->onDone(*frame);
  for (; !inbox.empty(); moved = true) {
    ScriptedNetwork::News news = std::move(inbox.front());
    inbox.pop_front();
    network_.note(self_, news);
    tell(news);
  }
  return moved;
}

void ScriptedCarrier::tell(const ScriptedNetwork::News &news) {
  using Kind = ScriptedNetwork::News::Kind;
  switch (news.kind) {
  case Kind::Frame:
    return reader_->onBytes(news.bytes);
  case Kind::Moved:
    return reader_->onDone(*news.move);
  case Kind::Failed:
    return reader_->onFailed(*news.move, "memory that is not registered");
  case Kind::Written:
    return reader_->onWritten(news.number);
  case Kind::Lost:
    if (Peer *peer = peers_[news.number])
      reader_->onLost(*peer, "it is dead");
    return;
  }
}

} // namespace colldsl::test
