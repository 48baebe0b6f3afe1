#include "executor/RemoteExchange.h"

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

std::vector<EdgeSpec> RemoteExchange::seal(std::vector<End> &ends) const {
  std::vector<EdgeSpec> edges;
  for (End &end : ends) {
    end.payload = {end.pieces.data(), static_cast<uint32_t>(end.pieces.size())};
    end.payload.bytes = bytesOf(end.pieces);
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
