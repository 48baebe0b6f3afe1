#include "mpi/LetterEndpoint.h"

#include "transports/Pieces.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace colldsl::mpi {
namespace {

// Nothing that comes ends a sleep.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::microseconds(50);

// A peer is asked ever more rarely, but at least whenever a run is doubted so many times more.
constexpr uint32_t kDoubtsBetween = 8;

Fault saidBy(Rank rank, const std::string &what, ErrorKind kind) {
  return {rank, kNoOp, "rank " + std::to_string(index(rank)) + ": " + what, kind};
}

} // namespace

/// The messages of one plan.
class LetterChannels : public Channels, Letters::Doubter {
public:
  LetterChannels(LetterEndpoint &endpoint, const OpenRequest &request)
      : endpoint_(endpoint), letters_(endpoint.letters_), isIndependent_(request.isIndependent) {
    tally_.collects = true;
    addEdges(out_, request.out);
    addEdges(in_, request.in);
    done_.reserve(out_.ends.size() + in_.ends.size());
    letters_.beginDoubting(*this);
  }
  ~LetterChannels() override {
    letters_.endDoubting(*this);
    cancel();
    if (failed())
      letters_.refuseRun(endpoint_.keyOf(run_));
  }

  Status prepare(const Work &) override { return {}; }
  void start() override { run_ = *endpoint_.group_.nextRun; }
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  bool recvNow(MessageSlot slot, const Payload &payload) override;
  std::span<const Completion> poll() override;
  bool check() override;
  void abort(const Fault &fault) override;
  void cancel() override {
    if (tally_.outstanding != 0)
      letters_.forget(tally_);
    tally_.outstanding = 0;
  }
  OpId openOp(Rank peer) const override;

private:
  /// One end of a message; `tag` is its op.
  struct End : Letters::Message {
    Rank peer; ///< in the group
    bool isOpen = false;
  };
  /// The ends of all edges of one direction.
  struct Side {
    std::vector<uint32_t> first; ///< by edge: of its ends
    std::vector<End> ends;
  };

  void addEdges(Side &side, std::span<const EdgeSpec> edges);
  End &endAt(Side &side, MessageSlot slot, const Payload &payload);
  Posted afterPost(End &end);
  void takeFinished();
  bool findFailure();
  void doubt() override;
  void onOver(Rank peer, const Tag &run) override;
  Fault mismatch() const;
  const End *findOpen(Rank peer) const;

  LetterEndpoint &endpoint_;
  Letters &letters_;
  bool isIndependent_;
  uint32_t run_ = *endpoint_.group_.nextRun;
  protocol::CompletionCounter tally_;
  Side out_, in_;
  std::vector<Completion> done_;
  bool told_ = false;    ///< the caller has seen what is in done_
  uint32_t doubted_ = 0; ///< the last run that was
  uint32_t doubts_ = 0;  ///< about it
};

void LetterChannels::addEdges(Side &side, std::span<const EdgeSpec> edges) {
  for (const EdgeSpec &edge : edges) {
    side.first.push_back(static_cast<uint32_t>(side.ends.size()));
    for (uint32_t m = 0; m < edge.messages.size(); ++m) {
      End end;
      end.tag = endpoint_.group_.key;
      end.tag.message += m;
      end.counter = &tally_;
      end.peer = edge.peer;
      side.ends.push_back(end);
    }
  }
}

LetterChannels::End &LetterChannels::endAt(Side &side, MessageSlot slot, const Payload &payload) {
  End &end = side.ends[side.first[slot.edge] + slot.message];
  end.tag.run = run_;
  end.payload = payload;
  return end;
}

Posted LetterChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  End &end = endAt(out_, slot, payload);
  end.owner = index(op);
  end.isOpen = true;
  letters_.send(endpoint_.inWorld(end.peer), end);
  return afterPost(end);
}

Posted LetterChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  End &end = endAt(in_, slot, payload);
  end.owner = index(op);
  end.isOpen = true;
  if (payload.bytes == 0 && !payload.always) {
    ++tally_.outstanding;
    end.transferred = 0;
    end.complete();
  } else {
    letters_.recv(endpoint_.inWorld(end.peer), end);
  }
  return afterPost(end);
}

bool LetterChannels::recvNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  const End &end = endAt(in_, slot, payload);
  Rank peer = endpoint_.inWorld(end.peer);
  return letters_.recvNow(peer, end) || (letters_.poll() && letters_.recvNow(peer, end));
}

// What was done at once is the newest of those that are finished.
Posted LetterChannels::afterPost(End &end) {
  if (tally_.completed != &end || end.payload.upTo || tally_.mismatched)
    return Posted::Pending;
  tally_.completed = end.next;
  end.isOpen = false;
  return Posted::Done;
}

