#include "tests/mpi/Meeting.h"

#include <ctime>
#include <unistd.h>

namespace conformance {
namespace {

constexpr int kTag = 3;

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

Meeting::Meeting(const Members &members, const Deal &deal, Random local, Report &report)
    : members_(members), deal_(deal), local_(local), report_(report),
      label_(describe(members, deal)), others_(members.size) {}

void Meeting::prepare() {
  for (int peer = 0; peer < members_.size; ++peer)
    MPI_Irecv(&others_[peer], 1, MPI_DOUBLE, peer, kTag, members_.oracle,
              &requests_.emplace_back());
  report_.doing(label_);
}

// Who comes late shows who does not wait.
MPI_Request Meeting::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (local_.oneIn(3))
    usleep(local_.below(2000));
  entered_ = now();
  for (int peer = 0; peer < members_.size; ++peer)
    MPI_Isend(&entered_, 1, MPI_DOUBLE, peer, kTag, members_.oracle, &requests_.emplace_back());
  CollectiveArguments arguments;
  arguments.comm = members_.comm;
  call_.emplace(deal_.form, arguments);
  report_.expectSuccess(call_->make(&request), label_);
  left_ = request == MPI_REQUEST_NULL ? now() : 0;
  return request;
}

void Meeting::check() {
  if (left_ == 0)
    left_ = now();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  for (int peer = 0; peer < members_.size; ++peer)
    report_.expect(others_[peer] <= left_, label_,
                   "it was over before rank " + std::to_string(peer) + " had begun it");
}

} // namespace conformance
