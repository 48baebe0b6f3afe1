#include "tests/explorer/ScriptedTransport.h"

#include <algorithm>
#include <cstring>
#include <llvm/Support/xxhash.h>

namespace colldsl::test {

using network::Access;
using network::Frame;
using network::Peer;
using network::PostResult;
using network::Region;
using network::RmaSpec;

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
  inboxes_[to].push_back({Event::Kind::Frame, std::move(sent.bytes)});
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
  Rma &rma = rmas_[index];
  rma.hasMoved = true;
  rma.hasFailed = isDead_[rma.target] || !copy(rma);
  hasMissed_ |= rma.hasFailed && !isDead_[rma.target] && !isDead_[rma.origin];
  rma.isNotified = !rma.writes || rma.hasFailed;
  rma.isFinished = isDead_[rma.origin];
  dropOver();
}

void ScriptedNetwork::notify(size_t index) {
  Rma &rma = rmas_[index];
  rma.isNotified = true;
  if (!rma.spec.isSilent)
    inboxes_[rma.target].push_back({Event::Kind::RemoteWrite, {}, nullptr, rma.spec.immediate});
  dropOver();
}

void ScriptedNetwork::finish(size_t index) {
  Rma &rma = rmas_[index];
  rma.isFinished = true;
  auto kind = rma.hasFailed ? Event::Kind::Failed : Event::Kind::RmaDone;
  inboxes_[rma.origin].push_back({kind, {}, rma.operation, rma.number});
  dropOver();
}

void ScriptedNetwork::dropOver() {
  std::erase_if(rmas_, [](const Rma &rma) { return rma.isNotified && rma.isFinished; });
}

const ScriptedNetwork::Memory *ScriptedNetwork::find(uint32_t rank, uint64_t key,
                                                     Access access) const {
  auto found = registered_[rank].find(key);
  return found != registered_[rank].end() && found->second.access == access ? &found->second
                                                                            : nullptr;
}

