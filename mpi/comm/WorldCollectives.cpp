#include "mpi/comm/WorldCollectives.h"

#include "mpi/Real.h"

#include <numeric>
#include <sched.h>
#include <vector>

namespace colldsl::mpi {
namespace {

/// Starts a collective with `start(request)`, and waits for its end.
template <typename Start> int startAndYield(Start start) {
  MPI_Request request = MPI_REQUEST_NULL;
  int isDone = 0, code = start(&request);
  while (code == MPI_SUCCESS) {
    code = real::Test(&request, &isDone, MPI_STATUS_IGNORE);
    if (isDone)
      break;
    sched_yield();
  }
  return code;
}

} // namespace

int bcast(void *data, int bytes, MPI_Comm comm) {
  return startAndYield(
      [&](MPI_Request *request) { return real::Ibcast(data, bytes, MPI_BYTE, 0, comm, request); });
}

int allgather(const void *mine, void *all, int bytes, MPI_Comm comm) {
  return startAndYield([&](MPI_Request *request) {
    return real::Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, request);
  });
}

int allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return startAndYield([&](MPI_Request *request) {
    return real::Iallreduce(mine, all, count, type, op, comm, request);
  });
}

bool allAgree(MPI_Comm comm, bool word) {
  int mine = word, all = 0;
  allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
}

// Values are the same if the least is the greatest.
bool allHave(uint64_t value) {
  uint64_t both[2] = {value, ~value}, least[2] = {};
  allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return least[0] == ~least[1];
}

std::string gatherTexts(const std::string &mine) {
  int rank = 0, ranks = 1, length = static_cast<int>(mine.size());
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  real::Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> lengths(static_cast<size_t>(ranks)), places(lengths.size());
  real::Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
  size_t bytes = static_cast<size_t>(places.back() + lengths.back());
  std::string all(rank == 0 ? bytes : 0, ' ');
  real::Gatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE,
                0, MPI_COMM_WORLD);
  return all;
}

} // namespace colldsl::mpi
