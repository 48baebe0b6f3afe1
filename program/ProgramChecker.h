/// Checks that a program that was read from a file is as sound as one that the compiler made,
/// so that instantiation, which trusts programs, may trust this one too. Internal to this folder.
///
/// Walks every declaration once, in the order in which its frame is filled: parameters,
/// then the body; at each point it knows which slots have a value, and of which kind.
/// Each expression and statement has one user at most, so the walk is linear.
#pragma once

#include "program/Program.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace colldsl {

class ProgramChecker {
public:
  explicit ProgramChecker(const Program &program)
      : program_(program), exprUsed_(program.exprs.size()), stmtUsed_(program.stmts.size()),
        tempUsed_(program.temps.size()), labelUsed_(program.labels.size()),
        ensureUsed_(program.ensures.size()) {}

  Status check();

  /// Expressions that some declaration uses; of a sound program only.
  const std::vector<bool> &usedExprs() const { return exprUsed_; }

private:
  static constexpr uint32_t kMaxDepth = 2'000; ///< of expressions and statements

  bool ok() const { return error_.empty(); }

  bool require(bool holds, const char *what) {
    if (holds || !ok())
      return ok();
    error_ = std::string(what) + (decl_ ? " in declaration " + std::to_string(declId_) : "");
    error_ += ": not what they must be";
    return false;
  }

  void string(uint32_t id) { require(id < program_.strings.size(), "strings"); }
  void place(SourceLoc loc) {
    require(loc.file < std::max<size_t>(1, program_.files.size()), "places");
  }

  /// A range of program.operands.
  std::span<const uint32_t> list(uint64_t begin, uint64_t count) {
    if (!require(begin + count <= program_.operands.size(), "lists of operands"))
      return {};
    return std::span(program_.operands).subspan(begin, count);
  }

  struct Nested {
    explicit Nested(ProgramChecker &checker) : checker(checker) {
      checker.require(++checker.depth_ <= kMaxDepth, "nested expressions and statements");
    }
    ~Nested() { --checker.depth_; }
    ProgramChecker &checker;
  };

  // Slots

  /// From now on the slot has a value, up to the end of the scope at hand.
  void giveInt(uint32_t slot, ValueType type) {
    if (!require(slot < ints_.size() && !ints_[slot], "slots"))
      return;
    ints_[slot] = type;
    given_.push_back({slot, false});
  }
  void giveSlice(uint32_t slot) {
    if (!require(slot < slices_.size() && !slices_[slot], "slots"))
      return;
    slices_[slot] = true;
    given_.push_back({slot, true});
  }
  struct Given {
    uint32_t slot;
    bool isSlice;
  };
  struct Scope {
    explicit Scope(ProgramChecker &checker) : checker(checker), given(checker.given_.size()) {}
    ~Scope() {
      for (; checker.given_.size() > given; checker.given_.pop_back()) {
        Given last = checker.given_.back();
        if (last.isSlice)
          checker.slices_[last.slot] = false;
        else
          checker.ints_[last.slot].reset();
      }
    }
    ProgramChecker &checker;
    size_t given;
  };

  // Expressions and statements (ProgramCheckerExprs.cpp)
  void optional(ExprId id, ValueType wanted);
  ValueType typeAt(ExprId id);
  void slices(ExprId id);
  void expression(ExprId id, ValueType wanted);
  ValueType typeOf(const Expr &e, const ExprInfo &info);
  void useSlot(const Expr &e, SlotUse use);
  std::pair<size_t, const char *> boundOf(ValueUse use) const;
  void value(ValueUse use, int64_t value);
  void operand(Operand type, ExprId id, const Expr &e);
  void operand(Operand type, ExprId id, const Stmt &s);
  void plainOperand(Operand type, ExprId id);
  void listed(Operand type, std::span<const uint32_t> items, int64_t callee);
  void arguments(std::span<const uint32_t> args, const BuiltinInfo &callee);
  void arguments(std::span<const uint32_t> args, const Decl &callee);
  void iterable(ExprId id, uint32_t slot, bool isSlice);
  void named(ExprId id, const Stmt &s);
  void carried(ExprId id, const Stmt &s);
  void statement(StmtId id);
  void scoped(StmtId id);
  void temporary(const Stmt &s);
  void ordered(const Stmt &s);
  void invariants(const Stmt &s);
  void labelRef(uint32_t id);

  // Declarations (CheckProgram.cpp)
  enum class Nesting : uint8_t { Whole, Inner, Invariant };
  void nothingUnused();
  void bufferType(const BufferType &type);
  void parameter(const Param &p);
  void ofParameters(ExprId slice);
  void promise(uint32_t id, Nesting nesting);
  void declaration(DeclId id);
  void argument(const GivenArgument &given);

  const Program &program_;
  const Decl *decl_ = nullptr;
  uint32_t declId_ = 0;
  std::vector<bool> exprUsed_, stmtUsed_, tempUsed_, labelUsed_, ensureUsed_;
  std::vector<std::optional<ValueType>> ints_; ///< of the declaration at hand
  std::vector<bool> slices_;                   ///< likewise: true if it has a value
  std::vector<Given> given_;
  uint32_t depth_ = 0;
  std::string error_;
};

} // namespace colldsl
