/// A collective for which the job learns the best algorithm, or the best way along a graph: it has
/// an operation for each candidate, and each run uses one of them.
#pragma once

#include "mpi/learn/Learner.h"
#include "mpi/operations/Operation.h"

#include <array>

namespace colldsl::mpi {

class LearnedOperation final : public Operation {
public:
  /// Null and errors as CollectiveOperation::make() and NeighborOperation::make(). The learner
  /// outlives its blocking calls.
  static MadeOperation make(Learner &learner, const LearnedKey &key, const Call &call);
  ~LearnedOperation() override;

  Status run(uint32_t number) override;
  void start(uint32_t number) override;
  bool isDone() const override { return !current_ || current_->isDone(); }
  bool await() override { return !current_ || current_->await(); }
  bool tryFinish() override;
  Status finish() override;
  void cancel() override;
  bool progress() override { return current_ && current_->progress(); }
  bool mayMoveTo(const Call &call) const override;
  void willServe(const Call &call) override { call_ = call; }

  /// The rules' choice on this rank. Empty: this operation never ran it.
  std::optional<TunedCollective> shipped() const;
  /// Bytes of its last call, as rules count them.
  uint64_t bytes() const { return operations_[Trials::kShipped]->ruleBytes(); }
  /// Prepares the candidates. Returns a mask: bit i - 1 is set if this rank cannot run candidate i.
  uint32_t prepare(const std::vector<TunedCollective> &what);
  /// Destroys the operations of all other candidates.
  void keepOnly(uint32_t candidate);

private:
  LearnedOperation(Learner &learner, const LearnedKey &key, const Call &call)
      : Operation(call.kind), learner_(learner), key_(key), call_(call) {}
  void join(std::shared_ptr<LearnedClass> learned);
  /// Null: the candidate cannot be served, likewise on all ranks.
  MadeOperation operationOf(uint32_t candidate);
  /// The operation for the run of this number: of the candidate, or of the rules' choice where
  /// operationOf() is null. After an error the run fails on the other ranks, too.
  MadeOperation operationFor(uint32_t candidate, uint32_t number);
  Status runOn(uint32_t candidate, uint32_t number);
  Status runTurn(uint32_t number);
  void shift(ptrdiff_t sent, ptrdiff_t received) override;

  Learner &learner_;
  LearnedKey key_;
  Call call_; ///< the last call that it serves
  std::shared_ptr<LearnedClass> class_;
  std::array<std::shared_ptr<Operation>, 1 + Trials::kMostCandidates> operations_;
  std::shared_ptr<Operation> current_; ///< operation of the run that start() began
  Status begun_;                       ///< status of that run
};

} // namespace colldsl::mpi
