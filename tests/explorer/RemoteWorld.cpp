#include "tests/explorer/RemoteWorld.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test {

using Kind = RemoteWorld::Step::Kind;

RemoteWorld::RemoteWorld(const Scenario &scenario)
    : scenario_(scenario),
      network_([this](uint32_t rank, const std::byte *at, uint64_t bytes,
                      bool isWritten) { touch(rank, at, bytes, isWritten); },
               [this](uint32_t rank, const std::byte *at) { return placeOf(rank, at); }) {
  for (uint8_t rank = 0; rank < scenario.ranks; ++rank)
    ranks_.push_back(std::make_unique<RemoteRank>(scenario, rank, network_));
}

RemoteWorld::~RemoteWorld() {
  clock_.run();
  ranks_.clear();
}

// Frames lie in other memory.
uint32_t RemoteWorld::placeOf(uint32_t rank, const std::byte *at) const {
  if (rank >= ranks_.size())
    return 0;
  const std::vector<MessageEnd> &ends = ranks_[rank]->ends;
  for (uint32_t e = 0; e < ends.size(); ++e)
    if (at >= ends[e].memory.data() && at < ends[e].memory.data() + MessageEnd::kMaxBytes)
      return e + 1;
  return 0;
}

// Memory that a sender has given up may be read by a receiver that is late: what was read is not
// received.
void RemoteWorld::touch(uint32_t rank, const std::byte *at, uint64_t, bool isWritten) {
  if (network_.isDead(rank))
    return;
  for (const MessageEnd &end : ranks_[rank]->ends) {
    bool isIn = at >= end.memory.data() && at < end.memory.data() + end.memory.size();
    if (!isIn || (end.isPosted && !end.isOver) || (!isWritten && wasLate_))
      continue;
    wrong_ = isWritten ? "bytes move into memory whose owner was told that the message ended"
                       : "bytes move out of memory whose owner was told that the message ended";
  }
}

// Whether it does not matter when the next frame arrives: it tells that a peer moves nothing any
// more, or what this rank knows.
bool RemoteWorld::commutes(uint8_t from, uint8_t to) const {
  if (network_.numFrames(from, to) == 0 || !takesEvents(to) || wasLate_)
    return false;
  network::Header header;
  std::span<const std::byte> frame = network_.frame(from, to);
  std::memcpy(&header, frame.data(), sizeof header);
  if (header.kind == network::Kind::CancelAck || header.kind == network::Kind::CloseStream)
    return !scenario_.isLate; // else what matters is whether they come in time
  if (header.kind != network::Kind::Failed)
    return false;
  network::FailureBody body;
  std::memcpy(&body, frame.data() + sizeof header, sizeof body);
  return (body.root == kNoRank || scenario_.ranks == 2) &&
         ranks_[to]->knowsFailure(body.isOfAll ? nullptr : &header.tag);
}

// A rank closes a plan as soon as it may, and takes such frames: memory that is given back later is
// in less danger. That of a closed plan is not registered, so where moves may fail it is closed
// later, too.
bool RemoteWorld::findStepAtOnce(std::vector<Step> &steps) const {
  for (uint8_t rank = 0; rank < scenario_.ranks; ++rank) {
    for (uint8_t plan = 0; plan < RemoteRank::kPlans; ++plan)
      if (!network_.isDead(rank) && ranks_[rank]->mayClose(plan) && !mayDie(rank) &&
          !scenario_.isLate)
        steps = {{Kind::Close, rank, plan}};
    for (uint8_t to = 0; to < scenario_.ranks && steps.empty(); ++to)
      if (commutes(rank, to))
        steps = {{Kind::Arrive, rank, to}};
    if (!steps.empty())
      return true;
  }
  return false;
}

