#include "executor/Plan.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace colldsl {
namespace {

// After so many bytes of local work the plan polls for messages.
constexpr uint64_t kPollAfterBytes = 16 << 10;
// Longer copies are done in parts, so that a thread that waits for an answer copies meanwhile.
constexpr uint64_t kPartBytes = 32 << 10;
// Looking for dead peers costs more than a poll.
constexpr uint32_t kCheckAfterIdlePolls = 64;

int64_t nowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace

Plan::Plan(Engine &engine, const RankView &view, const SizeClass &sizeClass)
    : engine_(engine), view_(view), sizeClass_(sizeClass), memory_(view), steps_(view, memory_),
      fused_(view), combining_(view), wavefront_(view.ops, view.successors),
      batches_(engine.endpoint().caps().batches),
      isAnnounced_(std::any_of(
          view.ops.begin(), view.ops.end(),
          [](const ImageOp &op) { return op.kind == OpKind::Recv && op.transfer().announced; })),
      combines_(std::any_of(view.ops.begin(), view.ops.end(),
                            [](const ImageOp &op) { return op.kind == OpKind::Combine; })),
      local_(view.ops.size()), calcs_(view.ops.size()) {}

Result<std::unique_ptr<Plan>> Plan::open(Engine &engine, const RankView &view,
                                         const SizeClass &sizeClass, const Binding &binding,
                                         std::string_view terms, TransferPolicy policy) {
  std::unique_ptr<Plan> plan;
  std::optional<OpenRequest> request;
  auto bindHere = [&](Channels &channels) {
    Status s = plan->bindTo(channels, binding);
    return s && policy == TransferPolicy::Refuse ? plan->checkTransfers() : s;
  };
  Status described = [&]() -> Status {
    try {
      plan.reset(new Plan(engine, view, sizeClass));
      engine.add(*plan);
      auto isAnswered = [&](const ImageOp &op) {
        return DeviceMessages::isEligible(op, engine.endpoint());
      };
      Result<Edges> edges = binding.deviceOnly ? Edges::of(view, isAnswered) : Edges::of(view);
      if (!edges)
        return edges.status();
      plan->edges_ = edges.take();
      request.emplace(OpenRequest{plan->edges_.out, plan->edges_.in, terms, bindHere});
      return {};
    } catch (const std::bad_alloc &) {
      return Status::error(ErrorKind::NoMemory, "no memory is left for a plan");
    }
  }();
  if (!described) { // must not keep the others waiting
    engine.endpoint().refuse(described.message());
    return described;
  }
  Result<std::unique_ptr<Channels>> channels = engine.endpoint().open(*request);
  if (!channels)
    return channels.status();
  plan->channels_ = channels.take();
  auto startsFirst = [&](OpId op) {
    const ImageOp &message = view.ops[index(op)];
    return travels(message) && engine.endpoint().startsFirst(message.peer);
  };
  plan->wavefront_.putFirst(startsFirst);
  // An RTR is not to wait behind a long put on the connection.
  plan->wavefront_.putFirst(
      [&](OpId op) { return startsFirst(op) && view.ops[index(op)].kind == OpKind::Recv; });
  return plan;
}

Plan::~Plan() {
  engine_.remove(*this);
  bool isUnderWay = running() || (!failed() && stage_ && stage_->isGraphRunning());
  if (isUnderWay && channels_)
    failHere({engine_.endpoint().rank(), kNoOp,
              concat("rank ", index(engine_.endpoint().rank()), " gave the plan up")});
}

Status Plan::bind(const Binding &binding) {
  Status s = mayBind();
  return s ? bindTo(*channels_, binding) : s;
}

Status Plan::bindTo(Channels &channels, const Binding &given) {
  bool wasBound = std::exchange(isBound_, false);
  if (Status s = checkDevices(given); !s)
    return s;
  if (!DeviceAreas::areNeeded(given))
    stage_.reset();
  else if (!stage_)
    stage_ = std::make_unique<DeviceStage>(view_);
  noteWatched();
  if (stage_) {
    released_.reserve(2 * view_.ops.size()); // a held send is released again
    finished_.reserve(view_.ops.size());
    if (Status s = stage_->bind(given); !s)
      return s;
  }
  const Binding &binding = stage_ ? stage_->binding() : given;
  bool isAlike = wasBound && resizable_ && (!combines_ || memory_.scalesTo(binding.elements));
  addresses_.reset();
  if (Status s = memory_.bind(sizeClass_, binding); !s)
    return s;
  if (!isAlike || !resizable_->resize(binding.combiner))
    if (Status s = buildSteps(binding); !s)
      return s;
  if (!stage_)
    if (Status s = checkPassedOn(binding); !s)
      return s;
  if (Status s = checkMoved(channels); !s)
    return s;
  if (Status s = channels.prepare(steps_.work()); !s)
    return s;
  if (stage_)
    if (Status s = stage_->divide(memory_, edges_, steps_, engine_.endpoint()); !s)
      return s;
  isStraight_ = !stage_ && line_->mayRun(steps_);
  isBound_ = true;
  return {};
}

// Peers copy from the memory of a plan whose messages have answers.
Status Plan::checkDevices(const Binding &binding) const {
  bool isDeviceOnly = binding.deviceOnly || !edges_.answers.empty();
  for (uint32_t b = 0; b < binding.buffers.size() && isDeviceOnly; ++b)
    if (const BoundBuffer &buffer = binding.buffers[b]; buffer.bytes > 0 && !buffer.driver)
      return Status::error(concat(bufferInWords(binding.names, b),
                                  " is memory of the host, but all buffers of the plan are to be "
                                  "memory of devices"));
  return {};
}

// Without a buffer in device memory this rank would have no device for them.
Status Plan::checkPassedOn(const Binding &binding) const {
  for (uint32_t op = 0; op < view_.ops.size() && !edges_.answers.empty(); ++op)
    if (DeviceMessages::travels(OpId{op}, binding, edges_, steps_))
      return Status::error(
          "messages between devices pass through this rank, which has no buffer in "
          "device memory: one of no bytes is enough");
  return {};
}

Status Plan::buildSteps(const Binding &binding) {
  if (Status s = steps_.bind(edges_, binding.combiner); !s)
    return s;
  if (!line_)
    line_.emplace(view_, steps_, engine_.endpoint());
  fused_.fuse(memory_, steps_);
  combining_.bind(steps_);
  if (!resizable_ && (!combines_ || memory_.scalesTo(binding.elements)))
    resizable_.emplace(view_, memory_, steps_);
  return {};
}

Status Plan::checkMoved(const Channels &channels) const {
  for (uint32_t i = 0; isAnnounced_ && i < view_.ops.size(); ++i) {
    const Step &step = steps_[OpId{i}];
    if (step.kind != Step::Kind::Recv || step.variable || !view_.ops[i].transfer().announced)
      continue;
    if (Status s = channels.mayReceive(step.slot, step.payload); !s)
      return Status::error(concat(nameOf(OpId{i}), ": ", s.message()));
  }
  return {};
}

Status Plan::checkTransfers() {
  TransferReport report = transfers();
  return report.isExecuted()
             ? Status()
             : Status::error(
                   concat("the transport '", engine_.endpoint().caps().name,
                          "' does not execute how messages are to travel: ", report.inWords()));
}

bool Plan::shift(BufferId parameter, ptrdiff_t by) {
  if (stage_)
    return false;
  if (!addresses_) {
    if (isAnnounced_)
      return false;
    addresses_.emplace(memory_, steps_);
  }
  if (!addresses_->areKnown())
    return false;
  memory_.shift(parameter, by);
  addresses_->shift(parameter, by);
  return true;
}

// A plan that start() runs to its end is never seen running by other threads.
Status Plan::start(uint32_t polls) {
  Status may = mayStart();
  if (may)
    may = graphIsRunning();
  if (!may)
    return may;
  channels_->start();
  if (channels_->failed()) { // between runs
    failHere(channels_->fault());
    return error_;
  }
  lineAt_ = 0;
  bool isStraight = isStraight_ && !observer_;
  if (isStraight && runStraight(polls))
    return {};
  lock_.lock();
  state_.store(State::Running, std::memory_order_relaxed);
  onLine_ = isStraight && polls == 0 && onlyReceivesAreLeft();
  if (!onLine_) {
    leaveLine();
    advance();
  }
  lock_.unlock();
  return status();
}

bool Plan::tryFinish(uint32_t polls) {
  if (!running() || !lock_.tryLock())
    return false;
  bool isOver = running() && onLine_ && runStraight(polls);
  if (isOver) {
    onLine_ = false;
    finishRun();
  }
  lock_.unlock();
  return isOver;
}

// Runs the line as far as messages are here. True: to its end.
bool Plan::runStraight(uint32_t polls) {
  const std::vector<uint32_t> &line = line_->ops();
  for (; lineAt_ < line.size(); ++lineAt_) {
    const Step &step = steps_[OpId{line[lineAt_]}];
    if (step.isLocal())
      run(step, steps_.combiner());
    else if (step.kind == Step::Kind::Send && !channels_->sendNow(step.slot, step.payload))
      return false;
    else if (step.kind == Step::Kind::Recv && !awaitMessage(step, polls))
      return false;
  }
  return channels_->isFlushed();
}

// True if no other rank waits for an op of this rank.
bool Plan::onlyReceivesAreLeft() const { return lineAt_ >= line_->endOfSends(); }

bool Plan::awaitMessage(const Step &step, uint32_t polls) {
  for (uint32_t poll = 0; !channels_->recvNow(step.slot, step.payload); ++poll)
    if (poll == polls)
      return false;
  return true;
}

// Hands the rest of the run over to the wavefront.
void Plan::leaveLine() {
  onLine_ = false;
  if (lineAt_ > 0) {
    wavefront_.restartAfter(std::span(line_->ops()).first(lineAt_));
  } else {
    wavefront_.restart();
    memory_.restoreLengths();
  }
  localHead_ = localTail_ = calcHead_ = calcTail_ = 0;
  if (isWatched_)
    beginWatched();
}

void Plan::beginWatched() {
  if (stage_) {
    released_.clear();
    releasedHead_ = 0;
    stage_->begin();
    noteCopies();
  }
  if (observer_)
    observer_->runStarted();
}

bool Plan::progress() { return progressFor(1); }

// A caller that rarely tests also learns of dead peers.
bool Plan::test() {
  if (!running()) {
    checkGraphs();
    return true;
  }
  bool moved = progressFor(1);
  if (running())
    moved |= engine_.progressOthers(this);
  if (!moved && running() && lock_.tryLock()) {
    if (running())
      check();
    lock_.unlock();
  }
  return !running();
}

// Moves this plan until nothing has moved for so many polls.
bool Plan::progressFor(uint32_t polls) {
  if (!running())
    watchGraphs(polls);
  if (!running() || !lock_.tryLock())
    return false;
  bool moved = false;
  for (uint32_t idle = 0; running() && idle < polls;) {
    bool now = advance();
    moved |= now;
    idle = now ? 0 : idle + 1;
  }
  if (!moved && running() && (idlePolls_ += polls) >= kCheckAfterIdlePolls)
    check();
  lock_.unlock();
  return moved;
}

// A graph learns of dead ranks, and its results of failures, by the host alone.
void Plan::watchGraphs(uint32_t polls) {
  if (!isCaptured_.load(std::memory_order_relaxed) || !lock_.tryLock())
    return;
  if ((idlePolls_ += polls) >= kCheckAfterIdlePolls)
    checkCaptured();
  lock_.unlock();
}

// Waits for a thread at work, which need not look for failures: the caller takes the answer for
// that of its launches.
void Plan::checkGraphs() {
  if (!isCaptured_.load(std::memory_order_relaxed))
    return;
  lock_.lock();
  checkCaptured();
  lock_.unlock();
}

// A launch needs all other ranks, though none of its ops is open. Whether it runs is asked last, as
// a rank may close the plan once the launches of all ranks have ended.
void Plan::checkCaptured() {
  auto isWatched = [this] {
    return isCaptured_.load(std::memory_order_relaxed) && !running() && !failed();
  };
  if (isWatched())
    check();
  Rank gone = isWatched() ? channels_->findGone() : kNoRank;
  if (gone == kNoRank || !stage_->isGraphRunning())
    return;
  check(); // the reason why it is gone was reported before
  if (!failed())
    failHere({gone, kNoOp,
              concat("rank ", index(gone), " has closed the plan, of which a graph runs here")});
}

void Plan::check() {
  idlePolls_ = 0;
  if (!channels_->check())
    failWith(describe(channels_->fault()));
}

bool Plan::advance() {
  if (awaitsMark_ && !passMark())
    return false;
  if (onLine_)
    leaveLine();
  return isWatched_ ? advanceAs<true>() : advanceAs<false>();
}

template <bool Watched> bool Plan::advanceAs() {
  bool moved = false;
  while (running()) {
    bool more = startReady<Watched>();
    pushMessages();
    if (!running())
      return true;
    bool isOver = wavefront_.done() && (channels_->isFlushed() || channels_->failed());
    bool copied = false;
    if constexpr (Watched) {
      copied = pollStage();
      if (!running())
        return true;
      isOver = isOver && (!stage_ || stage_->isDone());
    }
    if (isOver) {
      finishRun();
      return true;
    }
    auto done = channels_->poll();
    for (const Completion &completion : done) {
      reap<Watched>(completion);
      if (!running())
        return true;
    }
    if (channels_->failed() && running() && !wavefront_.done()) {
      failHere(channels_->fault());
      return true;
    }
    if (!serveCalc<Watched>() && done.empty() && !more && !copied)
      return moved;
    moved = true;
  }
  return moved;
}

// Starts ready ops, messages before local work. True: there is more to do, but messages should be
// polled first.
template <bool Watched> bool Plan::startReady() {
  uint64_t worked = 0;
  while (running()) {
    OpId op = Watched ? nextOnStage() : wavefront_.pop();
    if constexpr (Watched)
      if (op != kNoOp && stage_ && startOnStage(op))
        continue;
    if (op != kNoOp && !steps_[op].isLocal()) {
      startOp<Watched>(op);
      continue;
    }
    bool isNext = op != kNoOp && localHead_ == localTail_ && !wavefront_.anyReady() &&
                  worked < kPollAfterBytes && !isLong(op);
    if (!isNext) {
      if (op != kNoOp)
        local_[localTail_++] = op;
      if (wavefront_.anyReady())
        continue;
      if (localHead_ == localTail_)
        return false;
      if (worked >= kPollAfterBytes)
        return true;
      op = local_[localHead_];
      if (isLong(op)) {
        pushMessages();
        localHead_ += runPart<Watched>(op);
        worked = kPollAfterBytes;
        continue;
      }
      ++localHead_;
    }
    pushMessages();
    worked += steps_[op].payload.bytes;
    runLocal<Watched>(op);
  }
  return false;
}

// Messages that a rank starts at once leave together.
void Plan::holdMessages() {
  if (!batches_ || holds_)
    return;
  holds_ = true;
  channels_->hold();
}

void Plan::pushMessages() {
  if (!holds_)
    return;
  holds_ = false;
  channels_->push();
}

template <bool Watched> void Plan::started(OpId op) {
  wavefront_.start(op);
  if constexpr (Watched)
    noteStarted(op);
}

template <bool Watched> void Plan::finished(OpId op) {
  wavefront_.finish(op);
  if constexpr (Watched)
    noteFinished(op);
}

bool Plan::refresh(OpId op) {
  Status s = steps_.refresh(op);
  if (!s)
    failHere({engine_.endpoint().rank(), op, s.message()});
  return s.ok();
}

template <bool Watched> void Plan::startOp(OpId op) {
  const Step &step = steps_[op];
  Posted posted = Posted::Done;
  switch (step.kind) {
  case Step::Kind::Copy:
  case Step::Kind::Combine:
    return; // not here
  case Step::Kind::Calc:
    calcs_[calcTail_++] = op;
    return;
  case Step::Kind::Nothing:
    started<Watched>(op);
    break;
  case Step::Kind::Send:
    if (step.variable && !refresh(op))
      return;
    started<Watched>(op);
    holdMessages();
    posted = channels_->send(step.slot, op, step.payload);
    break;
  case Step::Kind::Recv:
    started<Watched>(op);
    holdMessages();
    posted = receive<Watched>(op);
    break;
  }
  if (posted == Posted::Done)
    finished<Watched>(op);
  else if (posted == Posted::Failed)
    failHere(channels_->fault());
}

// With any other dependency of the combine, an op might touch its target meanwhile.
template <bool Watched> Posted Plan::receive(OpId op) {
  const Step &step = steps_[op];
  CombiningReceives::Pair *pair = Watched && stage_ ? nullptr : combining_.of(op);
  if (!pair)
    return channels_->recv(step.slot, op, step.payload);
  pair->begin();
  return wavefront_.waitsForOne(pair->op)
             ? channels_->recvCombining(step.slot, op, step.payload, *pair)
             : channels_->recv(step.slot, op, step.payload);
}

template <bool Watched> void Plan::runLocal(OpId op) {
  const Step &step = steps_[op];
  if (step.variable && !refresh(op))
    return;
  if constexpr (Watched)
    noteStarted(op);
  if (!combining_.takeDone(op))
    run(step, steps_.combiner());
  wavefront_.startAndFinish(op);
  if constexpr (Watched)
    noteFinished(op);
}

bool Plan::isLong(OpId op) const {
  return steps_[op].payload.bytes > kPartBytes && !steps_[op].variable;
}

// True: that was the last part.
template <bool Watched> bool Plan::runPart(OpId op) {
  const Step &step = steps_[op];
  if constexpr (Watched)
    if (part_.begins())
      noteStarted(op);
  if (!combining_.takeDone(op) && !part_.run(step, steps_.combiner(), kPartBytes))
    return false;
  part_ = {};
  wavefront_.startAndFinish(op);
  if constexpr (Watched)
    noteFinished(op);
  return true;
}

template <bool Watched> void Plan::reap(const Completion &completion) {
  if constexpr (Watched) {
    if (stage_ && stage_->messages().travels(completion.op))
      return moveOnDevice(completion.op);
    if (stage_ && stage_->direct().travels(completion.op))
      return reapDirect(completion);
  }
  const Step &step = steps_[completion.op];
  if (step.variable && step.kind == Step::Kind::Recv)
    if (Status s = steps_.unpack(completion.op, completion.bytes); !s)
      return failHere({view_.ops[index(completion.op)].peer, completion.op, s.message()});
  finished<Watched>(completion.op);
}

void Plan::noteStarted(OpId op) {
  if (observer_)
    observer_->opStarted(op);
}

void Plan::noteFinished(OpId op) {
  if (observer_)
    observer_->opFinished(op);
  if (stage_)
    stage_->finish(op);
}

// One calc at a time: the processor is busy with it until its end.
template <bool Watched> bool Plan::serveCalc() {
  if (calcHead_ == calcTail_)
    return false;
  OpId op = calcs_[calcHead_];
  if (calcEndNs_ == kNoCalc) {
    started<Watched>(op);
    beginCalc(steps_[op].ns);
    return true;
  }
  if (nowNs() < calcEndNs_)
    return false;
  endCalc();
  ++calcHead_;
  finished<Watched>(op);
  return true;
}

void Plan::beginCalc(uint64_t ns) {
  auto duration = static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX));
  if (__builtin_add_overflow(nowNs(), duration, &calcEndNs_))
    calcEndNs_ = INT64_MAX;
  engine_.calcBegins();
}

void Plan::endCalc() {
  if (calcEndNs_ != kNoCalc)
    engine_.calcEnds();
  calcEndNs_ = kNoCalc;
}

// Wakes other threads, which may sleep until this plan is done.
void Plan::finishRun() {
  if (isWatched_)
    endWatched();
  state_.store(State::Idle, std::memory_order_release);
  engine_.endpoint().wake();
}

void Plan::endWatched() {
  if (observer_)
    observer_->runFinished();
  if (order_)
    order_->complete(false);
  if (stage_) {
    stage_->noteRun();
    stage_->end();
  }
}

} // namespace colldsl
