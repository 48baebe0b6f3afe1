#include "mpi/operations/Requests.h"

#include "mpi/Real.h"
#include "mpi/comm/FreedComms.h"

#include <algorithm>

namespace colldsl::mpi {

Requests *const Requests::all_ = new Requests;

Requests::Slot *Requests::lookUp(MPI_Request handle) {
  auto at = byHandle_.find(handle);
  if (at == byHandle_.end())
    return nullptr;
  last_ = at->second;
  return last_;
}

Requests::Slot &Requests::take() {
  if (!freed_.empty())
    reap();
  add(used_, kOne);
  if (!unused_.empty()) {
    last_ = unused_.back();
    unused_.pop_back();
    return *last_;
  }
  Slot &slot = slots_.emplace_back();
  // The request of a call that is never started. From Open MPI 5 on, Fortran's functions write
  // lists into the request of a collective; the request of a message has no room for these.
#ifdef COLLDSL_MPI_LISTS_IN_REQUESTS
  static char byte, copy; // on one rank a barrier, or an empty gather, has no such request
  real::Allgather_init(&byte, 1, MPI_BYTE, &copy, 1, MPI_BYTE, MPI_COMM_SELF, MPI_INFO_NULL,
                       &slot.handle);
#else
  real::Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &slot.handle);
#endif
  byHandle_[slot.handle] = &slot;
  uint32_t place = placeOf(slot.handle);
  known_[place / 64].fetch_or(uint64_t{1} << place % 64, std::memory_order_relaxed);
  last_ = &slot;
  return slot;
}

void Requests::release(Slot &slot) {
  slot.operation.reset();
  slot.isPersistent = slot.isFreed = false;
  unused_.push_back(&slot);
  add(used_, -static_cast<int>(kOne));
}

MPI_Request Requests::start(std::shared_ptr<Operation> operation, MPI_Comm comm, uint32_t number) {
  Slot &slot = take();
  slot.operation = std::move(operation);
  slot.comm = comm;
  slot.since = FreedComms::all().now();
  begin(slot, number);
  return slot.handle;
}

MPI_Request Requests::persistent(std::shared_ptr<Operation> operation, MPI_Comm comm) {
  Slot &slot = take();
  slot.operation = std::move(operation);
  slot.comm = comm;
  slot.since = FreedComms::all().now();
  slot.isPersistent = true;
  return slot.handle;
}

Status Requests::complete(Slot &slot, MPI_Request &handle) {
  Status status;
  if (slot.isRunning)
    status = slot.operation->finish();
  stop(slot, handle);
  return status;
}

void Requests::cancel(Slot &slot, MPI_Request &handle) {
  slot.operation->cancel();
  stop(slot, handle);
}

void Requests::free(Slot &slot, MPI_Request &handle) {
  handle = MPI_REQUEST_NULL;
  if (!slot.isRunning)
    return release(slot);
  slot.isFreed = true;
  freed_.push_back(&slot);
}

// Ends runs whose requests the program has freed; any thread that comes by calls it.
void Requests::reap() {
  std::erase_if(freed_, [&](Slot *slot) {
    if (!slot->isDone())
      return false;
    (void)slot->operation->finish();
    slot->isRunning = false;
    add(running_, -1);
    release(*slot);
    return true;
  });
}

void Requests::keepMoving() {
  uint32_t used = used_.load(std::memory_order_relaxed);
  if ((used & kMoves) != 0)
    return;
  used_.store(used | kMoves, std::memory_order_relaxed);
  add(running_, 1);
}

void Requests::end() {
  for (Slot &slot : slots_) {
    if (slot.isRunning)
      slot.operation->cancel();
    real::Request_free(&slot.handle);
  }
  slots_.clear();
  unused_.clear();
  freed_.clear();
  byHandle_.clear();
  last_ = nullptr;
  used_ = used_ & kThreads;
  running_ = 0;
}

} // namespace colldsl::mpi
