// What ranks tell each other of failures.
#include "transports/network/Failures.h"

#include "transports/network/NetworkChannels.h"

#include <algorithm>
#include <cstring>

namespace colldsl::network {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kEveryPlan = FailureBody::kEveryPlan;

} // namespace

FailureBody failureBody(uint32_t plan, Rank root, const Fault &fault) {
  FailureBody body = {};
  body.plan = plan;
  body.culprit = fault.peer;
  body.root = root;
  body.kind = fault.kind;
  std::copy_n(fault.reason.begin(), std::min(fault.reason.size(), sizeof body.reason - 1),
              body.reason);
  return body;
}

std::optional<FailureBody> readFailure(std::span<const std::byte> bytes) {
  FailureBody body;
  if (bytes.size() != sizeof body)
    return std::nullopt;
  std::memcpy(&body, bytes.data(), sizeof body);
  body.reason[sizeof body.reason - 1] = '\0';
  if (body.kind > ErrorKind::Overlap)
    return std::nullopt;
  return body;
}

// True: news. A plan that is closed here, or refused, has nobody to tell.
bool NetworkEndpoint::note(uint32_t plan, const Fault &fault) {
  Fault known{fault.peer, kNoOp, fault.reason, fault.kind}; // ops are numbered by each rank
  if (plan == kEveryPlan) {
    if (allFailed_)
      return false;
    allFailed_ = known;
    return true;
  }
  bool isClosed = static_cast<int32_t>(plan - opened_) < 0 && !plans_.count(plan);
  return isClosed || failed_.emplace(plan, known).second;
}

std::optional<Fault> NetworkEndpoint::failureOf(uint32_t plan) const {
  if (auto found = failed_.find(plan); found != failed_.end())
    return found->second;
  return allFailed_;
}

void NetworkEndpoint::report(uint32_t plan, const Fault &fault) {
  if (!note(plan, fault))
    return;
  FailureBody body = failureBody(plan, self_, fault);
  passDown(body, 0);
  passOn(body);
}

void NetworkEndpoint::tellFailure(Rank rank, const FailureBody &body) {
  if (Result<Peer *> peer = mail_->peer(rank))
    mail_->say(**peer, {.plan = body.plan, .kind = Kind::Failed}, body);
}

// To the peers of the plan, who tell theirs: they are reached though ranks of the tree are
// dead, or do not look.
void NetworkEndpoint::passOn(FailureBody body) {
  body.root = kNoRank;
  if (body.plan == kEveryPlan)
    return watch_->tell(body);
  auto plan = plans_.find(body.plan);
  if (plan == plans_.end())
    return;
  for (const auto *side : {&plan->second->out_, &plan->second->in_})
    for (Peer *peer : side->peers)
      if (!peer->isSelf)
        mail_->say(*peer, {.plan = body.plan, .kind = Kind::Failed}, body);
  plan->second->sayDrained();
}

// A binomial tree: places are counted from the root, and below place p are p + 1, p + 2, p + 4,
// ..., from the first power of two above p on. Whoever is dead is stood in for.
// Example: 5 ranks, root 3: 3 tells 4, 0 and 2; 4 tells 1.
void NetworkEndpoint::passDown(const FailureBody &body, uint32_t below) {
  uint32_t step = 1;
  while (step <= below)
    step *= 2;
  for (; step < numRanks_ && below + step < numRanks_; step *= 2) {
    Rank child{(index(body.root) + below + step) % numRanks_};
    auto known = mail_->peers().find(child);
    bool isDead = child == body.culprit && body.plan == kEveryPlan;
    if (isDead || (known != mail_->peers().end() && known->second->isLost))
      passDown(body, below + step);
    else
      tellFailure(child, body);
  }
}

void NetworkEndpoint::onFailed(std::span<const std::byte> bytes) {
  std::optional<FailureBody> read = readFailure(bytes);
  if (!read || (read->culprit != kNoRank && index(read->culprit) >= numRanks_))
    return;
  const FailureBody &body = *read;
  bool isNew = note(body.plan, {body.culprit, kNoOp, body.reason, body.kind});
  if (body.root != kNoRank && index(body.root) < numRanks_)
    passDown(body, (index(self_) + numRanks_ - index(body.root)) % numRanks_);
  if (isNew)
    passOn(body);
  if (sleepers_.load() != 0)
    wake();
}

// Whether it died is found by the next look.
void NetworkEndpoint::onLost(Peer &peer, const std::string &reason) {
  if (!peer.saidGoodbye)
    lost_.push_back({peer.rank, reason});
  std::erase_if(kept_, [&](const Kept &kept) { return kept.reader == peer.rank; });
  nextLook_ = {};
}

void NetworkEndpoint::onBroken(const std::string &reason) {
  lost_.push_back({self_, reason});
  nextLook_ = {};
}

// Whoever left in order said so before; that is perhaps not taken yet, or, if this rank leaves too,
// was said to nobody who still answers: so whoever leaves accuses nobody.
void NetworkEndpoint::look() {
  Clock::time_point now = Clock::now();
  if (now < nextLook_)
    return;
  nextLook_ = now + options_.watchInterval;
  news_.clear();
  watch_->look(news_);
  for (int i = 0; i < kMostPolls && !news_.empty() && progress(); ++i) {
  }
  for (const Watch::News &news : news_)
    takeNews(news);
  for (const Lost &lost : std::exchange(lost_, {})) {
    watch_->giveUp(lost.rank);
    if (isLeaving_)
      continue;
    report(kEveryPlan, {lost.rank, kNoOp,
                        "rank " + std::to_string(index(lost.rank)) +
                            (lost.rank == self_ ? " " : " cannot be reached: ") + lost.reason});
  }
}

void NetworkEndpoint::takeNews(const Watch::News &news) {
  if (news.what == Watch::What::Failed)
    return onFailed(std::as_bytes(std::span(&news.failure, 1)));
  auto peer = mail_->peers().find(news.rank);
  if (peer == mail_->peers().end() || peer->second->saidGoodbye)
    return;
  peer->second->isLost = true;
  peer->second->isGone = news.what == Watch::What::Died;
  if (!isLeaving_)
    report(kEveryPlan, faultOf(news, self_));
}

} // namespace colldsl::network