std::vector<RemoteWorld::Step> RemoteWorld::steps() const {
  std::vector<Step> steps;
  if (!scenario_.hasAllOrders && findStepAtOnce(steps))
    return steps;
  for (uint8_t rank = 0; rank < scenario_.ranks; ++rank)
    if (!network_.isDead(rank))
      addOfRank(rank, steps);
  addFrames(steps);
  addMoves(steps);
  bool isAnyWaiting =
      std::any_of(ranks_.begin(), ranks_.end(), [](const auto &rank) { return rank->isWaiting(); });
  if (scenario_.isLate && !wasLate_ && isAnyWaiting)
    for (uint8_t hasArrived : {0, 1})
      steps.push_back({Kind::Late, hasArrived});
  bool mayOnlyDie = std::all_of(steps.begin(), steps.end(),
                                [](const Step &step) { return step.kind == Kind::Die; });
  if (mayOnlyDie && areAllGone())
    return {};
  if (mayOnlyDie && passes_ < kMaxPasses)
    steps.push_back({Kind::Pass});
  return steps;
}

bool RemoteWorld::mayDie(uint8_t rank) const {
  return rank == scenario_.troubled && (scenario_.trouble == Trouble::Dies ||
                                        (scenario_.trouble == Trouble::FailsAndDies && hasFailed_));
}

// Other messages, which are not there, tell the sender that the receive is posted.
bool RemoteWorld::isAnnounced(uint8_t rank, const MessageEnd &end) const {
  const MessageSpec &spec = scenario_.messages[end.message];
  return spec.way != Way::Announced || !end.sends ||
         ranks_[spec.to]->hasPosted(end.message, ranks_[rank]->runOf(end));
}

void RemoteWorld::addOfRank(uint8_t r, std::vector<Step> &steps) const {
  const RemoteRank &rank = *ranks_[r];
  for (uint8_t e = 0; e < rank.ends.size(); ++e)
    if (rank.mayPost(rank.ends[e]) && isAnnounced(r, rank.ends[e]))
      steps.push_back({Kind::Post, r, e});
  if ((network_.mayAccept(r) || rank.hasRmas()) && !rank.isDeaf())
    steps.push_back({Kind::Start, r});
  for (uint8_t plan = 0; plan < RemoteRank::kPlans; ++plan) {
    if (rank.mayCancel(plan))
      steps.push_back({Kind::Cancel, r, plan});
    if (rank.mayClose(plan))
      steps.push_back({Kind::Close, r, plan});
    if (rank.mayOpen(plan))
      steps.push_back({Kind::Open, r, plan});
    if (rank.mayRun(plan))
      steps.push_back({Kind::Run, r, plan});
  }
  if (rank.mayLeave())
    steps.push_back({Kind::Leave, r});
  bool fails = scenario_.trouble == Trouble::Fails || scenario_.trouble == Trouble::FailsAndDies;
  if (r == scenario_.troubled && fails && !hasFailed_ && rank.mayFail())
    steps.push_back({Kind::Fail, r});
  if (mayDie(r))
    steps.push_back({Kind::Die, r});
}

void RemoteWorld::addFrames(std::vector<Step> &steps) const {
  for (uint8_t from = 0; from < scenario_.ranks; ++from)
    for (uint8_t to = 0; to < scenario_.ranks; ++to) {
      if (network_.numFrames(from, to) != 0 && takesEvents(to))
        steps.push_back({Kind::Arrive, from, to});
      if (network_.mayLose(from, to) && takesEvents(from))
        steps.push_back({Kind::Lose, from, to});
    }
}

void RemoteWorld::addMoves(std::vector<Step> &steps) const {
  for (uint8_t rma = 0; rma < network_.numRmas(); ++rma) {
    if (network_.mayMoveBytes(rma))
      steps.push_back({Kind::MoveBytes, rma});
    if (network_.mayNotify(rma) && takesEvents(network_.targetOf(rma)))
      steps.push_back({Kind::Notify, rma});
    if (network_.mayFinish(rma) && takesEvents(network_.originOf(rma)))
      steps.push_back({Kind::Finish, rma});
  }
}

