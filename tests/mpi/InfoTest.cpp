// Info keys of neighbourhood communicators: which ranks must give them, the answers of get_info,
// the effect of info hints that are true, wrong and not given. Linked with the entries themselves.
#include "mpi/comm/ServedComm.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>

namespace colldsl::mpi::test {
namespace {

constexpr const char *kStrict = "cdag_strict_communication";
constexpr const char *kExact = "cdag_exact_byte_communications";
constexpr const char *kStatic = "cdag_static_buffers";

struct World {
  int rank = 0, ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

using Words = std::vector<std::pair<const char *, const char *>>;

/// An info object with these keys and values, for one call.
class Info {
public:
  explicit Info(const Words &words) {
    MPI_Info_create(&info_);
    for (auto [key, value] : words)
      MPI_Info_set(info_, key, value);
  }
  ~Info() { MPI_Info_free(&info_); }
  operator MPI_Info() const { return info_; }

private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// "" where the key is not answered.
std::string answer(MPI_Comm comm, const char *key) {
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  char value[64] = "";
  int isThere = 0;
  MPI_Info_get(info, key, 63, value, &isThere);
  MPI_Info_free(&info);
  return isThere ? value : "";
}

std::string answers(MPI_Comm comm) {
  return answer(comm, kStrict) + " " + answer(comm, kExact) + " " + answer(comm, kStatic);
}

/// An edge to the next rank and one to the one before.
MPI_Comm makeRing(MPI_Info info) {
  World world;
  int next = (world.rank + 1) % world.ranks;
  int before = (world.rank + world.ranks - 1) % world.ranks;
  int sources[] = {before, next}, targets[] = {next, before};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets,
                                 MPI_UNWEIGHTED, info, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

MPI_Comm makeRing(const Words &words) { return makeRing(Info(words)); }

TEST(Info, KeysThatAllRanksGiveAreAnswered) {
  MPI_Comm ring = makeRing(MPI_INFO_NULL);
  EXPECT_EQ(answers(ring), "false false false");
  MPI_Comm_free(&ring);
  ring = makeRing({{kStrict, "true"}});
  EXPECT_EQ(answers(ring), "true false false");
  MPI_Comm_free(&ring);
  ring = makeRing({{kExact, "true"}, {"no_such_key", "true"}});
  EXPECT_EQ(answers(ring), "false true false");
  MPI_Comm_free(&ring);
  ring = makeRing({{kStatic, "true"}, {kStrict, "true"}});
  EXPECT_EQ(answers(ring), "true false true");
  MPI_Comm_free(&ring);
}

TEST(Info, AKeyThatOneRankDoesNotGiveDoesNotHold) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  for (int one = 0; one < world.ranks; ++one) {
    bool isOne = world.rank == one;
    MPI_Comm ring = isOne ? makeRing({{kExact, "true"}}) : makeRing({{kStatic, "true"}});
    EXPECT_EQ(answers(ring), "false false false");
    MPI_Comm_set_info(ring, Info(Words{{isOne ? kStatic : kExact, "true"}}));
    EXPECT_EQ(answers(ring), "false true true");
    MPI_Comm_set_info(ring, Info(isOne ? Words{{kExact, "false"}} : Words{}));
    EXPECT_EQ(answers(ring), "false false true");
    MPI_Comm_free(&ring);
  }
}

TEST(Info, OtherValuesHaveNoEffect) {
  MPI_Comm ring = makeRing({{kStatic, "yes"}, {kExact, "true"}, {kStrict, "true indeed"}});
  EXPECT_EQ(answers(ring), "false true false");
  for (const char *value : {"no", "TRUE", "0", "truely", "false but only on some weekdays"}) {
    MPI_Comm_set_info(ring, Info(Words{{kStatic, value}, {kExact, value}}));
    EXPECT_EQ(answers(ring), "false true false") << value;
  }
  MPI_Comm_free(&ring);
}

TEST(Info, DuplicatesHaveTheirOwnHints) {
  MPI_Comm ring = makeRing({{kStatic, "true"}}), copy;
  MPI_Comm_dup(ring, &copy);
  EXPECT_EQ(answers(copy), "false false false");
  MPI_Comm_free(&copy);
  for (int i = 0; i < 17; ++i) { // more than there are contexts kept for
    MPI_Comm_dup_with_info(ring, Info(Words{{kStrict, "true"}}), &copy);
    EXPECT_EQ(answers(copy), "true false false");
    MPI_Comm_free(&copy);
  }
  EXPECT_EQ(answers(ring), "false false true");
  MPI_Comm_free(&ring);
}

#ifdef COLLDSL_MPI_IDUP_WITH_INFO
std::string answerInTheEnd(MPI_Comm comm, const char *key, const char *expected) {
  std::string last;
  for (double end = MPI_Wtime() + 20; last != expected && MPI_Wtime() < end;)
    last = answer(comm, key);
  return last;
}

// Between the call and its end the others do something else, so it must not wait for them.
TEST(Info, PendingDuplicatesHaveTheirOwnHints) {
  World world;
  MPI_Comm ring = makeRing({{kStatic, "true"}}), copy;
  for (int i = 0; i < 5; ++i) {
    MPI_Request request;
    int word = i, next = (world.rank + 1) % world.ranks;
    if (world.rank != 0)
      MPI_Recv(&word, 1, MPI_INT, world.rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Info all(Words{{kStrict, "true"}}), some({{kStrict, "true"}, {kExact, "true"}});
    MPI_Comm_idup_with_info(ring, world.rank == 0 ? some : all, &copy, &request);
    if (next != 0)
      MPI_Send(&word, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i % 2) { // else freed before any query
      EXPECT_EQ(answerInTheEnd(copy, kStrict, "true"), "true");
      EXPECT_EQ(answer(copy, kExact), world.ranks == 1 ? "true" : "false");
    }
    int sent[2] = {world.rank, world.rank}, got[2];
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, copy);
    MPI_Comm_free(&copy);
  }
  EXPECT_EQ(answers(ring), "false false true");
  MPI_Comm_free(&ring);
}
#endif

TEST(Info, AllTopologiesHaveThem) {
  World world;
  int isPeriodic = 1, degree = 1, next = (world.rank + 1) % world.ranks;
  Info all({{kStrict, "true"}, {kExact, "true"}, {kStatic, "true"}});
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world.ranks, &isPeriodic, 0, &comm);
  MPI_Comm_set_info(comm, all);
  EXPECT_EQ(answers(comm), "true true true");
  MPI_Comm_free(&comm);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world.rank, &degree, &next, MPI_UNWEIGHTED, all, 0,
                        &comm);
  EXPECT_EQ(answers(comm), "true true true");
  MPI_Comm_free(&comm);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, all, &comm);
  EXPECT_EQ(KnownComms::of(comm)->hints().agreed().text(), "") << "there is no neighbourhood";
  MPI_Comm_free(&comm);
}

/// Random edges, known to all ranks, several between two and from one to itself.
class Graph {
public:
  Graph(unsigned seed, int edges, MPI_Info info) {
    std::mt19937 random(seed);
    out_.resize(world_.ranks);
    in_.resize(world_.ranks);
    std::vector<std::pair<int, int>> all;
    for (int e = 0; e < edges; ++e) {
      int from = random() % world_.ranks, to = random() % world_.ranks;
      all.emplace_back(from, to);
      out_[from].push_back(to);
    }
    std::shuffle(all.begin(), all.end(), random);
    for (auto [from, to] : all)
      in_[to].push_back(from);
    std::vector<int> sources = in(), targets = out();
    sources.push_back(0); // an empty list has an address too
    targets.push_back(0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in().size(), sources.data(), MPI_UNWEIGHTED,
                                   out().size(), targets.data(), MPI_UNWEIGHTED, info, 0, &comm);
  }
  ~Graph() { MPI_Comm_free(&comm); }

