// Every reducing collective of the standard library with an operator that it does not know, on
// elements of any size, against the fold in the order of the ranks.
#include "ir/Concat.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace colldsl {
namespace {

using Words = std::vector<uint32_t>;

/// target = left op right, an element of so many words.
using Operation = void (*)(uint32_t *target, const uint32_t *left, const uint32_t *right,
                           uint32_t words);

/// Sums, exclusive ors and maxima, in turns.
void mixed(uint32_t *target, const uint32_t *left, const uint32_t *right, uint32_t words) {
  for (uint32_t i = 0; i < words; ++i)
    target[i] = i % 3 == 0   ? left[i] + right[i]
                : i % 3 == 1 ? left[i] ^ right[i]
                             : std::max(left[i], right[i]);
}

/// Products of 2x2 matrices modulo a prime.
void matrices(uint32_t *target, const uint32_t *left, const uint32_t *right, uint32_t words) {
  auto dot = [](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return static_cast<uint32_t>((a * b + c * d) % 65521);
  };
  for (uint32_t i = 0; i < words; i += 4) {
    const uint32_t *a = left + i, *b = right + i;
    uint32_t product[] = {dot(a[0], b[0], a[1], b[2]), dot(a[0], b[1], a[1], b[3]),
                          dot(a[2], b[0], a[3], b[2]), dot(a[2], b[1], a[3], b[3])};
    std::copy_n(product, 4, target + i);
  }
}

struct Operator {
  Operation operation;
  uint32_t words;
  bool commutes;

  Combiner combiner() const {
    return {apply, const_cast<Operator *>(this), words * sizeof(uint32_t)};
  }

private:
  static void apply(std::byte *target, const std::byte *first, const std::byte *source,
                    uint64_t bytes, Side side, void *context) {
    auto *self = static_cast<const Operator *>(context);
    Words own(bytes / sizeof(uint32_t)), incoming(own.size());
    std::memcpy(own.data(), first, bytes);
    std::memcpy(incoming.data(), source, bytes);
    for (size_t i = 0; i < own.size(); i += self->words) {
      uint32_t *a = &own[i], *b = &incoming[i];
      self->operation(a, side == Side::After ? a : b, side == Side::After ? b : a, self->words);
    }
    std::memcpy(target, own.data(), bytes);
  }
};

constexpr Operator kOperators[] = {{mixed, 3, true}, {matrices, 4, false}};
constexpr Operator kOddOperators[] = {{mixed, 5, true}, {mixed, 1000, true}, {matrices, 8, false}};

/// What a collective is called with, as its name tells it.
struct Shape {
  std::string name;
  const Operator &op;
  uint32_t numRanks, rank;
  uint64_t n;
  bool inPlace;

  bool starts(const char *prefix) const { return name.rfind(prefix, 0) == 0; }
  bool scatters() const { return starts("reduce_scatter"); }
  bool hasCounts() const { return scatters() && !starts("reduce_scatter_block"); }
  /// The lengths of blocks are those of buffers, no value of a parameter.
  bool hasLengths() const { return starts("reduce_scatterv"); }
  uint32_t root() const { return numRanks / 2; }
  std::vector<int64_t> counts() const {
    std::vector<int64_t> all;
    for (uint32_t r = 0; r < numRanks; ++r)
      all.push_back(static_cast<int64_t>(hasCounts() ? (7 * r + n) % 5 : n));
    return all;
  }
  uint64_t sum(uint32_t blocks) const {
    std::vector<int64_t> all = counts();
    return std::accumulate(all.begin(), all.begin() + blocks, uint64_t{0});
  }
  uint64_t inElements() const { return scatters() ? sum(numRanks) : n; }
  uint64_t outElements() const { return scatters() ? sum(rank + 1) - sum(rank) : n; }

  Words input(uint32_t of) const {
    Words all(inElements() * op.words);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<uint32_t>((of * 7919 + i + 1) * 2654435761u >> 8) % 65521;
    return all;
  }

