#include "mpi/learn/LearnedOperation.h"

#include "mpi/comm/ServedComm.h"
#include "mpi/operations/CollectiveOperation.h"
#include "mpi/operations/NeighborOperation.h"

#include <algorithm>
#include <chrono>

namespace colldsl::mpi {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t nsBetween(Clock::time_point begin, Clock::time_point end) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
}

/// `choice`: null for the rules' choice.
MadeOperation makeFor(ServedComm &comm, const Call &call, const TunedCollective *choice) {
  return isAlongTopology(call.kind)
             ? NeighborOperation::make(comm, call, 0, choice)
             : CollectiveOperation::make(comm, comm.runs().plans(), call, {.choice = choice});
}

/// Null: this rank cannot make it. No other rank is needed.
std::shared_ptr<Operation> prepareFor(ServedComm &comm, const Call &call,
                                      const TunedCollective &choice) {
  if (!isAlongTopology(call.kind))
    return CollectiveOperation::prepare(comm, comm.runs().plans(), call, choice);
  MadeOperation made = NeighborOperation::make(comm, call, 0, &choice);
  return made ? made.take() : nullptr;
}

} // namespace

MadeOperation LearnedOperation::make(Learner &learner, const LearnedKey &key, const Call &call) {
  std::shared_ptr<LearnedOperation> operation(new LearnedOperation(learner, key, call));
  operation->join(learner.find(key));
  uint32_t first = operation->class_ ? operation->class_->trials.best() : Trials::kShipped;
  MadeOperation made = operation->operationOf(first);
  if (!made || !*made)
    return made;
  operation->beLike(**made);
  return std::shared_ptr<Operation>(std::move(operation));
}

LearnedOperation::~LearnedOperation() {
  cancel();
  join(nullptr);
}

void LearnedOperation::join(std::shared_ptr<LearnedClass> learned) {
  if (class_)
    class_->operations.erase(this);
  class_ = std::move(learned);
  if (class_)
    class_->operations.insert(this);
}

MadeOperation LearnedOperation::operationOf(uint32_t candidate) {
  std::shared_ptr<Operation> &known = operations_[candidate];
  if (known)
    return known;
  const TunedCollective *choice =
      candidate == Trials::kShipped ? nullptr : &class_->what[candidate];
  MadeOperation made = makeFor(learner_.comm(), call_, choice);
  if (made)
    known = *made;
  return made;
}

// The group of plans has the number of the run, which fails on the other ranks if this one cannot
// make its plan. Neighbors learn that this rank sends and relays nothing.
MadeOperation LearnedOperation::operationFor(uint32_t candidate, uint32_t number) {
  CommRuns &runs = learner_.comm().runs();
  if (!operations_[candidate])
    runs.plans()->numberNextRun(number);
  MadeOperation made = operationOf(candidate);
  if (!made && isAlongTopology(kind())) {
    runs.progressOf(0)->whole(number);
    CommRuns::refuse(*runs.plans(), number, made.status());
  }
  if (!made || *made)
    return made;
  if (candidate == Trials::kShipped)
    return Status::error("the call cannot be served any more");
  return operationFor(Trials::kShipped, number);
}

Status LearnedOperation::run(uint32_t number) {
  if (!class_ || class_->isDropped)
    join(learner_.classFor(key_, number));
  if (!class_)
    return runOn(Trials::kShipped, number);
  class_->lastRun = number;
  return class_->trials.begin() ? runTurn(number) : runOn(class_->trials.best(), number);
}

Status LearnedOperation::runOn(uint32_t candidate, uint32_t number) {
  MadeOperation made = operationFor(candidate, number);
  if (!made)
    return made.status();
  countFor(**made);
  return (*made)->run(number);
}

Status LearnedOperation::runTurn(uint32_t number) {
  std::shared_ptr<LearnedClass> learned = class_;
  uint32_t candidate = learned->trials.candidate();
  Clock::time_point begin = Clock::now();
  (void)operationFor(candidate, number); // runOn() returns the error
  Clock::time_point made = Clock::now();
  Status outcome = runOn(candidate, number);
  Clock::time_point end = Clock::now();
  if (learned->trials.ran(nsBetween(made, end), nsBetween(begin, made), !outcome))
    learner_.endStep(*learned, this);
  return outcome;
}

void LearnedOperation::start(uint32_t number) {
  isBusy_ = true;
  std::shared_ptr<LearnedClass> learned = learner_.find(key_);
  if (learned != class_)
    join(learned);
  MadeOperation made = operationFor(learned ? learned->trials.best() : Trials::kShipped, number);
  begun_ = made.status();
  if (!made)
    return;
  current_ = made.take();
  countFor(*current_);
  current_->start(number);
}

bool LearnedOperation::tryFinish() {
  if (!current_ || !current_->tryFinish())
    return false;
  current_.reset();
  isBusy_ = false;
  return true;
}

Status LearnedOperation::finish() {
  isBusy_ = false;
  if (!current_)
    return begun_;
  Status outcome = current_->finish();
  current_.reset();
  return outcome;
}

void LearnedOperation::cancel() {
  isBusy_ = false;
  if (current_)
    current_->cancel();
  current_.reset();
}

std::optional<TunedCollective> LearnedOperation::shipped() const {
  if (!operations_[Trials::kShipped])
    return std::nullopt;
  return operations_[Trials::kShipped]->chosen();
}

uint32_t LearnedOperation::prepare(const std::vector<TunedCollective> &what) {
  uint32_t unusable = 0;
  ServedComm &comm = learner_.comm();
  for (size_t i = 1; i < what.size(); ++i) {
    operations_[i] = prepareFor(comm, call_, what[i]);
    unusable |= static_cast<uint32_t>(!operations_[i]) << (i - 1);
  }
  return unusable;
}

void LearnedOperation::keepOnly(uint32_t candidate) {
  for (size_t i = 0; i < operations_.size(); ++i)
    if (i != candidate)
      operations_[i].reset();
}

bool LearnedOperation::mayMoveTo(const Call &call) const {
  return std::all_of(operations_.begin(), operations_.end(), [&](const auto &operation) {
    return !operation || operation->mayMoveTo(call);
  });
}

void LearnedOperation::shift(ptrdiff_t, ptrdiff_t) {
  for (const auto &operation : operations_)
    if (operation)
      operation->moveTo(call_);
}

} // namespace colldsl::mpi
