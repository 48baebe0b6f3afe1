#include "mpi/comm/KnownComms.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/Duplication.h"
#include "mpi/comm/FreedComms.h"
#include "mpi/comm/ServedComm.h"

#include <mutex>
#include <set>

namespace colldsl::mpi {
namespace {

using Attribute = std::shared_ptr<ServedComm>;

struct {
  std::mutex lock;
  std::set<ServedComm *> all;
} entries;

} // namespace

constinit thread_local KnownComms::Last KnownComms::last_;
std::atomic<uint64_t> KnownComms::numDeleted_{0};

void KnownComms::enter(ServedComm &served) {
  std::lock_guard lock(entries.lock);
  entries.all.insert(&served);
}

void KnownComms::leave(ServedComm &served) {
  std::lock_guard lock(entries.lock);
  entries.all.erase(&served);
}

void KnownComms::leaveJob() {
  forgetLast();
  std::lock_guard lock(entries.lock);
  for (ServedComm *served : entries.all)
    served->leaveJob();
}

int KnownComms::keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    real::Comm_create_keyval(onCopy, onDelete, &made, nullptr);
    return made;
  }();
  return key;
}

void KnownComms::add(MPI_Comm comm, std::shared_ptr<ServedComm> served) {
  real::Comm_set_attr(comm, keyval(), new Attribute(std::move(served)));
}

// A duplicate is known from the start, as long as there are contexts kept for it.
int KnownComms::onCopy(MPI_Comm comm, int, void *, void *value, void *copy, int *isKept) {
  Attribute made = Duplication::duplicate(comm, **static_cast<Attribute *>(value));
  *isKept = made != nullptr;
  if (made)
    *static_cast<void **>(copy) = new Attribute(std::move(made));
  return MPI_SUCCESS;
}

int KnownComms::onDelete(MPI_Comm comm, int, void *value, void *) {
  std::unique_ptr<Attribute> served(static_cast<Attribute *>(value));
  forgetLast();
  FreedComms::all().note(comm);
  if (Job::current()) // else MPI_Finalize frees the last communicators
    Job::current()->freeLater(std::move(*served));
  return MPI_SUCCESS;
}

ServedComm *KnownComms::lookUp(MPI_Comm comm) {
  void *value = nullptr;
  int isThere = 0;
  if (!Job::current() || comm == MPI_COMM_NULL ||
      real::Comm_get_attr(comm, keyval(), &value, &isThere) != MPI_SUCCESS || !isThere)
    return nullptr;
  ServedComm *served = static_cast<Attribute *>(value)->get();
  if (!served->isConfirmedFor(comm)) {
    real::Comm_delete_attr(comm, keyval());
    return nullptr;
  }
  // Otherwise each call must be seen: its buffers are checked, its time is taken, or ranks compare
  // it.
  bool isLookedAt = Settings::all().wantsSummary() || Settings::all().checksCalls();
  if (!Accelerators::arePresent() && !isLookedAt)
    last_ = {comm, served, numDeleted_.load(std::memory_order_relaxed)};
  return served;
}

} // namespace colldsl::mpi