  /// All ranks from 0 to before `end`, in order; those that have a result alone.
  Words expected() const {
    uint32_t end = starts("exscan") ? rank : starts("scan") ? rank + 1 : numRanks;
    Words all = input(0);
    for (uint32_t r = 1; r < end; ++r) {
      Words next = input(r);
      for (size_t i = 0; i < all.size(); i += op.words)
        op.operation(&all[i], &all[i], &next[i], op.words);
    }
    size_t first = scatters() ? sum(rank) * op.words : 0;
    return Words(all.begin() + first, all.begin() + first + outElements() * op.words);
  }
  bool isRooted() const { return starts("reduce") && !scatters(); }
  bool hasResult() const { return starts("exscan") ? rank > 0 : !isRooted() || rank == root(); }
  /// What is read lies where the result is to be; the others have no place for one.
  bool isAliased() const { return inPlace && (!isRooted() || rank == root()); }
};

BoundBuffer bound(Words &words) { return {words.data(), words.size() * sizeof(uint32_t)}; }

/// One collective on one rank.
class Trial {
public:
  Trial(Communicator &communicator, Library &library, const Shape &shape)
      : shape_(shape), plan_(communicator, library, shape.name), program_(**library.program()),
        in_(shape.inElements() * shape.op.words), out_(shape.outElements() * shape.op.words) {}

  /// What is wrong; empty: nothing.
  std::string run() {
    if (Status s = describe(); !s)
      return s.message();
    if (Status s = plan_.commit(); !s)
      return mayRefuse() ? "" : s.message();
    for (int run = 0; run < 2; ++run) {
      Words input = shape_.input(shape_.rank);
      std::copy(input.begin(), input.end(), shape_.isAliased() ? out_.begin() : in_.begin());
      if (Status s = plan_.start(); !s)
        return s.message();
      if (Status s = plan_.plan().wait(std::chrono::seconds(60)); !s)
        return s.message();
      const Words &result = isOneBuffer() ? in_ : out_;
      Words wanted = shape_.expected();
      if (shape_.hasResult() && !std::equal(wanted.begin(), wanted.end(), result.begin()))
        return "wrong";
    }
    return "";
  }

private:
  const Decl *decl() const {
    DeclId id = program_.find(shape_.name, DeclKind::Collective);
    return id == kNoDecl ? nullptr : &program_.decl(id);
  }
  bool has(const char *parameter) const {
    if (!decl()) // rules lead to any; all that MPI knows have these
      return (std::string_view(parameter) == "counts" && shape_.hasCounts() &&
              !shape_.hasLengths()) ||
             (std::string_view(parameter) == "root" && shape_.name == "reduce") ||
             std::string_view(parameter) == "x";
    return std::any_of(decl()->params.begin(), decl()->params.end(),
                       [&](const Param &p) { return program_.nameOf(p) == parameter; });
  }
  bool isOneBuffer() const { return !has("x"); }
  /// What is asked for by function is always served.
  bool mayRefuse() const {
    if (!decl() || decl()->requirements.empty())
      return false;
    return !shape_.op.commutes || (shape_.numRanks & (shape_.numRanks - 1)) != 0;
  }

  Status describe() {
    if (Status s = plan_.setCombiner(shape_.op.combiner(), shape_.op.commutes); !s)
      return s;
    if (Status s = plan_.setInPlace(shape_.inPlace); !s)
      return s;
    if (!shape_.hasCounts())
      if (Status s = plan_.setElements(shape_.n); !s)
        return s;
    if (has("counts"))
      if (Status s = plan_.setValue("counts", shape_.counts()); !s)
        return s;
    if (shape_.hasLengths())
      if (Status s = setLengths(); !s)
        return s;
    if (has("root"))
      if (Status s = plan_.setValue("root", int64_t{shape_.root()}); !s)
        return s;
    if (has("segment"))
      if (Status s = plan_.setValue("segment", int64_t{4096}); !s)
        return s;
    if (isOneBuffer())
      return plan_.bind(has("acc") ? "acc" : "y", bound(in_));
    if (!shape_.isAliased())
      if (Status s = plan_.bind("x", BoundBuffer::in(in_.data(), in_.size() * 4)); !s)
        return s;
    return plan_.bind("y", bound(out_));
  }