// A rank that leaves waits until its frames have arrived, or their receiver has left.
void RemoteWorld::take(const Step &step) {
  begin(step);
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank)
    if (!network_.isDead(rank) && ranks_[rank]->isLeaving() && network_.hasArrivals(rank)) {
      poll(rank);
      rank = UINT8_MAX; // from the first on
    }
}

void RemoteWorld::begin(const Step &step) {
  uint32_t rank = step.a;
  switch (step.kind) {
  case Kind::Post:
    return ranks_[rank]->post(ranks_[rank]->ends[step.b]);
  case Kind::Start:
    network_.accept(rank, true);
    poll(rank);
    return network_.accept(rank, false);
  case Kind::Cancel:
    return ranks_[rank]->cancel(step.b);
  case Kind::Close:
    return ranks_[rank]->close(step.b);
  case Kind::Open:
    ranks_[rank]->open(step.b);
    return poll(rank); // it may have failed before
  case Kind::Run:
    return ranks_[rank]->run(step.b);
  case Kind::Leave:
    return ranks_[rank]->leave();
  case Kind::Fail:
    hasFailed_ = true;
    return ranks_[rank]->fail();
  case Kind::Die:
    return network_.kill(rank);
  case Kind::Arrive:
    network_.arrive(rank, step.b);
    return poll(step.b);
  case Kind::MoveBytes:
    return network_.moveBytes(step.a);
  case Kind::Notify:
    rank = network_.targetOf(step.a);
    network_.notify(step.a);
    return poll(rank);
  case Kind::Finish:
    rank = network_.originOf(step.a);
    network_.finish(step.a);
    return poll(rank);
  case Kind::Lose:
    network_.lose(rank, step.b);
    return poll(rank);
  case Kind::Late:
    return endWaits(step.a != 0);
  case Kind::Pass:
    return pass();
  }
}

void RemoteWorld::poll(uint32_t rank) {
  network_.note(rank, static_cast<uint64_t>(clock_.passed().count()));
  network_.arriveNow(rank);
  ranks_[rank]->poll();
}

// The frames to ranks that wait are taken; those to others perhaps arrive, but are not taken yet.
void RemoteWorld::endWaits(bool hasArrived) {
  wasLate_ = true;
  if (hasArrived) {
    network_.arriveLater();
    pollWaiting();
  }
  clock_.advance(2 * RemoteRank::kLinger);
  pollWaiting();
}

void RemoteWorld::pollWaiting() {
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank]->isWaiting() && !network_.isDead(rank))
      poll(rank);
}

// First as long as a rank waits for a peer that is lost, then for one that does not answer.
void RemoteWorld::pass() {
  clock_.advance(passes_ < 2 ? RemoteRank::kLinger / 50 : 2 * RemoteRank::kLinger);
  ++passes_;
  for (const auto &rank : ranks_)
    leftLate_ |= rank->isLeaving();
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank)
    if (!network_.isDead(rank))
      poll(rank);
}

std::string RemoteWorld::nameOf(const Step &step) {
  std::string a = std::to_string(step.a), b = std::to_string(step.b);
  switch (step.kind) {
  case Kind::Post:
    return "rank " + a + " posts its message " + b;
  case Kind::Start:
    return "rank " + a + " begins to read or to write";
  case Kind::Cancel:
    return "rank " + a + " cancels plan " + b;
  case Kind::Close:
    return "rank " + a + " closes plan " + b;
  case Kind::Open:
    return "rank " + a + " opens plan " + b;
  case Kind::Run:
    return "rank " + a + " begins another run of plan " + b;
  case Kind::Leave:
    return "rank " + a + " leaves";
  case Kind::Fail:
    return "rank " + a + " fails";
  case Kind::Die:
    return "rank " + a + " dies";
  case Kind::Arrive:
    return "a frame of rank " + a + " arrives at rank " + b;
  case Kind::MoveBytes:
    return "the bytes of RMA " + a + " move";
  case Kind::Notify:
    return "the target of RMA " + a + " is notified";
  case Kind::Finish:
    return "the origin of RMA " + a + " is notified";
  case Kind::Lose:
    return "rank " + a + " loses rank " + b;
  case Kind::Late:
    return step.a != 0 ? "all frames arrive, and time passes" : "time passes";
  case Kind::Pass:
    return "time passes, for nothing else happens";
  }
  return "";
}

