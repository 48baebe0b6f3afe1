// Allocations that fail in calls that are served: each rank gets MPI_ERR_NO_MEM or the right
// result, none waits for good, and the next call works.
#include "mpi/Mpi.h"
#include "tests/runtime/FailingAllocator.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <sys/resource.h>
#include <vector>

namespace colldsl::mpi::test {
namespace {

using colldsl::test::allocationsUntilFailure;

struct World {
  int rank = 0, ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

int classOf(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

bool allRanksAgree(bool word) {
  int mine = word, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

int complete(int code, MPI_Request &request) {
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/// So many ints in descending order.
MPI_Datatype backwards(int count) {
  std::vector<int> places;
  for (int i = count - 1; i >= 0; --i)
    places.push_back(i);
  MPI_Datatype type;
  MPI_Type_create_indexed_block(count, 1, places.data(), MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Buffers of a call: `count` ints for each rank.
struct Buffers {
  World world;
  int count;
  std::vector<int> sent, got, counts, places;
  MPI_Datatype type;
  explicit Buffers(int count)
      : count(count), sent(static_cast<size_t>(world.ranks * count), world.rank), got(sent.size()),
        counts(static_cast<size_t>(world.ranks), count), type(backwards(count)) {
    for (int r = 0; r < world.ranks; ++r)
      places.push_back(r * count);
  }
  ~Buffers() { MPI_Type_free(&type); }
  Buffers(const Buffers &) = delete;
  Buffers &operator=(const Buffers &) = delete;
  bool gotFromAll() const {
    for (int r = 0; r < world.ranks; ++r)
      for (int i = 0; i < count; ++i)
        if (got[static_cast<size_t>(r * count + i)] != r)
          return false;
    return true;
  }
  bool gotSum() const {
    for (int i = 0; i < count; ++i)
      if (got[static_cast<size_t>(i)] != world.ranks * (world.ranks - 1) / 2)
        return false;
    return true;
  }
};

void add(void *in, void *inout, int *length, MPI_Datatype *) {
  for (int i = 0; i < *length; ++i)
    static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

MPI_Op addition() {
  static MPI_Op made = [] {
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    return op;
  }();
  return made;
}

struct Row {
  const char *name;
  int (*call)(Buffers &b, MPI_Comm comm);
  bool (Buffers::*isRight)() const;
};

constexpr Row kRows[] = {
    {"allgather",
     [](Buffers &b, MPI_Comm comm) {
       return MPI_Allgather(b.sent.data(), b.count, MPI_INT, b.got.data(), b.count, MPI_INT, comm);
     },
     &Buffers::gotFromAll},
    {"alltoallv",
     [](Buffers &b, MPI_Comm comm) {
       return MPI_Alltoallv(b.sent.data(), b.counts.data(), b.places.data(), MPI_INT, b.got.data(),
                            b.counts.data(), b.places.data(), MPI_INT, comm);
     },
     &Buffers::gotFromAll},
    {"allreduce by a function",
     [](Buffers &b, MPI_Comm comm) {
       return MPI_Allreduce(b.sent.data(), b.got.data(), b.count, MPI_INT, addition(), comm);
     },
     &Buffers::gotSum},
    {"nonblocking allreduce",
     [](Buffers &b, MPI_Comm comm) {
       MPI_Request request;
       int code =
           MPI_Iallreduce(b.sent.data(), b.got.data(), b.count, MPI_INT, MPI_SUM, comm, &request);
       return complete(code, request);
     },
     &Buffers::gotSum},
    {"persistent alltoall",
     [](Buffers &b, MPI_Comm comm) {
       MPI_Request request;
       int code =
           COLLDSL_MPI_PERSISTENT(Alltoall_init)(b.sent.data(), b.count, MPI_INT, b.got.data(),
                                                 b.count, MPI_INT, comm, MPI_INFO_NULL, &request);
       if (code == MPI_SUCCESS)
         code = MPI_Start(&request);
       bool isMade = code == MPI_SUCCESS;
       code = complete(code, request);
       if (isMade)
         MPI_Request_free(&request);
       return code;
     },
     &Buffers::gotFromAll},
    {"alltoall of a derived type",
     [](Buffers &b, MPI_Comm comm) {
       return MPI_Alltoall(b.sent.data(), 1, b.type, b.got.data(), 1, b.type, comm);
     },
     &Buffers::gotFromAll},
};

/// A graph in which each rank is the neighbor of all, itself too.
MPI_Comm makeGraph(const World &world) {
  std::vector<int> all;
  for (int r = 0; r < world.ranks; ++r)
    all.push_back(r);
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, world.ranks, all.data(), MPI_UNWEIGHTED,
                                 world.ranks, all.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  return graph;
}

constexpr Row kNeighborRows[] = {
    {"neighbor alltoall",
     [](Buffers &b, MPI_Comm comm) {
       return MPI_Neighbor_alltoall(b.sent.data(), b.count, MPI_INT, b.got.data(), b.count, MPI_INT,
                                    comm);
     },
     &Buffers::gotFromAll},
    {"nonblocking neighbor alltoallv",
     [](Buffers &b, MPI_Comm comm) {
       MPI_Request request;
       int code = MPI_Ineighbor_alltoallv(b.sent.data(), b.counts.data(), b.places.data(), MPI_INT,
                                          b.got.data(), b.counts.data(), b.places.data(), MPI_INT,
                                          comm, &request);
       return complete(code, request);
     },
     &Buffers::gotFromAll},
};

class ShortMemory : public testing::Test, protected World {
protected:
  ShortMemory() : graph_(makeGraph(*this)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~ShortMemory() override {
    MPI_Comm_free(&comm_);
    MPI_Comm_free(&graph_);
  }

  /// Of a call in which memory is short on one rank, or on all (-1). The other ranks get that
  /// error, or the one of a call that this rank does not take part in.
  void expectResult(const Row &row, const Buffers &buffers, int code, int shortRank) {
    int got = classOf(code);
    if (code == MPI_SUCCESS)
      EXPECT_TRUE((buffers.*row.isRight)());
    else if (shortRank == rank)
      EXPECT_EQ(got, MPI_ERR_NO_MEM);
    else
      EXPECT_TRUE(got == MPI_ERR_OTHER || got == MPI_ERR_TRUNCATE || got == MPI_ERR_NO_MEM) << got;
  }

  void expectRight(const Row &row, MPI_Comm comm, int count) {
    Buffers buffers(count);
    EXPECT_EQ(classOf(row.call(buffers, comm)), MPI_SUCCESS);
    EXPECT_TRUE((buffers.*row.isRight)());
  }

  // Each count is a new call, whose operation is prepared.
  void failEachOnce(const Row &row, MPI_Comm comm) {
    for (int shortRank : {0, ranks - 1, -1}) { // -1: all
      bool isShort = shortRank < 0 || shortRank == rank;
      bool hasFailed = true;
      int count = 1;
      for (int64_t n = 0; hasFailed; ++n, count = count % 4000 + 1) {
        SCOPED_TRACE(testing::Message() << row.name << ", allocation " << n << " fails on rank "
                                        << shortRank << ", " << count << " ints");
        Buffers buffers(count);
        allocationsUntilFailure = isShort ? n : -1;
        int code = row.call(buffers, comm);
        bool hasFailedHere = isShort && allocationsUntilFailure < 0;
        allocationsUntilFailure = -1;
        hasFailed = !allRanksAgree(!hasFailedHere);
        expectResult(row, buffers, code, shortRank);
        expectRight(row, comm, count);
        if (!allRanksAgree(!testing::Test::HasFailure()))
          return;
      }
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL, graph_;
};

TEST_F(ShortMemory, EachAllocationFailsOnceInACollective) {
  for (const Row &row : kRows)
    failEachOnce(row, comm_);
}

TEST_F(ShortMemory, EachAllocationFailsOnceBetweenNeighbors) {
  for (const Row &row : kNeighborRows)
    failEachOnce(row, graph_);
}

/// While one lives this process gets no memory from the system.
class NoMoreMemory {
public:
  NoMoreMemory() {
    getrlimit(RLIMIT_AS, &before_);
    rlimit none = before_;
    none.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &none);
  }
  ~NoMoreMemory() { setrlimit(RLIMIT_AS, &before_); }
  NoMoreMemory(const NoMoreMemory &) = delete;
  NoMoreMemory &operator=(const NoMoreMemory &) = delete;

private:
  rlimit before_ = {};
};

// For good, until it is lifted.
TEST_F(ShortMemory, TheSystemHasNoMore) {
  for (int shortRank : {0, ranks - 1, -1})
    for (const Row &row : kRows)
      for (int count : {100, 20000, 1 << 18}) {
        SCOPED_TRACE(testing::Message()
                     << row.name << ", " << count << " ints, rank " << shortRank);
        bool isShort = shortRank < 0 || shortRank == rank;
        std::vector<std::unique_ptr<Buffers>> buffers;
        for (int i = 0; i < 3; ++i)
          buffers.push_back(std::make_unique<Buffers>(count));
        std::vector<int> codes;
        codes.reserve(buffers.size());
        {
          std::optional<NoMoreMemory> limit;
          if (isShort)
            limit.emplace();
          for (auto &b : buffers)
            codes.push_back(row.call(*b, comm_));
        }
        for (size_t i = 0; i < codes.size(); ++i)
          expectResult(row, *buffers[i], codes[i], shortRank);
        expectRight(row, comm_, count);
      }
}

} // namespace
} // namespace colldsl::mpi::test