  const std::vector<int> &out() const { return out_[world_.rank]; }
  const std::vector<int> &in() const { return in_[world_.rank]; }

  /// The slot at which the peer of a slot in sends what arrives there.
  int slotThere(int slot) const {
    int peer = in()[slot];
    auto earlier = std::count(in().begin(), in().begin() + slot, peer);
    int there = 0;
    while (out_[peer][there] != world_.rank || earlier-- > 0)
      ++there;
    return there;
  }

  MPI_Comm comm = MPI_COMM_NULL;

private:
  World world_;
  std::vector<std::vector<int>> out_, in_;
};

uint32_t contentOf(int rank, int slot, int element, int iteration) {
  return ((rank * 64u + slot) * 65536u + element) * 7u + iteration;
}

/// Calls of all kinds along a graph, each with buffers and lists of its own. `block`: elements.
class Calls {
public:
  static constexpr int kKinds = 5;

  Calls(Graph &graph, int block) : graph_(graph), block_(block) {
    MPI_Type_contiguous(block, MPI_UINT32_T, &type_);
    MPI_Type_commit(&type_);
    for (Room &room : rooms_) {
      lay(room.sent, std::max<size_t>(1, graph.out().size()));
      lay(room.got, graph.in().size());
    }
  }
  ~Calls() { MPI_Type_free(&type_); }

