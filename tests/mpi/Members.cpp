#include "tests/mpi/Members.h"

namespace conformance {
namespace {

// For ranks in an order that is no order of theirs.
int shuffledKey(Random &random, int rank) {
  return static_cast<int>(Random({random.next(), static_cast<uint64_t>(rank)}).below(1 << 20));
}

MPI_Comm split(int color, int key) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
  return part;
}

} // namespace

Members::Members(MPI_Comm from, std::string kind) : comm(from) {
  MPI_Comm_dup(comm, &oracle);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  name = kind + " of " + std::to_string(size);
}

Members::Members(Members &&other) noexcept
    : comm(std::exchange(other.comm, MPI_COMM_NULL)),
      oracle(std::exchange(other.oracle, MPI_COMM_NULL)), rank(other.rank), size(other.size),
      meetings(other.meetings), name(std::move(other.name)) {}

Members::~Members() {
  if (oracle != MPI_COMM_NULL)
    MPI_Comm_free(&oracle);
  if (comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)
    MPI_Comm_free(&comm);
}

Members makeMembers(Random &random) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint32_t kind = random.below(8);
  int key = shuffledKey(random, rank), one = random.between(0, size - 1);
  MPI_Comm duplicate;
  switch (kind) {
  case 0:
    return Members(MPI_COMM_SELF, "self");
  case 1:
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    return Members(duplicate, "duplicate");
  case 2:
    return Members(split(0, -rank), "reversed world");
  case 3:
    return Members(split(rank % 2, -rank), "reversed half");
  case 4:
    return Members(split(rank < size / 3, rank), "third");
  case 5:
    return Members(split(rank == one, key), "all but one, shuffled");
  case 6:
    return Members(split(0, key), "shuffled world");
  default:
    return Members(MPI_COMM_WORLD, "world");
  }
}

} // namespace conformance
