/// Values of a program while one rank runs it.
#pragma once

#include "tests/random/Program.h"

#include <map>
#include <utility>

namespace colldsl::generated {

inline constexpr int64_t kNobody = INT64_MIN;

/// Why a program is wrong. Stays within interpret().
struct Invalid {
  std::string why;
};

/// Elements of a buffer of this rank, or of one of its blocks whose lengths are known at call time.
/// blocks < 0: of one dimension. A block of capacity has the length of its room.
struct SliceValue {
  uint32_t buffer = 0;
  int64_t begin = 0;
  int64_t length = 0;
  int64_t blocks = -1;
  int64_t blockLength = 0;
  Extent extent = Extent::Number; ///< CallTime, Capacity, or any other
  int64_t block = -1;             ///< of such a buffer; < 0: all of them

  bool isOfBlocks() const { return extent == Extent::CallTime || extent == Extent::Capacity; }
};

/// Ranks are numbers in the current group.
struct TreeValue {
  int64_t root = 0;
  int64_t parent = kNobody;
  std::vector<int64_t> children;
};

struct EdgeValue {
  int64_t slot = 0;
  int64_t peer = kNobody;
  int64_t key = 0;
  int64_t count = 0; ///< earlier edges of the same side, peer and key
};

struct GraphValue {
  std::vector<EdgeValue> out, in;
};

/// The executing rank: a group in the numbering of the job, and this rank's place in it.
struct Context {
  std::vector<uint32_t> members;
  int64_t me = 0;
  uint32_t call = 0; ///< which call of a collective this is
  int64_t size() const { return static_cast<int64_t>(members.size()); }
};

/// The values of all names. Names are unique and collectives do not recurse, so one table serves
/// all frames but those of functions.
class Evaluator {
public:
  explicit Evaluator(const Program &program)
      : program_(program), numbers(program.names), slices(program.names) {}

  int64_t number(const Expr &e);
  bool truth(const Expr &e) { return number(e) != 0; }
  int64_t defined(const Expr &e); ///< not none
  /// The members of a group in the numbering of the current one, ascending.
  std::vector<int64_t> members(const GroupExpr &group);
  SliceValue slice(const SliceExpr &s);
  /// Runs `body` once for each value of the range, which `name` then has.
  template <typename Body> void forEach(const Range &range, Name name, Body body);

  void makeTree(Name name, uint32_t structure, int64_t root);
  void makeGraph(Name name, uint32_t structure);

private:
  const Program &program_;
  int64_t call(const Expr &e);
  void runStructure(const std::vector<Stmt> &body, TreeValue *tree, GraphValue *graph);
  TreeValue treeAt(uint32_t structure, int64_t root, int64_t rank);
  std::vector<SliceValue> segments(const Range &range);
  SliceValue cut(SliceValue from, int64_t lo, int64_t hi) const;
  SliceValue blockAt(const SliceValue &base, int64_t at) const;
  std::vector<int64_t> colored(const GroupExpr &group);
  std::vector<int64_t> leaders(const GroupExpr &group);
  int64_t leader(const Expr &e);
  int64_t groupOf(Level level, int64_t rank) const;
  std::vector<int64_t> neighbors(Level level) const;
  int depth_ = 0;

public:
  Context context;
  SymbolSizes sizes{}; ///< of the collective at hand
  std::vector<int64_t> numbers;
  std::vector<SliceValue> slices;
  std::map<uint32_t, std::vector<int64_t>> blockLengths; ///< of buffers whose blocks have them
  std::map<Name, TreeValue> trees;
  std::map<Name, GraphValue> graphs;
  std::map<Name, EdgeValue> edges;
};

template <typename Body> void Evaluator::forEach(const Range &range, Name name, Body body) {
  switch (range.kind) {
  case Range::Kind::Upto:
  case Range::Kind::Through: {
    int64_t end = defined(range.exprs[1]) + (range.kind == Range::Kind::Through ? 1 : 0);
    for (int64_t i = defined(range.exprs[0]); i < end; ++i) {
      numbers[name] = i;
      body();
    }
    return;
  }
  case Range::Kind::List:
    for (const Expr &e : range.exprs) {
      numbers[name] = defined(e);
      body();
    }
    return;
  case Range::Kind::Children:
    for (int64_t child : trees[range.name].children) {
      numbers[name] = child;
      body();
    }
    return;
  case Range::Kind::Out:
  case Range::Kind::In: {
    const GraphValue &graph = graphs[range.name];
    for (const EdgeValue &edge : range.kind == Range::Kind::Out ? graph.out : graph.in) {
      edges[name] = edge;
      body();
    }
    return;
  }
  case Range::Kind::Segments:
    for (const SliceValue &segment : segments(range)) {
      slices[name] = segment;
      body();
    }
    return;
  }
}

} // namespace colldsl::generated
