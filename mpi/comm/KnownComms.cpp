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

CommRecord &KnownComms::add(MPI_Comm comm, std::unique_ptr<CommRecord> record) {
  real::Comm_set_attr(comm, keyval(), record.get());
  return *record.release();
}

CommRecord &KnownComms::recordOrNew(MPI_Comm comm) {
  CommRecord *known = recordOf(comm);
  return known ? *known : add(comm, std::make_unique<CommRecord>());
}

// A duplicate is known from the start, as long as there are contexts kept for it.
int KnownComms::onCopy(MPI_Comm comm, int, void *, void *, void *copy, int *isKept) {
  std::unique_ptr<CommRecord> made = Duplication::duplicate(comm);
  *isKept = made != nullptr;
  if (made)
    *static_cast<void **>(copy) = made.release();
  return MPI_SUCCESS;
}

int KnownComms::onDelete(MPI_Comm comm, int, void *value, void *) {
  std::unique_ptr<CommRecord> record(static_cast<CommRecord *>(value));
  forgetLast();
  if (!record->served())
    return MPI_SUCCESS;
  FreedComms::all().note(comm);
  if (Job::current()) // else MPI_Finalize frees the last communicators
    Job::current()->freeLater(std::move(record));
  return MPI_SUCCESS;
}

CommRecord *KnownComms::lookUp(MPI_Comm comm) {
  void *value = nullptr;
  int isThere = 0;
  if (!Job::current() || comm == MPI_COMM_NULL ||
      real::Comm_get_attr(comm, keyval(), &value, &isThere) != MPI_SUCCESS || !isThere)
    return nullptr;
  auto *record = static_cast<CommRecord *>(value);
  last_ = {comm, record, Settings::all().checksCalls() ? nullptr : record, nullptr,
           numDeleted_.load(std::memory_order_relaxed)};
  return last_.record;
}

ServedComm *KnownComms::of(MPI_Comm comm) {
  if (ServedComm *last = cached(comm))
    return last;
  bool isWrong = false;
  CommRecord *record = recordOf(comm);
  ServedComm *served = record ? record->serve(comm, isWrong) : nullptr;
  if (isWrong)
    real::Comm_delete_attr(comm, keyval());
  // Otherwise each call must be seen: its buffers are checked, its time is taken, or ranks compare
  // it.
  bool isLookedAt = Settings::all().wantsSummary() || Settings::all().checksCalls();
  if (served && !Accelerators::arePresent() && !isLookedAt)
    last_.served = served;
  return served;
}

} // namespace colldsl::mpi
