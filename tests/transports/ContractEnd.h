/// One end of an edge, for the tests of what transports promise.
#pragma once

#include "tests/transports/Contract.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace colldsl::test {

/// One end of an edge with messages of several sizes: posts them, polls until all are done.
class End {
public:
  End(Endpoint &endpoint, std::vector<uint64_t> sizes)
      : self_(endpoint.rank()), sizes_(std::move(sizes)) {}

  std::string open(Endpoint &endpoint, const std::vector<Rank> &to, const std::vector<Rank> &from) {
    for (Rank r : to)
      out_.push_back({r, ids(numMessages())});
    for (Rank r : from)
      in_.push_back({r, ids(numMessages())});
    auto opened = endpoint.open({out_, in_});
    if (!opened)
      return opened.message();
    channels_ = opened.take();
    uint64_t most = *std::max_element(sizes_.begin(), sizes_.end());
    return channels_->prepare({most}) ? "" : "no room";
  }

  /// The edge from rank 0 to rank 1, of two.
  std::string openOneWay(Endpoint &endpoint) {
    std::vector<Rank> peer{neighborOf(endpoint, 1)}, none;
    return sends() ? open(endpoint, peer, none) : open(endpoint, none, peer);
  }
  bool sends() const { return self_ == Rank{0}; }

  /// A run of all messages of that edge.
  std::string runOneWay(uint32_t run) {
    begin(run);
    for (uint32_t m = 0; m < numMessages(); ++m)
      sends() ? send(0, m) : recv(0, m);
    return finish();
  }

  uint32_t numMessages() const { return static_cast<uint32_t>(sizes_.size()); }
  Channels &channels() { return *channels_; }

  // Ops are numbered: sends of edge e from e * n on, receives behind them.
  void begin(uint32_t run) {
    run_ = run;
    pending_ = 0;
    done_.clear();
    sends_.clear();
    recvs_.clear();
    channels_->start();
    for (size_t e = 0; e < out_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        sends_.emplace_back(pattern(self_, run, m, sizes_[m]));
    for (size_t e = 0; e < in_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        recvs_.emplace_back(std::vector<std::byte>(sizes_[m], std::byte{0xee}));
  }

  void send(uint32_t e, uint32_t m) {
    uint32_t op = e * numMessages() + m;
    note(channels_->send({e, m}, OpId{op}, sends_[op].payload));
  }
  void recv(uint32_t e, uint32_t m) {
    uint32_t i = e * numMessages() + m;
    auto op = static_cast<uint32_t>(sends_.size()) + i;
    note(channels_->recv({e, m}, OpId{op}, recvs_[i].payload));
  }

  // The same at once, if that can be.
  void sendSoon(uint32_t e, uint32_t m) {
    if (!channels_->sendNow({e, m}, sends_[e * numMessages() + m].payload))
      send(e, m);
  }
  void recvSoon(uint32_t e, uint32_t m) {
    for (int look = 0; look < 100; ++look)
      if (channels_->recvNow({e, m}, recvs_[e * numMessages() + m].payload))
        return;
    recv(e, m);
  }

  // Of what is sent.
  void useMemoryAgain() {
    for (Message &message : sends_)
      std::fill(message.data.begin(), message.data.end(), std::byte{0xdd});
  }

  // Whether some of it came here.
  std::string findReused() const {
    for (const Message &message : recvs_)
      if (std::count(message.data.begin(), message.data.end(), std::byte{0xdd}) * 2 >
          static_cast<ptrdiff_t>(message.data.size()))
        return "got bytes of memory that was used again";
    return "";
  }

  // So many completions were seen elsewhere.
  void forget(size_t completions) { pending_ -= completions; }

  void look() {
    auto now = channels_->poll();
    done_.insert(done_.end(), now.begin(), now.end());
  }

  std::string finish(const std::function<void()> &meanwhile = [] {}) {
    auto isOver = [&] {
      meanwhile();
      return done_.size() >= pending_;
    };
    if (!pollUntil(*channels_, done_, isOver))
      return channels_->failed() ? channels_->fault().reason : "not finished in time";
    if (done_.size() != pending_)
      return "more completions than messages";
    for (size_t e = 0; e < in_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        if (recvs_[e * numMessages() + m].data != pattern(in_[e].peer, run_, m, sizes_[m]))
          return "wrong bytes in message " + std::to_string(m) + " of run " + std::to_string(run_);
    return "";
  }

private:
  void note(Posted posted) { pending_ += posted == Posted::Pending ? 1 : 0; }

  Rank self_;
  std::vector<uint64_t> sizes_;
  std::vector<EdgeSpec> out_, in_;
  std::unique_ptr<Channels> channels_;
  uint32_t run_ = 0;
  size_t pending_ = 0;
  std::deque<Message> sends_, recvs_;
  std::vector<Completion> done_;
};

} // namespace colldsl::test
