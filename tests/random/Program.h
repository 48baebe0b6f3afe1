/// A program as a tree: what the generator makes, the printer writes as text of the language, and
/// the interpreter runs. Names are numbers, each declared once in a program.
#pragma once

#include "ir/Vocabulary.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace colldsl::generated {

using Name = uint32_t;
inline constexpr Name kNoName = 0xffffffffu;

enum class ExprOp : uint8_t {
  Number, ///< value
  None,
  Var, ///< name
  Rank,
  Ranks,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Xor,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  And,
  Or,
  Not,
  Select,
  ListElement,  ///< args: the list, then the index
  CallFunction, ///< name: index of the function; args
  TreeParent,   ///< name: a tree
  TreeRoot,
  InDegree, ///< name: a graph
  OutDegree,
  EdgeSlot, ///< name: an edge
  EdgePeer,
  Size,   ///< value: a Symbol
  Leader, ///< value: a Level; args: include, index
};

/// Size symbols, of which each collective has its own.
enum class Symbol : uint8_t { N, M, K };
inline constexpr size_t kSymbols = 3;
using SymbolSizes = std::array<int64_t, kSymbols>;

/// Levels of the machine that ranks form groups of.
enum class Level : uint8_t { Node, Socket };

/// Rank r sits on core r. No cores: one node without structure.
struct Machine {
  uint32_t nodes = 1, sockets = 1; ///< in all; of a node
  uint32_t cores = 0;              ///< of a socket
  bool operator==(const Machine &) const = default;
};

/// How long the last dimension of a buffer is.
enum class Extent : uint8_t {
  Number,   ///< its expression
  Symbol,   ///< T[n]
  CallTime, ///< T[*]
  Capacity, ///< T[<= m]
};

/// Of blocks whose lengths are known at call time.
struct BlockLengths {
  using Key = std::array<uint32_t, 3>; // rank, parameter, block
  int64_t all = 3;                     ///< of those that are not listed
  std::map<Key, int64_t> listed;

  int64_t of(uint32_t rank, uint32_t param, uint32_t block) const {
    auto found = listed.find({rank, param, block});
    return found == listed.end() ? all : found->second;
  }
};

struct Expr {
  ExprOp op = ExprOp::Number;
  int64_t value = 0;
  Name name = kNoName;
  std::vector<Expr> args;
};

struct SliceExpr {
  enum class Kind : uint8_t {
    Var,      ///< name: a buffer, a temporary, a segment
    Block,    ///< base[args 0]
    Blocks,   ///< base[args 0 .. args 1] of two dimensions
    Elements, ///< base[args 0 .. args 1] of one dimension
    Part,     ///< part(base, args 0 of args 1)
    Parts,    ///< part(base, args 0 .. args 1 of args 2)
  };
  Kind kind = Kind::Var;
  Name name = kNoName;
  std::vector<SliceExpr> base; ///< one, unless Var
  std::vector<Expr> args;
};

struct Range {
  enum class Kind : uint8_t {
    Upto,     ///< exprs 0 .. exprs 1
    Through,  ///< exprs 0 ..= exprs 1
    List,     ///< exprs
    Children, ///< name: a tree
    Out,      ///< name: a graph
    In,
    Segments, ///< slice, exprs 0 bytes
  };
  Kind kind = Kind::Upto;
  std::vector<Expr> exprs;
  std::vector<SliceExpr> slice;
  Name name = kNoName;
};

struct Label {
  Name name = kNoName;
  std::vector<Expr> index;
};

struct GroupExpr {
  enum class Kind : uint8_t { Current, Where, Split, Level, Leaders };
  Kind kind = Kind::Current;
  Name var = kNoName;       ///< the rank that is asked about
  std::vector<Expr> choice; ///< condition or color; Leaders: who is to be one, or nothing
  Level level = Level::Node;
};

struct Argument {
  Name param = kNoName;
  std::vector<Expr> value; ///< one of these two
  std::vector<SliceExpr> slice;
};

