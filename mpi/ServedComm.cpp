#include "mpi/ServedComm.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace colldsl::mpi {
namespace {

// Of so many calls that differ in their arguments the last are remembered.
constexpr size_t kPrepared = 16;

using Shared = std::shared_ptr<ServedComm>;

// A duplicate is known as soon as it is begun, for as long as there are contexts kept for it.
int duplicateServed(MPI_Comm, int, void *, void *value, void *copy, int *isKept) {
  Shared made = (*static_cast<Shared *>(value))->duplicate();
  *isKept = made != nullptr;
  if (made)
    *static_cast<void **>(copy) = new Shared(made);
  return MPI_SUCCESS;
}

} // namespace

constinit thread_local ServedComm::Last ServedComm::last_;
std::atomic<uint64_t> ServedComm::numForgotten_{0};

int ServedComm::keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    real::Comm_create_keyval(duplicateServed, forget, &made, nullptr);
    return made;
  }();
  return key;
}

int ServedComm::forget(MPI_Comm, int, void *value, void *) {
  auto *served = static_cast<Shared *>(value);
  numForgotten_.fetch_add(1, std::memory_order_relaxed);
  if (!Job::current()) { // the last communicators go in MPI_Finalize
    delete served;
    return MPI_SUCCESS;
  }
  Job::current()->bury(std::move(*served));
  delete served;
  return MPI_SUCCESS;
}

ServedComm *ServedComm::lookUp(MPI_Comm comm) {
  void *value = nullptr;
  int isThere = 0;
  if (comm == MPI_COMM_NULL ||
      real::Comm_get_attr(comm, keyval(), &value, &isThere) != MPI_SUCCESS || !isThere)
    return nullptr;
  last_ = {comm, static_cast<Shared *>(value)->get(),
           numForgotten_.load(std::memory_order_relaxed)};
  return last_.served;
}

ServedComm *ServedComm::adopt(Job &job, MPI_Comm comm) {
  Shared served(new ServedComm(job));
  served->context_ = job.agree(comm, served->describe(comm));
  served->keptContexts_ = Job::kContextsEach - 1;
  served->tell("new");
  real::Comm_set_attr(comm, keyval(), new Shared(served));
  return served.get();
}

Shared ServedComm::duplicate() {
  if (keptContexts_ == 0)
    return nullptr;
  Shared made(new ServedComm(job_));
  made->context_ = context_;
  if (isServed())
    made->context_.number += keptContexts_;
  --keptContexts_;
  made->rank_ = rank_;
  made->neighborhood_ = neighborhood_;
  made->onMachine_ = onMachine_;
  made->topology_ = topology_;
  made->tell("a duplicate");
  return made;
}

void ServedComm::tell(const char *origin) const {
  if (!Settings::all().isVerbose() || rank_ != 0)
    return;
  const char *shape = topology_ == MPI_CART    ? "grid"
                      : topology_ == MPI_GRAPH ? "graph"
                                               : "distributed graph";
  std::fprintf(stderr, "colldsl: %s of %zu ranks, %s: %s\n", shape, onMachine_.size(), origin,
               isServed() ? "served through shared memory"
                          : "passed on, for some edge leaves its machine or the job");
}

bool ServedComm::describe(MPI_Comm comm) {
  int ranks = 0;
  MPI_Group group = MPI_GROUP_NULL;
  real::Comm_rank(comm, &rank_);
  real::Topo_test(comm, &topology_);
  real::Comm_size(comm, &ranks);
  real::Comm_group(comm, &group);
  std::vector<int> mine(static_cast<size_t>(ranks)), world(mine.size());
  std::iota(mine.begin(), mine.end(), 0);
  real::Group_translate_ranks(group, ranks, mine.data(), job_.worldGroup(), world.data());
  real::Group_free(&group);
  onMachine_.resize(mine.size());
  if (std::find(world.begin(), world.end(), MPI_UNDEFINED) != world.end())
    return false; // processes of another job, with contexts of its own
  for (size_t r = 0; r < mine.size(); ++r)
    onMachine_[r] = job_.onMachine(world[r]);
  Result<Neighborhood> neighborhood = neighborhoodOf(comm);
  if (!neighborhood)
    return false;
  neighborhood_ = neighborhood.take();
  auto isHere = [&](const Edge &edge) { return onMachine(edge.peer) != kNoRank; };
  return std::all_of(neighborhood_.out.begin(), neighborhood_.out.end(), isHere) &&
         std::all_of(neighborhood_.in.begin(), neighborhood_.in.end(), isHere);
}

Result<std::shared_ptr<Operation>> ServedComm::operationFor(const Call &call) {
  if (isSameAsBefore(call) && again())
    return prepared_.front();
  Result<std::shared_ptr<Operation>> operation = findOrMake(call);
  bool isQuick = operation && !call.hasLists() && (*operation)->hasNamedTypes();
  quick_ = isQuick ? operation->get() : nullptr;
  quickCall_ = call;
  return operation;
}

Result<std::shared_ptr<Operation>> ServedComm::findOrMake(const Call &call) {
  for (auto at = prepared_.begin(); at != prepared_.end(); ++at)
    if (!(*at)->isBusy() && (*at)->serves(call)) {
      if (at != prepared_.begin())
        prepared_.splice(prepared_.begin(), prepared_, at);
      return *at;
    }
  Result<std::shared_ptr<Operation>> made = Operation::make(*this, call, 0);
  if (!made)
    return made;
  prepared_.push_front(*made);
  if (prepared_.size() > kPrepared)
    prepared_.pop_back();
  return made;
}

Result<std::shared_ptr<Operation>> ServedComm::makePersistent(const Call &call) {
  return Operation::make(*this, call, ++persistent_);
}

} // namespace colldsl::mpi
