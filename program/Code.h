/// What bodies and int expressions of the checked program are lowered to: a straight
/// line of small instructions with jumps, so that the thousands of ranks that run the
/// same body do not walk its tree again and again.
///
/// Example: `if rank > root { send buf to (rank - 1) % ranks; }`
///   0  JumpUnlessLess  root, rank -> 3
///   1  SubWrapped  t = rank, 1
///   2  Message     t            (its statement says the rest)
///   3  Return
///
/// What is rare or works on lists, groups, trees or graphs stays a tree: Evaluate and
/// Execute hand an expression or a statement to the interpreter. So do slices, but for those
/// that a message carries if they are names, blocks, runs of blocks or parts of one.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl {

/// Which int of the frame: its slots come first, then what the code needs besides: this
/// rank, the number of ranks, constants, temporaries.
using Register = uint32_t;

/// to, a, b are registers, or as the comment says. Jumps go to the instruction `to`.
enum class Opcode : uint8_t {
  Return, ///< a = the value, of expressions
  Move,
  Negate,
  Not,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  AddWrapped, ///< (a + b) % ranks
  SubWrapped, ///< (a - b) % ranks
  ShiftLeft,
  ShiftRight,
  Xor,
  Eq,
  Ne,
  Less,
  LessEqual,
  NotNone, ///< to = a, which must not be none
  Bits,    ///< to = one of the built-in functions of one int, of a
  Min,
  Max,
  GridShift, ///< to = this rank, displaced along dimension a by b; `origin` says in which grid
  EdgeSlot,  ///< to = of the edge a
  Evaluate,  ///< to = the expression, which stays a tree
  Jump,
  JumpIf,     ///< a is not 0
  JumpUnless, ///< a is 0
  JumpUnlessLess,
  JumpUnlessEqual,
  JumpIfEqual,
  JumpIfNone,    ///< a is none
  JumpIfNowhere, ///< the edge a leads to none
  LoopBegin,     ///< leaves for `to` unless a is below b
  LoopNext,      ///< adds 1 to a; goes to `to` if it is still below b
  CloseRange,    ///< to = a + 1: a loop up to and with a
  JoinIndices,   ///< to = one number for the label indices a and b
  // Statements
  WholeSlice,      ///< the message that comes next carries slice slot `to` too
  BlockSlice,      ///< ... its block a
  BlocksSlice,     ///< ... its blocks from a up to b
  PartSlice,       ///< ... the part a of b that `origin` says
  LetSlice,        ///< slice slot `to` = the block a or the part a of b that `origin` says
  Message,         ///< a = peer or edge; its label is `to`, or kNoCode, with index b
  CarryingMessage, ///< the same, with the slices that were named before
  Label,           ///< of the statement before: `to` with index b
  Requires,
  IRequires, ///< label `origin` with index a waits for label `to` with index b
  Parent,
  Child,   ///< a = rank
  Edge,    ///< a = peer, b = key, `to` = weight
  ForEach, ///< to = code of the body
  Execute, ///< the statement stays a tree
};

struct Instruction {
  Opcode opcode = Opcode::Return;
  uint32_t to = 0;
  Register a = 0;
  Register b = 0;
  uint32_t origin = 0; ///< the StmtId, the index of the label, or else the ExprId
};

inline constexpr uint32_t kNoCode = 0xffffffffu;

/// The code of one declaration: its body and its expressions.
struct DeclCode {
  struct Constant {
    Register to;
    int64_t value;
  };
  uint32_t body = kNoCode;
  uint32_t registers = 0;
  uint32_t labels = 0; ///< how many names its labels have
  Register myRank = 0;
  Register numRanks = 0;
  std::vector<Constant> constants;
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> ofExpr; ///< per ExprId: its code, or kNoCode (a leaf, a tree, or part of
                                ///< other code)
  std::vector<DeclCode> ofDecl; ///< per DeclId
};

class Program;

/// Makes the code of all that was added to the program since the last time.
void lower(Program &program);

} // namespace colldsl