  /// One call, with new contents, which is checked.
  void check(int kind, int iteration, bool isBlocking) {
    Room &room = rooms_[kind];
    size_t blocks = isSame(kind) ? 1 : graph_.out().size();
    for (size_t slot = 0; slot < blocks; ++slot)
      for (int i = 0; i < block_; ++i)
        room.sent.at(slot)[i] = contentOf(world_.rank, slot, i, iteration);
    std::fill(room.got.words.begin(), room.got.words.end(), 0);
    call(kind, isBlocking);
    for (size_t slot = 0; slot < graph_.in().size(); ++slot)
      for (int i = 0; i < block_; ++i)
        ASSERT_EQ(
            room.got.at(slot)[i],
            contentOf(graph_.in()[slot], isSame(kind) ? 0 : graph_.slotThere(slot), i, iteration))
            << "kind " << kind << " slot " << slot << " element " << i << " call " << iteration;
  }

  /// The same arguments at another place.
  void move(int kind, bool alsoLists) {
    Room moved = rooms_[kind];
    spare_.push_back(std::move(rooms_[kind])); // so that nothing new lies where it was
    rooms_[kind] = std::move(moved);
    if (!alsoLists) {
      std::swap(rooms_[kind].sent.words, spare_.back().sent.words);
      std::swap(rooms_[kind].got.words, spare_.back().got.words);
    }
  }

  /// Blocks the other way round, in the same lists.
  void turnRound(int kind) {
    for (Lists *lists : {&rooms_[kind].sent, &rooms_[kind].got}) {
      std::reverse(lists->elements.begin(), lists->elements.end());
      std::reverse(lists->places.begin(), lists->places.end());
    }
  }

  /// Another datatype for the same blocks, mostly with the handle of the one before.
  void retype() {
    MPI_Type_free(&type_);
    MPI_Type_vector(block_, 1, 1, MPI_UINT32_T, &type_);
    MPI_Type_commit(&type_);
    for (Room &room : rooms_)
      for (Lists *lists : {&room.sent, &room.got})
        std::fill(lists->types.begin(), lists->types.end(), type_);
  }

private:
  struct Lists {
    std::vector<uint32_t> words;
    std::vector<int> counts, ones; ///< in words and in blocks of a type
    std::vector<int> elements;     ///< where blocks begin, in words and in bytes
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;

    uint32_t *at(size_t slot) { return words.data() + elements[slot]; }
  };
  struct Room {
    Lists sent, got;
  };

  static bool isSame(int kind) { return kind < 2; } ///< the same block to all

  void lay(Lists &lists, size_t slots) {
    lists.words.resize(slots * block_);
    lists.counts.assign(slots, block_);
    lists.ones.assign(slots, 1);
    lists.types.assign(slots, type_);
    for (size_t slot = 0; slot < slots; ++slot) {
      lists.elements.push_back(static_cast<int>(slot) * block_);
      lists.places.push_back(static_cast<MPI_Aint>(slot) * block_ * 4);
    }
  }