  /// The contribution of each other rank gets a place in `parts`.
  Status setLengths() {
    std::vector<int64_t> counts = shape_.counts();
    BlockTable all, own;
    all.length.assign(counts.begin(), counts.end());
    own.length = {all.length[shape_.rank]};
    if (Status s = plan_.setBlocks("x", all); !s)
      return s;
    if (Status s = plan_.setBlocks("y", own); !s)
      return s;
    own.length.assign(counts.size(), own.length.front());
    own.length[shape_.rank] = 0;
    parts_.resize(out_.size() * (counts.size() - 1));
    if (Status s = plan_.setBlocks("parts", own); !s)
      return s;
    return plan_.bind("parts", bound(parts_));
  }

  const Shape &shape_;
  CollectivePlan plan_;
  const Program &program_;
  Words in_, out_, parts_;
};

std::unique_ptr<Library> standardLibrary() {
  Result<std::unique_ptr<Library>> library = Library::open(COLLDSL_STANDARD_LIBRARY);
  EXPECT_TRUE(library.ok()) << (library.ok() ? "" : library.message());
  return library.ok() ? library.take() : nullptr;
}

/// Collectives of the standard library that reduce.
/// Those that are for so many ranks.
std::vector<std::string> reducers(const Program &program, uint32_t ranks) {
  std::vector<std::string> names;
  for (const Decl &decl : program.decls) {
    std::string name = program.nameOf(decl);
    if (name == "allreduce_exchange" && ranks > 2)
      continue;
    for (const char *prefix : {"reduce_", "allreduce_", "scan_", "exscan_"})
      if (decl.kind == DeclKind::Collective && name.rfind(prefix, 0) == 0)
        names.push_back(name);
  }
  return names;
}

std::string tryOn(Communicator &communicator, Library &library, const std::string &name,
                  const Operator &op, uint64_t n) {
  const Program &program = **library.program();
  DeclId id = program.find(name, DeclKind::Collective);
  bool hasPlace = id != kNoDecl && !program.decl(id).aliases.empty();
  std::string wrong;
  for (bool inPlace : {false, true}) {
    if (inPlace && !hasPlace)
      continue;
    Shape shape{name, op, communicator.numRanks(), index(communicator.rank()), n, inPlace};
    if (std::string s = Trial(communicator, library, shape).run(); !s.empty())
      wrong += concat(name, inPlace ? " in place" : "", " of ", n, " elements of ", op.words,
                      " words: ", s, "\n");
  }
  return wrong;
}

using Body = std::function<std::string(Communicator &, Library &)>;

/// What ranks on several nodes say is wrong.
std::string onRanks(uint32_t ranks, const Body &body) {
  LocalOptions options;
  options.numRanks = ranks;
  auto outcomes = runLocalRanks(options, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
    Result<Topology> topology = Topology::make("node:3 core:3", ranks);
    if (!topology)
      return topology.status();
    Communicator communicator(e, topology.take());
    std::unique_ptr<Library> library = standardLibrary();
    std::string wrong = body(communicator, *library);
    return wrong.empty() ? Result<std::vector<std::byte>>(std::vector<std::byte>())
                         : Result<std::vector<std::byte>>(Status::error(wrong));
  });
  Status s = outcomes ? firstFailure(*outcomes) : outcomes.status();
  return s ? "" : s.message();
}

class Combiners : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Combiners, ::testing::Range(1u, 10u));

TEST_P(Combiners, EveryCollectiveThatReduces) {
  EXPECT_EQ(onRanks(GetParam(),
                    [](Communicator &communicator, Library &library) {
                      std::string wrong;
                      for (const std::string &name :
                           reducers(**library.program(), communicator.numRanks()))
                        for (const Operator &op : kOperators)
                          for (uint64_t n : {3, 700})
                            wrong += tryOn(communicator, library, name, op, n);
                      return wrong;
                    }),
            "");
}

TEST_P(Combiners, EveryFunctionIsServedInTheOrderOfTheRanks) {
  EXPECT_EQ(onRanks(GetParam(),
                    [](Communicator &communicator, Library &library) {
                      std::string wrong;
                      for (const char *name :
                           {"reduce", "allreduce", "reduce_scatter_block", "reduce_scatter",
                            "reduce_scatterv", "scan", "exscan"})
                        for (const Operator &op : kOddOperators)
                          for (uint64_t n : {0, 1, 40})
                            wrong += tryOn(communicator, library, name, op, n);
                      return wrong;
                    }),
            "");
}

