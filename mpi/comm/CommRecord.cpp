#include "mpi/comm/CommRecord.h"

#include "mpi/comm/ServedComm.h"

#include <algorithm>
#include <mutex>

namespace colldsl::mpi {
namespace {

// Held for assignments alone: an MPI may hold a lock of its own around a callback that needs this
// one.
std::mutex installing;

/// A part uses the contexts that are reserved for its first rank, so disjoint parts have different
/// ones.
Job::Context contextsOf(const CommRecord::Reserved &reserved, const CommRanks &part) {
  const std::vector<Rank> &all = *reserved.whole->ranks.members();
  auto leader = std::find(all.begin(), all.end(), part.members()->front());
  auto place = reserved.isOne ? 0 : static_cast<uint32_t>(leader - all.begin());
  return {reserved.first.owner, reserved.first.number + place * reserved.ofEach};
}

} // namespace

CommRecord::CommRecord() : contexts_(*Job::current()) {}

CommRecord::CommRecord(std::shared_ptr<const CommFacts> original, CommContexts::Some contexts)
    : contexts_(original->ranks.job()), facts_(std::move(original)), isKnown_(true), isCopy_(true) {
  contexts_.begin(contexts.first, contexts.number, facts_->servesAll);
}

CommRecord::CommRecord(Reserved reserved)
    : contexts_(reserved.whole->ranks.job()), reserved_(std::move(reserved)), isKnown_(true) {
  if (reserved_.areGrids)
    firstCalls_.countNeighbors();
}

CommRecord::~CommRecord() = default;

std::shared_ptr<const CommFacts> CommRecord::facts(MPI_Comm comm) {
  std::unique_lock lock(installing);
  if (facts_ || !reserved_.whole)
    return facts_;
  Reserved reserved = reserved_;
  lock.unlock();
  CommRanks ranks(reserved.whole->ranks.job(), comm);
  Job::Context first = contextsOf(reserved, ranks);
  auto read = std::make_shared<CommFacts>(std::move(ranks),
                                          reserved.areGrids ? CommTopology(comm) : CommTopology());
  read->mayUseDevices = reserved.whole->mayUseDevices;
  lock.lock();
  if (std::exchange(reserved_.whole, nullptr)) { // else another thread was faster
    contexts_.begin(first, reserved.ofEach);
    facts_ = std::move(read);
  }
  return facts_;
}

ServedComm *CommRecord::serve(MPI_Comm comm, bool &isWrong) {
  if (ServedComm *known = served())
    return known;
  std::shared_ptr<const CommFacts> known = facts(comm);
  isWrong = known && isCopy_ && !known->ranks.areThoseOf(comm);
  if (!known || isWrong)
    return nullptr;
  auto made = std::make_unique<ServedComm>(*this, std::move(known));
  std::lock_guard lock(installing);
  if (!owned_) {
    made->reportUse(isCopy_ ? "a duplicate" : "a part");
    if (query_)
      made->setHintsLater(wantedLater_, std::move(query_));
    owned_ = std::move(made);
    served_.store(owned_.get(), std::memory_order_release);
  }
  return owned_.get();
}

ServedComm *CommRecord::keep(std::shared_ptr<const CommFacts> agreed,
                             std::unique_ptr<ServedComm> served) {
  std::lock_guard lock(installing);
  facts_ = std::move(agreed);
  isKnown_ = true;
  owned_ = std::move(served);
  served_.store(owned_.get(), std::memory_order_release);
  return owned_.get();
}

void CommRecord::keepContexts(MPI_Comm comm, uint32_t number) {
  if (firstCalls_.areOver())
    contexts_.keep(comm, number);
}

} // namespace colldsl::mpi