struct Stmt {
  enum class Kind : uint8_t {
    Let,      ///< name = exprs 0
    LetSlice, ///< name = sources 0
    LetTree,  ///< name = the tree `callee` of root exprs 0; in the body of a tree
    Temp,     ///< name: T[exprs 0] or T[exprs 0][exprs 1]
    For,      ///< name, range, body
    If,       ///< exprs 0, body, otherwise
    Send,     ///< sources to exprs 0 [tag exprs 1], or along the edge `name`
    Recv,     ///< targets, alike; combines
    Signal,
    Wait,
    Copy,
    Combine,
    Calc,
    Depend, ///< labels 0 waits for the others
    Call,
    Parent, ///< exprs 0
    Child,
    EdgeTo, ///< exprs 0 [key exprs 1]
    EdgeFrom,
  };
  Kind kind = Kind::Calc;
  Name name = kNoName;
  std::vector<Expr> exprs;
  std::vector<SliceExpr> sources, targets;
  Range range;
  std::vector<Stmt> body, otherwise;
  bool combines = false; ///< Recv
  bool irequires = false;
  Extent extent = Extent::Number; ///< Temp: its last dimension
  Symbol symbol = Symbol::N;      ///< if that has one
  Reduction reduction = Reduction::Sum;
  Side side = Side::After;
  Label label; ///< of an operation
  std::vector<Label> labels;
  uint32_t callee = 0; ///< index of the collective, or of the tree
  std::vector<Argument> arguments;
  GroupExpr group;
};

struct Param {
  enum class Kind : uint8_t { Buffer, Int, Rank, Tree, Graph };
  Kind kind = Kind::Buffer;
  Name name = kNoName;
  BufferRole role = BufferRole::In;
  std::vector<Expr> dims;         ///< one or two
  Extent extent = Extent::Symbol; ///< of the last one
  Symbol symbol = Symbol::N;      ///< if that has one
  std::vector<Expr> root;         ///< of a buffer: the rank on which it is significant; none: all
  std::vector<Expr> value;        ///< the default of a value; arguments of a structure
  uint32_t structure = 0;         ///< index of the tree or graph that is the default
};

struct Ensure {
  enum class Kind : uint8_t { Equal, Reduce, For, At, Synchronizes };
  Kind kind = Kind::Equal;
  SliceExpr target, operand;
  std::vector<Expr> rank; ///< none: this one
  Reduction reduction = Reduction::Sum;
  Name var = kNoName;
  Range range;                 ///< For, Reduce
  std::vector<Expr> condition; ///< of the loop, may be none; of At
  std::vector<Ensure> inner;   ///< For, At
};

struct Alias {
  Name param = kNoName;
  SliceExpr slice;
};

struct Function {
  std::vector<Name> params;
  Expr result;
};

/// A tree or a graph.
struct Structure {
  bool isTree = true;
  Name root = kNoName; ///< a tree's parameter
  std::vector<Stmt> body;
};

struct Collective {
  bool deterministic = false;
  std::vector<Param> params;
  std::vector<Ensure> ensures;
  std::vector<Alias> aliases;
  std::vector<Stmt> body;
};

/// The last collective is the one that runs.
struct Program {
  std::vector<Function> functions;
  std::vector<Structure> structures;
  std::vector<Collective> collectives;
  uint32_t names = 0;
  // With what it runs
  uint32_t ranks = 1;
  SymbolSizes sizes{1, 1, 1};
  BlockLengths lengths;
  Machine machine;
  bool inPlace = false;

  int64_t n() const { return sizes[0]; }
  int64_t sizeOf(Symbol symbol) const { return sizes[static_cast<size_t>(symbol)]; }
  /// The size of the collective that runs: the symbol that its parameters name first, N if none.
  Symbol mainSize() const;
  /// Whether some parameter has blocks whose lengths are known at call time.
  bool hasBlocks() const;
  Name newName() { return names++; }
  const Collective &main() const { return collectives.back(); }
  Collective &main() { return collectives.back(); }
};

inline bool hasBlocks(const Param &param) {
  return param.kind == Param::Kind::Buffer &&
         (param.extent == Extent::CallTime || param.extent == Extent::Capacity);
}

/// As text of the language.
std::string print(const Program &program);
/// The machine as topology/Topology.h describes it.
std::string describe(const Machine &machine);
/// What the program is run with: ranks, sizes, lengths of blocks, machine.
std::string valuesOf(const Program &program);

} // namespace colldsl::generated