/// On one rank.
std::string alone(const std::function<std::string(CollectivePlan &)> &body,
                  const char *name = "allreduce_ring") {
  return onRanks(1, [&](Communicator &communicator, Library &library) {
    CollectivePlan plan(communicator, library, name);
    return body(plan);
  });
}

TEST(Combiner, SelectionCountsItsBytes) {
  EXPECT_EQ(onRanks(3,
                    [](Communicator &communicator, Library &library) -> std::string {
                      auto chosen = [&](const Operator &op, uint64_t n) {
                        Words x(n * op.words), y(x.size());
                        CollectivePlan plan(communicator, library, "allreduce");
                        (void)plan.setCombiner(op.combiner(), op.commutes);
                        (void)plan.setElements(n);
                        (void)plan.bind("x", bound(x));
                        (void)plan.bind("y", bound(y));
                        Status s = plan.commit();
                        return s ? plan.collective() : s.message();
                      };
                      for (auto [op, n, wanted] :
                           {std::tuple{kOddOperators[1], 4, "allreduce_recursive_doubling"},
                            std::tuple{kOddOperators[1], 5, "allreduce_rabenseifner"},
                            std::tuple{kOddOperators[1], 132, "allreduce_direct"},
                            std::tuple{kOddOperators[2], 4000, "allreduce_reduce_bcast"}})
                        if (std::string name = chosen(op, n); name != wanted)
                          return concat(name, ", not ", wanted);
                      return "";
                    }),
            "");
}

TEST(Combiner, SegmentsAreCutByItsBytes) {
  EXPECT_EQ(onRanks(2,
                    [](Communicator &communicator, Library &library) -> std::string {
                      const Operator &op = kOperators[0];
                      Words x(1000 * op.words), y(x.size());
                      CollectivePlan plan(communicator, library, "scan_chain");
                      (void)plan.setCombiner(op.combiner(), true);
                      (void)plan.setElements(1000);
                      (void)plan.setValue("segment", int64_t{4096});
                      (void)plan.bind("x", bound(x));
                      (void)plan.bind("y", bound(y));
                      if (Status s = plan.commit(); !s)
                        return s.message();
                      size_t messages = 0;
                      for (const ImageOp &o : plan.view().ops)
                        messages += isMessage(o.kind);
                      return messages == 3 ? "" : concat(messages, " messages"); // of 341 elements
                    }),
            "");
}

TEST(Combiner, BuffersHoldItsElements) {
  EXPECT_EQ(alone([](CollectivePlan &plan) {
              Words x(30), y(29);
              (void)plan.setCombiner(kOperators[0].combiner(), true);
              (void)plan.setElements(10);
              (void)plan.bind("x", bound(x));
              (void)plan.bind("y", bound(y));
              return plan.commit().message();
            }),
            "'y' needs 120 bytes, 116 were bound: it has 10 elements of 12 bytes");
}

TEST(Combiner, HasNoOperatorBesideIt) {
  EXPECT_EQ(alone([](CollectivePlan &plan) {
              (void)plan.setCombiner(kOperators[0].combiner(), true);
              (void)plan.setValue("op", int64_t{0});
              return plan.commit().message();
            }),
            "'op' is given, and a combiner");
  EXPECT_EQ(alone(
                [](CollectivePlan &plan) {
                  (void)plan.setCombiner(kOperators[0].combiner(), true);
                  return plan.commit().message();
                },
                "bcast_binomial"),
            "'bcast_binomial' has no operator that could be replaced");
}

TEST(Combiner, AllRanksHaveElementsOfOneSize) {
  std::string wrong = onRanks(2, [](Communicator &communicator, Library &library) {
    Words x(40), y(40);
    CollectivePlan plan(communicator, library, "allreduce_recursive_doubling");
    (void)plan.setCombiner(kOddOperators[index(communicator.rank()) * 2].combiner(), true);
    (void)plan.setElements(2);
    (void)plan.bind("x", bound(x));
    (void)plan.bind("y", bound(y));
    return std::string(plan.commit() ? "" : "refused");
  });
  EXPECT_EQ(wrong, "refused");
}

} // namespace
} // namespace colldsl