  void call(int kind, bool isBlocking) {
    Lists &s = rooms_[kind].sent, &r = rooms_[kind].got;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = graph_.comm;
    const MPI_Datatype word = MPI_UINT32_T;
#define BOTH(name, ...)                                                                            \
  (isBlocking ? MPI_Neighbor_##name(__VA_ARGS__) : MPI_Ineighbor_##name(__VA_ARGS__, &request))
    int code = MPI_ERR_OTHER;
    if (kind == 0)
      code = BOTH(allgather, s.words.data(), block_, word, r.words.data(), block_, word, comm);
    if (kind == 1)
      code = BOTH(allgatherv, s.words.data(), block_, word, r.words.data(), r.counts.data(),
                  r.elements.data(), word, comm);
    if (kind == 2)
      code = BOTH(alltoall, s.words.data(), 1, type_, r.words.data(), block_, word, comm);
    if (kind == 3)
      code = BOTH(alltoallv, s.words.data(), s.counts.data(), s.elements.data(), word,
                  r.words.data(), r.counts.data(), r.elements.data(), word, comm);
    if (kind == 4)
      code = BOTH(alltoallw, s.words.data(), s.ones.data(), s.places.data(), s.types.data(),
                  r.words.data(), r.ones.data(), r.places.data(), r.types.data(), comm);
#undef BOTH
    ASSERT_EQ(code, MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }

  World world_;
  Graph &graph_;
  int block_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Room rooms_[kKinds];
  std::vector<Room> spare_;
};

const Words kAll = {{kStrict, "true"}, {kExact, "true"}, {kStatic, "true"}};

// Short, through the ring of bytes, on request, and read out of the other process.
TEST(Info, APromiseThatIsKeptGivesRightResults) {
  for (int block : {1, 100, 1500, 20000, 80000})
    for (unsigned seed = 0; seed < 2; ++seed) {
      World world;
      Graph graph(seed, block > 1500 ? 2 * world.ranks : 6 * world.ranks, Info(kAll));
      Calls calls(graph, block);
      std::mt19937 random(seed);
      for (int i = 0; i < (block > 1500 ? 8 : 40); ++i)
        calls.check(random() % Calls::kKinds, i, random() % 2);
    }
}

// A change that one rank makes alone at some call is seen, whatever calls the others make.
TEST(Info, WithoutPromisesEachCallIsLookedAt) {
  World world;
  for (unsigned seed = 0; seed < 6; ++seed) {
    Graph graph(seed, 5 * world.ranks, MPI_INFO_NULL);
    Calls calls(graph, 5);
    std::mt19937 random(seed);
    for (int kind = 0; kind < Calls::kKinds; ++kind) {
      int when = 1 + random() % 8, who = random() % world.ranks, what = random() % 4;
      for (int i = 0; i < 10; ++i) {
        if (i == when && world.rank == who) {
          if (what == 0)
            calls.move(kind, true);
          else if (what == 1)
            calls.move(kind, false);
          else if (what == 2 && kind > 2)
            calls.turnRound(kind);
          else
            calls.retype();
        }
        calls.check(kind, i, i % 3 != 0);
      }
    }
  }
}

// Lists may move: their addresses are not part of the hint. Buffers may not, but it is seen and
// served.
TEST(Info, ABufferThatMovesAgainstThePromiseIsServed) {
  World world;
  for (bool alsoLists : {true, false})
    for (int kind = 0; kind < Calls::kKinds; ++kind) {
      Graph graph(kind, 5 * world.ranks, Info(kAll));
      Calls calls(graph, 5);
      for (int i = 0; i < 12; ++i) {
        if (world.rank == 0 && i % 4 == 2)
          calls.move(kind, alsoLists);
        calls.check(kind, i, i % 2);
      }
    }
}

// What is rewritten within lists is not looked at, until the hint is revoked.
TEST(Info, ListsThatAreRewrittenAgainstThePromiseAreThoseOfTheFirstCall) {
  World world;
  MPI_Comm ring = makeRing({{kStatic, "true"}});
  int sent[2] = {10 * world.rank, 10 * world.rank + 1}, got[2] = {-1, -1};
  int counts[2] = {1, 1}, sendPlaces[2] = {0, 1}, places[2] = {0, 1};
  int before = (world.rank + world.ranks - 1) % world.ranks, next = (world.rank + 1) % world.ranks;
  auto call = [&] {
    got[0] = got[1] = -1;
    return MPI_Neighbor_alltoallv(sent, counts, sendPlaces, MPI_INT, got, counts, places, MPI_INT,
                                  ring);
  };
  int fromBefore = 10 * before, fromNext = 10 * next + 1;
  EXPECT_EQ(call(), MPI_SUCCESS);
  EXPECT_EQ(got[0], fromBefore);
  EXPECT_EQ(got[1], fromNext);
  if (world.rank == 0)
    std::swap(places[0], places[1]);
  EXPECT_EQ(call(), MPI_SUCCESS);
  EXPECT_EQ(got[0], fromBefore);
  EXPECT_EQ(got[1], fromNext);
  MPI_Comm_set_info(ring, Info(Words{{kStatic, "false"}}));
  EXPECT_EQ(call(), MPI_SUCCESS);
  EXPECT_EQ(got[places[0]], fromBefore);
  EXPECT_EQ(got[places[1]], fromNext);
  MPI_Comm_free(&ring);
}

// The receiving rank gets the error, as without hints; the calls behind it are served.
TEST(Info, SizesThatDifferAgainstThePromiseAreAnError) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  MPI_Comm ring = makeRing(kAll);
  bool isHit = (world.rank + 1) % world.ranks == 0 || world.rank == 1;
  for (int block : {1, 1000, 20000}) {
    std::vector<int> sent(2 * block + 2), got(2 * block);
    for (int i = 0; i < 3; ++i) {
      int mine = i == 1 && world.rank == 0 ? block + 1 : block, found = MPI_SUCCESS;
      int code =
          MPI_Neighbor_alltoall(sent.data(), mine, MPI_INT, got.data(), block, MPI_INT, ring);
      MPI_Error_class(code, &found);
      EXPECT_EQ(found, i == 1 && isHit ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << block << " " << i;
    }
  }
  MPI_Comm_free(&ring);
}

} // namespace
} // namespace colldsl::mpi::test