Digest RemoteWorld::digest(bool hasHistories) const {
  StateWords words;
  WorkerOf workerOf = [this](Rank rank) -> const protocol::RemoteWorker * {
    return ranks_[index(rank)]->worker();
  };
  network_.describe(words, workerOf);
  if (hasHistories)
    network_.describeHistories(words);
  for (const auto &rank : ranks_)
    rank->describe(words, workerOf);
  words.add(clock_.passed().count());
  for (uint32_t flag : {passes_, uint32_t{hasFailed_}, uint32_t{wasLate_}, uint32_t{leftLate_}})
    words.add(flag);
  Digest digest;
  digest.add(words.bytes().data(), words.bytes().size());
  return digest;
}

std::string RemoteWorld::violation() const {
  if (!wrong_.empty())
    return wrong_;
  bool isAnyDead = false;
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!network_.isDead(rank) && !ranks_[rank]->wrong.empty())
      return ranks_[rank]->wrong;
    isAnyDead |= network_.isDead(rank);
  }
  if (network_.hasMissed() && !wasLate_ && !isAnyDead)
    return "a rank that lives is lost: its memory is not registered";
  return isAnyDead || scenario_.windowBytes == 0 ? "" : violationOfWindow();
}

std::string RemoteWorld::violationOfWindow() const {
  for (uint8_t from = 0; from < ranks_.size(); ++from)
    for (uint8_t to = 0; to < ranks_.size(); ++to)
      if (uint32_t ahead = sentAhead(from, to); ahead > scenario_.windowBytes)
        return "eager messages do not fit into the window";
  return "";
}

// In units of the window.
uint32_t RemoteWorld::sentAhead(uint8_t from, uint8_t to) const {
  bool areKnown = scenario_.windowBytes != 0 && from != to && ranks_[from]->knows(to) &&
                  ranks_[to]->knows(from);
  return areKnown ? ranks_[from]->sentTo(to) - ranks_[to]->takenFrom(from) : 0;
}

bool RemoteWorld::areAllGone() const {
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank)
    if (!network_.isDead(rank) && !ranks_[rank]->isGone())
      return false;
  return true;
}

std::string RemoteWorld::unfinished() const {
  bool isAnyDead = false;
  for (uint8_t rank = 0; rank < ranks_.size(); ++rank) {
    isAnyDead |= network_.isDead(rank);
    if (!network_.isDead(rank) && !ranks_[rank]->isGone())
      return "rank " + std::to_string(rank) + " waits for good";
  }
  if (isAnyDead || wasLate_)
    return "";
  std::string found = leftLate_ ? "a rank that leaves waits in vain" : "";
  for (const auto &rank : ranks_)
    found = found.empty() ? unfinishedOf(*rank) : found;
  for (const auto &rank : ranks_)
    found = found.empty() ? rank->leftover() : found;
  for (uint8_t from = 0; from < ranks_.size(); ++from)
    for (uint8_t to = 0; to < ranks_.size(); ++to)
      if (found.empty() && sentAhead(from, to) != 0)
        found = "the credit of a message is lost";
  return found;
}

// A rank that waited in vain for another one has failed in everything.
std::string RemoteWorld::unfinishedOf(const RemoteRank &rank) const {
  if (std::optional<std::string> failure = rank.failureOfAll())
    return "everything has failed: " + *failure;
  for (const MessageEnd &end : rank.ends)
    if (!end.isDone && (end.plan == 1 || !hasFailed_))
      return "a message of a plan that did not fail has no end";
  return "";
}

} // namespace colldsl::test
