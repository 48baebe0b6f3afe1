#include "tests/mpi/Meeting.h"

#include <ctime>
#include <unistd.h>

namespace conformance {
namespace {

constexpr int kFirstTag = 3000;

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

Meeting::Meeting(const Members &members, const Deal &deal, Random local, Report &report)
    : members_(members), deal_(deal), local_(local), report_(report),
      label_(describe(members, deal)), tag_(kFirstTag + members.meetings++), others_(members.size) {
}

void Meeting::prepare() {
  for (int peer = 0; peer < members_.size; ++peer)
    MPI_Irecv(&others_[peer], 1, MPI_DOUBLE, peer, tag_, members_.oracle,
              &requests_.emplace_back());
  report_.doing(label_);
  call_.initialize(deal_.form, arguments(), label_, report_);
}

CollectiveArguments Meeting::arguments() const {
  CollectiveArguments all;
  all.comm = members_.comm;
  return all;
}

// A late rank shows which ranks do not wait.
MPI_Request Meeting::start() {
  if (local_.oneIn(3))
    usleep(local_.below(2000));
  entered_ = now();
  for (int peer = 0; peer < members_.size; ++peer)
    MPI_Isend(&entered_, 1, MPI_DOUBLE, peer, tag_, members_.oracle, &requests_.emplace_back());
  MPI_Request request = call_.start(deal_.form, arguments(), label_, report_);
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