// False: memory of one end is not registered.
bool ScriptedNetwork::copy(Rma &rma) {
  const RmaSpec &spec = rma.spec;
  const Memory *there =
      find(rma.target, spec.key, rma.writes ? Access::RemoteWrite : Access::RemoteRead);
  for (uint32_t i = 0; i < spec.count; ++i)
    if (!find(rma.origin, reinterpret_cast<uint64_t>(spec.descriptors[i]),
              rma.writes ? Access::Write : Access::Read))
      return false;
  if (!there)
    return false;
  uint64_t at = spec.address; // of one piece, as the remote iovs are
  for (uint32_t i = 0; i < spec.count; ++i) {
    auto *here = static_cast<std::byte *>(spec.pieces[i].iov_base);
    uint64_t bytes = spec.pieces[i].iov_len;
    onTouch_(rma.origin, here, bytes, !rma.writes);
    onTouch_(rma.target, there->begin + at, bytes, rma.writes);
    std::memcpy(rma.writes ? there->begin + at : here, rma.writes ? here : there->begin + at,
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
  for (Rma &rma : rmas_)
    if (rma.origin == rank) {
      rma.isNotified |= !rma.hasMoved;
      rma.isFinished = rma.hasMoved = true;
    }
  dropOver();
}

void ScriptedNetwork::kill(uint32_t rank) {
  isDead_[rank] = true;
  dropTo(rank);
  for (Rma &rma : rmas_) {
    if (rma.target == rank)
      rma.isNotified |= rma.hasMoved;
    if (rma.origin == rank)
      rma.isFinished |= rma.hasMoved;
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
  inboxes_[rank].push_back({Event::Kind::Lost, {}, nullptr, dead});
}

void ScriptedNetwork::note(uint32_t rank, const Event &event) {
  Digest &history = histories_[rank];
  history.addValue(event.kind);
  history.addValue(event.number);
  history.add(event.bytes.data(), event.bytes.size());
}

void ScriptedNetwork::describeHistories(StateWords &words) const {
  for (const Digest &history : histories_) {
    words.add(history.low);
    words.add(history.high);
  }
}

void ScriptedNetwork::describe(StateWords &words, const Event &event, uint32_t to,
                               const WorkerOf &workerOf) const {
  words.add(event.kind);
  switch (event.kind) {
  case Event::Kind::Frame: {
    network::Header header;
    std::memcpy(&header, event.bytes.data(), sizeof header);
    words.add(header.from);
    return describeFrame(words, event.bytes, workerOf(header.from));
  }
  case Event::Kind::RmaDone:
  case Event::Kind::Failed:
    return describeRma(words, *event.rma);
  case Event::Kind::RemoteWrite:
    return describeRtrId(words, workerOf(Rank{to}), event.number);
  case Event::Kind::Lost:
    return words.add(event.number);
  }
}

void ScriptedNetwork::describe(StateWords &words, const Rma &rma, const WorkerOf &workerOf) const {
  for (uint32_t part :
       {rma.origin, rma.target, uint32_t{rma.writes}, uint32_t{rma.hasMoved},
        uint32_t{rma.hasFailed}, uint32_t{rma.isNotified}, uint32_t{rma.isFinished}})
    words.add(part);
  words.add(rma.id);
  words.add(rma.spec.key);
  words.add(rma.spec.address);
  words.add(rma.spec.isSilent);
  for (uint32_t i = 0; i < rma.spec.count; ++i)
    words.add(reinterpret_cast<uint64_t>(rma.spec.descriptors[i]));
  if (rma.writes && !rma.isNotified)
    describeRtrId(words, workerOf(Rank{rma.target}), rma.spec.immediate);
}

// The order of reads and writes does not matter, nor that of frames that have arrived.
void ScriptedNetwork::describe(StateWords &words, const WorkerOf &workerOf) const {
  for (uint32_t rank = 0; rank < kMaxRanks; ++rank) {
    words.add(inboxes_[rank].size());
    for (const Event &event : inboxes_[rank])
      describe(words, event, rank, workerOf);
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
  std::vector<StateWords> rmas;
  for (const Rma &rma : rmas_)
    describe(rmas.emplace_back(), rma, workerOf);
  words.addUnordered(std::move(rmas));
}

ScriptedTransport::ScriptedTransport(ScriptedNetwork &network, uint32_t self)
    : network_(network), self_(self) {
  capabilities_.name = "scripted";
  capabilities_.hasRma = true;
  capabilities_.needsLocalRegistration = true;
  capabilities_.inOrderBytes = UINT64_MAX; // all bytes of a write move in one step
  capabilities_.isWatched = false;
}

Status ScriptedTransport::start(network::TransportHandler &handler, const network::Owner &) {
  handler_ = &handler;
  return {};
}

Status ScriptedTransport::reach(Peer &peer, const network::RankAddress &) {
  peers_[index(peer.rank)] = &peer;
  network_.isReached_[self_][index(peer.rank)] = true;
  return {};
}

PostResult ScriptedTransport::send(Peer &to, Frame &frame) {
  uint32_t rank = index(to.rank);
  if (network_.isDead_[rank] || network_.hasLeft_[rank])
    network_.taken_[self_].push_back(&frame);
  else
    network_.wires_[self_][rank].push_back({&frame, {frame.data, frame.data + frame.bytes}});
  return PostResult::Ok;
}

PostResult ScriptedTransport::begin(network::RmaOperation &operation, const RmaSpec &spec,
                                    bool writes) {
  if (!network_.accepts_[self_]) {
    network_.hasRefused_[self_] = true;
    return PostResult::NoResource;
  }
  ScriptedNetwork::Rma &rma = network_.rmas_.emplace_back();
  rma.number = ++network_.lastRma_[self_];
  rma.origin = self_;
  rma.target = index(operation.peer->rank);
  rma.writes = writes;
  rma.operation = &operation;
  rma.id = static_cast<protocol::RemoteRma &>(operation).id;
  rma.spec = spec;
  return PostResult::Ok;
}

Result<Region> ScriptedTransport::registerMemory(std::span<const iovec> pieces, Access access) {
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

bool ScriptedTransport::isIdle(const Peer &peer) const {
  uint32_t to = index(peer.rank);
  return network_.wires_[self_][to].size() == network_.arrived_[self_][to];
}

bool ScriptedTransport::poll() {
  auto &inbox = network_.inboxes_[self_];
  auto &taken = network_.taken_[self_];
  bool moved = !taken.empty();
  for (Frame *frame : std::exchange(taken, {}))
    handler_->onDone(*frame);
  for (; !inbox.empty(); moved = true) {
    ScriptedNetwork::Event event = std::move(inbox.front());
    inbox.pop_front();
    network_.note(self_, event);
    deliver(event);
  }
  return moved;
}

void ScriptedTransport::deliver(const ScriptedNetwork::Event &event) {
  using Kind = ScriptedNetwork::Event::Kind;
  switch (event.kind) {
  case Kind::Frame:
    return handler_->onBytes(event.bytes);
  case Kind::RmaDone:
    return handler_->onDone(*event.rma);
  case Kind::Failed:
    return handler_->onFailed(*event.rma, "memory that is not registered");
  case Kind::RemoteWrite:
    return handler_->onRemoteWrite(event.number);
  case Kind::Lost:
    if (Peer *peer = peers_[event.number])
      handler_->onLost(*peer, "it is dead");
    return;
  }
}

} // namespace colldsl::test
