#include "executor/RemoteExchange.h"

#include "transports/Pieces.h"

#include <algorithm>

namespace colldsl {
namespace {

protocol::RankGroup numbered(protocol::RankGroup group, uint32_t stream, const uint32_t &run) {
  group.runs = {stream, &run};
  return group;
}

} // namespace

RemoteExchange::RemoteExchange(protocol::RemoteWorker &worker, protocol::RankGroup group,
                               uint32_t stream, bool keepsMemory)
    : keepsMemory_(keepsMemory),
      endpoint_(worker, numbered(std::move(group), stream, run_), nullptr) {}

void RemoteExchange::add(std::vector<End> &ends, Rank peer, std::span<const iovec> pieces) {
  auto at = std::find_if(ends.begin(), ends.end(), [&](const End &e) { return e.peer == peer; });
  if (at == ends.end())
    at = ends.insert(ends.end(), End{peer, {}, {}});
  for (const iovec &piece : pieces)
    appendPiece(at->pieces, piece);
}

void RemoteExchange::shift(std::vector<End> &ends, ptrdiff_t distance,
                           const std::function<bool(const void *)> &stays) {
  for (End &end : ends)
    for (iovec &piece : end.pieces)
      if (!stays(piece.iov_base))
        piece.iov_base = static_cast<std::byte *>(piece.iov_base) + distance;
}

void RemoteExchange::shift(ptrdiff_t sent, ptrdiff_t received,
                           const std::function<bool(const void *)> &stays) {
  shift(sends_, sent, stays);
  shift(recvs_, received, stays);
}

std::vector<EdgeSpec> RemoteExchange::seal(std::vector<End> &ends) const {
  std::vector<EdgeSpec> edges;
  for (End &end : ends) {
    end.payload = {end.pieces.data(), static_cast<uint32_t>(end.pieces.size())};
    for (const iovec &piece : end.pieces)
      end.payload.bytes += piece.iov_len;
    Transfer way{.protocol = keepsMemory_ ? Protocol::Static : Protocol::Any};
    edges.push_back({end.peer, {MessageId{0}}, {way}});
  }
  return edges;
}

Status RemoteExchange::open() {
  std::vector<EdgeSpec> out = seal(sends_), in = seal(recvs_);
  OpenRequest request{out, in};
  request.isIndependent = true;
  Result<std::unique_ptr<Channels>> opened = endpoint_.open(request);
  if (!opened)
    return opened.status();
  channels_ = opened.take();
  return {};
}

// Ops are numbered, receives first.
void RemoteExchange::start(uint32_t number) {
  run_ = number;
  channels_->start();
  outstanding_ = 0;
  for (uint32_t i = 0; i < recvs_.size(); ++i)
    outstanding_ += channels_->recv({i, 0}, OpId{i}, recvs_[i].payload) == Posted::Pending;
  auto first = static_cast<uint32_t>(recvs_.size());
  for (uint32_t i = 0; i < sends_.size(); ++i)
    outstanding_ += channels_->send({i, 0}, OpId{first + i}, sends_[i].payload) == Posted::Pending;
}

bool RemoteExchange::progress() {
  if (isDone())
    return false;
  size_t done = channels_->poll().size();
  outstanding_ -= done;
  return done != 0;
}

// Failed channels cannot be used again; opening new ones waits for no other rank.
Status RemoteExchange::finish() {
  if (!channels_->failed())
    return {};
  Status failed = Status::error(channels_->fault().kind, channels_->fault().reason);
  Status s = open();
  return s ? failed : s;
}

void RemoteExchange::cancel() {
  if (outstanding_ == 0)
    return;
  outstanding_ = 0;
  channels_->cancel();
  (void)open(); // else cancelled channels stay: a later run detects that its peer is lost
}

} // namespace colldsl