void LetterChannels::takeFinished() {
  if (told_)
    done_.clear();
  told_ = false;
  for (protocol::Request *m = tally_.completed; m; m = m->next) {
    static_cast<End &>(*m).isOpen = false;
    if (m != tally_.mismatched)
      done_.push_back({OpId{m->owner}, m->transferred});
  }
  tally_.completed = nullptr;
}

std::span<const Completion> LetterChannels::poll() {
  if (tally_.outstanding != 0)
    letters_.poll();
  else
    letters_.glance();
  takeFinished();
  told_ = true;
  if (tally_.mismatched && !(isIndependent_ && tally_.outstanding != 0) && !findFailure())
    fail(mismatch());
  if (!letters_.status())
    fail({kNoRank, kNoOp, letters_.status().message(), letters_.status().kind()});
  return done_;
}

Fault LetterChannels::mismatch() const {
  const End &end = static_cast<const End &>(*tally_.mismatched);
  return end.transferred == 0
             ? endedWithout(end.peer, OpId{end.owner}, end.payload)
             : sizeMismatch(end.peer, OpId{end.owner}, end.payload, end.transferred);
}

// Not about a run that has just begun.
void LetterChannels::doubt() {
  if (tally_.outstanding == 0)
    return;
  if (doubted_ != run_)
    doubts_ = 0;
  doubted_ = run_;
  uint32_t before = doubts_++;
  if (before == 0 || !(std::has_single_bit(before) || before % kDoubtsBetween == 0))
    return;
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.isOpen)
        letters_.askHowFar(endpoint_.inWorld(end.peer), endpoint_.keyOf(run_));
}

void LetterChannels::onOver(Rank peer, const Tag &run) {
  if (run != endpoint_.keyOf(run_))
    return;
  for (Side *side : {&in_, &out_})
    for (End &end : side->ends)
      if (end.isOpen && endpoint_.inWorld(end.peer) == peer && letters_.abandon(peer, end)) {
        end.transferred = 0;
        end.isOpen = false;
        --tally_.outstanding;
        if (!tally_.mismatched) // one says it for all
          tally_.mismatched = &end;
      }
}

// If the run failed elsewhere before, that is the reason for what happens here.
bool LetterChannels::findFailure() {
  if (const Fault *fault = letters_.findFailure(endpoint_.keyOf(run_)))
    fail(*fault);
  return failed();
}

bool LetterChannels::check() { return !failed() && !findFailure() && letters_.status(); }

const LetterChannels::End *LetterChannels::findOpen(Rank peer) const {
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.isOpen && (peer == kNoRank || peer == end.peer))
        return &end;
  return nullptr;
}

OpId LetterChannels::openOp(Rank peer) const {
  const End *end = findOpen(peer);
  return end ? OpId{end->owner} : kNoOp;
}

void LetterChannels::abort(const Fault &fault) {
  fail(fault);
  endpoint_.tellAll(run_, fault);
}

LetterEndpoint::LetterEndpoint(Letters &letters, LetterGroup group)
    : letters_(letters), group_(std::move(group)) {
  caps_.name = "letters";
  caps_.eagerBytes = letters.shortBytes();
  caps_.opensAlone = true;
  caps_.mustBePolled = true;
}

Result<std::unique_ptr<Channels>> LetterEndpoint::open(const OpenRequest &request) {
  auto channels = std::make_unique<LetterChannels>(*this, request);
  Status own = request.ready ? request.ready(*channels) : Status();
  if (!own) {
    channels->abort(saidBy(rank(), own.message(), own.kind()));
    return own;
  }
  return std::unique_ptr<Channels>(std::move(channels));
}

void LetterEndpoint::refuse(const std::string &reason) {
  tellAll(*group_.nextRun, saidBy(rank(), reason, ErrorKind::Refused));
}

Tag LetterEndpoint::keyOf(uint32_t run) const {
  Tag key = group_.key;
  key.run = run;
  return key;
}

// Whoever was told before, or tells the same, need not be told.
void LetterEndpoint::tellAll(uint32_t run, const Fault &fault) {
  Tag key = keyOf(run);
  if (letters_.findFailure(key))
    return;
  for (Rank peer : *group_.ranks)
    letters_.sendFailure(peer, key, fault);
}

void LetterEndpoint::sleep(SleepTicket, std::chrono::nanoseconds atMost) {
  std::this_thread::sleep_for(std::min(atMost, kLongestSleep));
}

} // namespace colldsl::mpi
