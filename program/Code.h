/// The code of the checked program: bodies, expressions, sizes and contracts are lowered to
/// straight lines of small instructions with jumps, so that the thousands of ranks that run the
/// same body do not walk its tree again and again. All of a program is lowered: nothing else
/// evaluates it.
///
/// Example: `if rank > root { send buf to (rank - 1) % ranks; }`
///   0  JumpUnlessLess  root, rank -> 5
///   1  SubWrapped  t = rank, 1
///   2  JumpIfNone  t -> 4
///   3  CarrySlice  buf
///   4  Message     t            (its statement says the rest)
///   5  Return
///
/// An expression that is evaluated at another time than its surroundings (a default, a dimension of
/// a buffer, a requirement) is a piece of code of its own.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl {

/// An int of the frame, by its number: the slots come first, then the other ints of the code: this
/// rank, the number of ranks, constants, temporaries. Slices and sizes have registers of their own,
/// again slots first.
using Register = uint32_t;

/// Opcodes.def says what each opcode does.
enum class Opcode : uint8_t {
#define COLLDSL_OPCODE(Name, summary) Name,
#include "program/Opcodes.def"
#define COLLDSL_VALUE(Name, ...) Name,
#include "program/Exprs.def"
};

struct Instruction {
  Opcode opcode = Opcode::Return;
  uint32_t to = 0;
  Register a = 0;
  Register b = 0;
  Register c = 0;
  uint32_t origin = 0; ///< the StmtId, EnsureNode or label as the opcode says, or else the ExprId
};

inline constexpr uint32_t kNoCode = 0xffffffffu;

/// The code of one declaration, and how many registers its frame has.
struct DeclCode {
  struct Constant {
    Register to;
    int64_t value;
  };
  uint32_t body = kNoCode;
  uint32_t contract = kNoCode; ///< all that it ensures
  uint32_t registers = 0;
  uint32_t sliceRegisters = 0;
  uint32_t sizeRegisters = 0;
  uint32_t labels = 0; ///< how many names its labels have
  Register myRank = 0;
  Register numRanks = 0;
  std::vector<Constant> constants;
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> ofExpr; ///< per ExprId: its piece of code, or kNoCode (part of another)
  std::vector<DeclCode> ofDecl; ///< per DeclId
};

class Program;

/// Makes the code of all that was added to the program since the last time.
void lower(Program &program);

} // namespace colldsl
