#include "mpi/FarEdges.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

const void *endOf(const iovec &piece) {
  return static_cast<const std::byte *>(piece.iov_base) + piece.iov_len;
}

} // namespace

void FarEdges::add(std::vector<End> &ends, Rank peer, std::span<const iovec> pieces) {
  auto at = std::find_if(ends.begin(), ends.end(), [&](const End &e) { return e.peer == peer; });
  if (at == ends.end())
    at = ends.insert(ends.end(), End{peer, {}, {}});
  for (const iovec &piece : pieces) {
    bool follows = !at->pieces.empty() && endOf(at->pieces.back()) == piece.iov_base;
    if (follows)
      at->pieces.back().iov_len += piece.iov_len;
    else if (piece.iov_len != 0)
      at->pieces.push_back(piece);
  }
}

void FarEdges::shift(std::vector<End> &ends, ptrdiff_t distance,
                     const std::function<bool(const void *)> &stays) {
  for (End &end : ends)
    for (iovec &piece : end.pieces)
      if (!stays(piece.iov_base))
        piece.iov_base = static_cast<std::byte *>(piece.iov_base) + distance;
}

void FarEdges::shift(ptrdiff_t sent, ptrdiff_t received,
                     const std::function<bool(const void *)> &stays) {
  shift(sends_, sent, stays);
  shift(recvs_, received, stays);
}

std::vector<EdgeSpec> FarEdges::seal(std::vector<End> &ends) {
  std::vector<EdgeSpec> edges;
  for (End &end : ends) {
    end.payload = {end.pieces.data(), static_cast<uint32_t>(end.pieces.size())};
    for (const iovec &piece : end.pieces)
      end.payload.bytes += piece.iov_len;
    edges.push_back({end.peer, {MessageId{0}}});
  }
  return edges;
}

Status FarEdges::open() {
  std::vector<EdgeSpec> out = seal(sends_), in = seal(recvs_);
  OpenRequest request{out, in};
  request.isIndependent = true;
  Result<std::unique_ptr<Channels>> opened = endpoint_.open(request);
  if (!opened)
    return opened.status();
  channels_ = opened.take();
  return {};
}

// Ops are numbered: receives first.
void FarEdges::start() {
  channels_->start();
  pending_ = 0;
  for (uint32_t i = 0; i < recvs_.size(); ++i)
    pending_ += channels_->recv({i, 0}, OpId{i}, recvs_[i].payload) == Posted::Pending;
  auto first = static_cast<uint32_t>(recvs_.size());
  for (uint32_t i = 0; i < sends_.size(); ++i)
    pending_ += channels_->send({i, 0}, OpId{first + i}, sends_[i].payload) == Posted::Pending;
}

bool FarEdges::progress() {
  if (isDone())
    return false;
  size_t done = channels_->poll().size();
  pending_ -= done;
  return done != 0;
}

// Channels that failed are of no use; new ones wait for nobody.
Status FarEdges::finish() {
  if (!channels_->failed())
    return {};
  Status failed = Status::error(channels_->fault().kind, channels_->fault().reason);
  Status s = open();
  return s ? failed : s;
}

void FarEdges::giveUp() {
  if (pending_ == 0)
    return;
  pending_ = 0;
  channels_.reset();
  (void)open();
}

} // namespace colldsl::mpi
