#include "mpi/CheckCalls.h"

#include "mpi/EntryPoints.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"

#include "ir/Concat.h"

#include <algorithm>
#include <vector>

namespace colldsl::mpi {
namespace {

constexpr int64_t kNotCompared = -1;
constexpr int32_t kUsersOperator = -2;

/// The values that ranks compare, in the form in which they are sent. Zeros if a call has no such
/// value.
struct Compared {
  CallKind kind = CallKind::Barrier;
  int32_t root = 0;
  int32_t op = 0;
  char type[36] = {}; ///< of a reduction, if it is one of MPI's
  int64_t bytes = 0;  ///< of a block
};

const std::pair<MPI_Op, const char *> kOperators[] = {
#define COLLDSL_REDUCTION(Name, spelling, commutative, operands, neutral, mpi) {mpi, #mpi},
#define COLLDSL_STAND_IN(...)
#include "ir/Vocabulary.def"
    {MPI_MINLOC, "MPI_MINLOC"},
    {MPI_MAXLOC, "MPI_MAXLOC"},
};

int32_t numberOf(MPI_Op op) {
  for (size_t i = 0; i < std::size(kOperators); ++i)
    if (kOperators[i].first == op)
      return static_cast<int32_t>(i);
  return kUsersOperator;
}

std::string operatorWord(int32_t number) {
  return number == kUsersOperator ? "one of the program's" : kOperators[number].second;
}

int64_t bytesOf(const BlockSide &side) {
  int size = 0;
  if (side.type == MPI_DATATYPE_NULL) // a block without bytes may have any type
    return side.count == 0 ? 0 : kNotCompared;
  if (real::Type_size(side.type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED)
    return kNotCompared;
  return static_cast<int64_t>(side.count) * size;
}

Compared comparedOf(const Call &call, int rank) {
  Compared mine;
  mine.kind = call.kind;
  if (hasRoot(call.kind))
    mine.root = call.root;
  const BlockSide *side = call.blockSide(call.root == rank);
  mine.bytes = side ? bytesOf(*side) : kNotCompared;
  if (!reduces(call.kind))
    return mine;
  mine.op = numberOf(call.op);
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  if (call.recv.type != MPI_DATATYPE_NULL &&
      real::Type_get_name(call.recv.type, name, &length) == MPI_SUCCESS &&
      std::string_view(name).starts_with("MPI_"))
    std::string_view(name).copy(mine.type, sizeof mine.type - 1);
  return mine;
}

/// "disagree on the root: 0 on rank 0, 1 on rank 3".
Status differ(int a, int b, const char *what, const std::string &ofA, const std::string &ofB) {
  return Status::error(concat("rank ", a, " and rank ", b, " disagree on the ", what, ": ", ofA,
                              " on rank ", a, ", ", ofB, " on rank ", b));
}

Status compare(int a, const Compared &first, int b, const Compared &other) {
  if (first.kind != other.kind)
    return differ(a, b, "collective", factsOf(first.kind).name, factsOf(other.kind).name);
  if (first.root != other.root)
    return differ(a, b, "root", std::to_string(first.root), std::to_string(other.root));
  if (first.op != other.op)
    return differ(a, b, "operator", operatorWord(first.op), operatorWord(other.op));
  if (std::string_view(first.type) != other.type && first.type[0] && other.type[0])
    return differ(a, b, "type", first.type, other.type);
  if (first.bytes != other.bytes && first.bytes != kNotCompared && other.bytes != kNotCompared)
    return differ(a, b, "bytes of a block", std::to_string(first.bytes),
                  std::to_string(other.bytes));
  return {};
}

} // namespace

Status checkAlike(MPI_Comm comm, const Call &call) {
  int rank = 0, ranks = 0, isInter = 0;
  if (comm == MPI_COMM_NULL || real::Comm_test_inter(comm, &isInter) != MPI_SUCCESS || isInter ||
      real::Comm_rank(comm, &rank) != MPI_SUCCESS || real::Comm_size(comm, &ranks) != MPI_SUCCESS)
    return {}; // the MPI below reports it
  Compared mine = comparedOf(call, rank);
  std::vector<Compared> all(static_cast<size_t>(ranks));
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm,
                              &request);
  if (code == MPI_SUCCESS)
    code = mustMove() ? waitBelow(&request, MPI_STATUS_IGNORE)
                      : callBelow(real::Wait, &request, MPI_STATUS_IGNORE);
  for (int r = 1; r < ranks && code == MPI_SUCCESS; ++r)
    if (Status s = compare(0, all[0], r, all[static_cast<size_t>(r)]); !s) {
      if (rank == 0)
        printMessage("colldsl: %s: %s\n", factsOf(call.kind).name, s.message().c_str());
      return s;
    }
  return {};
}

} // namespace colldsl::mpi
