/// Semantic analysis at work. Internal to this folder; Sema.h is the way in.
///
/// Each method that takes a syntax tree returns the checked form and its type; after
/// an error the type is invalid, which fits everywhere, so that one mistake gives one
/// message.
#pragma once

#include "compiler/Builtins.h"
#include "compiler/Scope.h"
#include "compiler/Sema.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <string>

namespace colldsl {

struct TypedExpr {
  ExprId id = kNoExpr;
  Type type;
};

class Sema {
public:
  Sema(Program &program, std::vector<Diagnostic> &errors, uint32_t maxErrors,
       SymbolIndex *symbols = nullptr)
      : program_(program), errors_(errors), maxErrors_(maxErrors), symbols_(symbols) {}

  /// The type of a function's result, as far as it is known.
  struct FunctionResult {
    Type type = Type::error(); ///< invalid: not known yet, or there is none
    bool isFinal = false;
    unsigned changes = 0;
    std::vector<Diagnostic> errors; ///< of its last analysis: the reasons why there is no type
  };

  void declareAll(llvm::ArrayRef<SemaInput> inputs, std::vector<DeclId> &mainDecls);
  /// The results of all declarations, by position; only those of functions have a type. Requires a
  /// program that holds declarations only.
  std::vector<FunctionResult> functionResults();
  void takeResults(const std::vector<FunctionResult> &results);
  void analyseAll();
  ExprId analyseArgument(const ast::Expr &expr, DeclId collective, std::string_view param);
  SourceLoc invalidAt() const { return invalidAt_; }

private:
  using AstExpr = ast::Expr;

  /// A declaration on its way through the phases.
  struct Work {
    const ast::Decl *ast = nullptr;
    DeclId id = kNoDecl;
    uint32_t unit = 0;
    bool headDone = false;
    bool headBusy = false; ///< its parameters are being analysed
    FunctionResult result;
    // While types of results are being found:
    uint32_t order = 0, lowest = 0;  ///< position when opened; the first that it leads back to
    bool isOpen = false;             ///< its component is not complete
    bool isQueued = true;            ///< to be analysed again
    llvm::SetVector<Work *> callers; ///< of its component
    ast::Name typeVariable;          ///< the one that its buffers use
    Scope scope;
    struct LabelUse {
      uint32_t indices;
      SourceLoc loc;
    };
    llvm::StringMap<uint32_t> labelNumbers;
    llvm::StringMap<uint32_t> labelIndices; ///< declared ones: their number of indices
    llvm::StringMap<SourceLoc> labelLocs;   ///< their first declarations
    std::vector<std::pair<llvm::StringRef, LabelUse>> labelUses;
  };

  // Errors, and additions to the program (Sema.cpp)
  void error(SourceLoc loc, std::string message, std::string hint = {});
  Type failed(SourceLoc loc, std::string message, std::string hint = {});
  bool full() const { return errors_.size() >= maxErrors_; }
  void noteSymbol(SymbolKind kind, llvm::StringRef name, SourceLoc loc, const Type &type = {});
  void noteUse(SourceLoc loc, SourceLoc declared);
  uint32_t intern(llvm::StringRef text);
  ExprId addExpr(ExprKind kind, ValueType type, SourceLoc loc, ExprId a = kNoExpr,
                 ExprId b = kNoExpr, ExprId c = kNoExpr);
  Expr &last() { return program_.exprs.back(); }
  TypedExpr make(ExprKind kind, Type type, SourceLoc loc, ExprId a = kNoExpr, ExprId b = kNoExpr,
                 ExprId c = kNoExpr, int64_t value = 0);
  TypedExpr number(int64_t value, Type type, SourceLoc loc) {
    return make(ExprKind::IntLit, type, loc, kNoExpr, kNoExpr, kNoExpr, value);
  }
  /// The type of an expression whose kind always yields the same type.
  static Type resultOf(ExprKind kind) { return resultOf(infoOf(kind).result); }
  static Type resultOf(Operand yields) {
    return {.value = typeOf(yields), .maybeNone = maybeNone(yields)};
  }
  void setOperands(ExprId id, llvm::ArrayRef<ExprId> list);
  StmtId addStmt(const Stmt &stmt);
  TypedExpr invalid(SourceLoc loc);

  // Declarations (SemaDecl.cpp)
  bool declare(const SemaInput &input, const ast::Decl *decl, std::vector<DeclId> &mainDecls);
  Work *findDecl(llvm::StringRef name);
  std::vector<llvm::StringRef> declNames(llvm::ArrayRef<DeclKind> kinds);
  void needHead(Work &work);
  void analyseHead(Work &work);
  void analyseBody(Work &work);
  void analyseValueParam(const ast::Parameter &ast, Param &param);
  void analyseBufferParam(const ast::Parameter &ast, Param &param);
  void analyseCandidates(const ast::Candidates &ast, Param &param);
  Candidate analyseCandidate(const AstExpr &ast, const Param &param);
  void declareParam(const ast::Parameter &ast, Param &param);
  void useTypeVariable(const ast::Name &name);
  BufferType analyseBufferType(const ast::Type &type, bool mayBindSizes);
  static Type sliceOf(const BufferType &buffer, bool writable);
  Dim analyseDimension(const ast::Dimension &ast, bool isLast, bool mayBindSizes);
  Dim newSizeSymbol(const ast::NameExpr &name, SourceLoc loc, DimKind kind);
  void checkLabels(Work &work);
  Decl &decl() { return program_.decls[index(work_->id)]; }

  // Results of functions (SemaResults.cpp)
  Type resultOf(Work &work);
  void openFunction(Work &work);
  void closeComponent(Work &first);
  bool inferBody(Work &work);
  TypedExpr bodyOf(Work &work);
  void analyseFunction(Work &work);

  // Contracts (SemaContract.cpp)
  void analyseClauses(const ast::CollectiveDecl &ast);
  enum class Nesting : uint8_t { Whole, Inner };
  uint32_t analysePostcondition(const ast::Postcondition &postcondition, Nesting nesting);
  void analyseInvariants(const ast::ForStmt &ast, Stmt &loop);
  void checkInvariant(const EnsureNode &node);
  std::string clauseWord() const { return inInvariant_ ? "'invariant'" : "'ensures'"; }
  EnsureNode analyseValuePostcondition(const ast::ValuePostcondition &postcondition);
  void analyseReduce(const ast::CallExpr &call, const Type &target, EnsureNode &node);
  void analyseEntryValue(const AstExpr &ast, const Type &target, EnsureNode &node);
  void analyseAliases(const ast::AliasesClause &clause);
  void checkOutputs(const ast::CollectiveDecl &ast);
  void noteOutput(const AstExpr &target);

  // Expressions (SemaExpr.cpp)
  TypedExpr expr(const AstExpr &ast);
  TypedExpr analyseAnyKind(const AstExpr &ast);
  TypedExpr exprOf(const AstExpr &ast, ValueType wanted, const char *what);
  ExprId intExpr(const AstExpr &ast, const char *what) {
    return exprOf(ast, ValueType::Int, what).id;
  }
  TypedExpr notNone(TypedExpr e);
  TypedExpr analyseNumber(const ast::NumberExpr &ast);
  TypedExpr analyseName(const ast::NameExpr &ast);
  TypedExpr analyseUnary(const ast::UnaryExpr &ast);
  TypedExpr analyseBinary(const ast::BinaryExpr &ast);
  TypedExpr analyseArithmetic(const ast::BinaryExpr &ast, TypedExpr a, TypedExpr b);
  TypedExpr analyseComparison(const ast::BinaryExpr &ast, TypedExpr a, TypedExpr b);
  TypedExpr analyseLogic(const ast::BinaryExpr &ast, TypedExpr a, TypedExpr b);
  TypedExpr analyseAt(const ast::BinaryExpr &ast);
  TypedExpr analyseConditional(const ast::ConditionalExpr &ast);
  TypedExpr analyseMember(const ast::MemberExpr &ast);
  TypedExpr analyseList(const ast::ListExpr &ast);
  TypedExpr analyseComprehension(const ast::ListOfExpr &ast);
  TypedExpr analyseIndex(const ast::IndexExpr &ast);

  /// An iterable and the type of its elements.
  struct Iterable {
    ExprId id = kNoExpr;
    Type element;
  };
  Iterable iterable(const ast::Range &range);
  ExprId conditionOf(const ast::Iteration &iteration) {
    return iteration.condition ? exprOf(*iteration.condition, ValueType::Bool, "condition").id
                               : kNoExpr;
  }
  std::optional<int64_t> knownInt(ExprId id) const;
  void checkAscends(const ast::Range &range, ExprId lo, ExprId hi);
  /// Declares a name in the innermost block. Returns its slot.
  uint32_t localName(const ast::Name &name, const Type &type, SymbolKind kind);
  uint32_t loopName(const ast::Name &name, const Type &type) {
    return localName(name, type, SymbolKind::LoopVariable);
  }

  // Calls within expressions (SemaCall.cpp)
  TypedExpr analyseCall(const ast::CallExpr &ast);
  TypedExpr callMethod(const ast::CallExpr &ast, const ast::MemberExpr &callee);
  TypedExpr callBuiltin(const ast::CallExpr &ast, Builtin builtin);
  TypedExpr callAggregate(const ast::CallExpr &ast, Aggregate aggregate);
  TypedExpr callPart(const ast::CallExpr &ast);
  TypedExpr callSegments(const ast::CallExpr &ast);
  TypedExpr callLeaders(const ast::CallExpr &ast, bool one);
  TypedExpr callFilter(const ast::CallExpr &ast, bool split);
  TypedExpr callExpr(const ast::CallExpr &ast, ExprKind kind);
  TypedExpr callUnary(const ast::CallExpr &ast, ExprKind kind);
  TypedExpr callDecl(const ast::CallExpr &ast, Work &callee);
  const AstExpr *onlyPlain(const ast::CallExpr &ast, llvm::StringRef name, size_t count);
  size_t parameterNamed(llvm::StringRef callee, const ast::Argument &argument, const Decl &decl);
  /// Arguments in the order of the parameters; kNoExpr for one that takes its default. Only callees
  /// that evaluate defaults allow that; for others a missing argument is an error.
  std::vector<ExprId> bindArguments(llvm::StringRef callee, SourceLoc loc, Work &work,
                                    llvm::ArrayRef<ast::Argument> arguments, bool isCollective);
  ExprId analyseArgumentFor(const Param &param, const AstExpr &ast);
  /// While candidates are analysed: a range argument stands for its first or last value.
  enum class RangeArgs : uint8_t { Forbidden, First, Last } rangeArgs_ = RangeArgs::Forbidden;
  bool sawRangeArg_ = false;

  // Statements (SemaStmt.cpp)
  StmtId block(ast::Block body);
  StmtId statement(const ast::Stmt &ast);
  /// Reports a statement that cannot stand in the declaration.
  void checkPlace(StmtKind kind, SourceLoc loc);
  Stmt begin(StmtKind kind, const ast::Stmt &ast);
  /// Adds a statement that may have a label.
  StmtId addOperation(Stmt &s, const ast::OperationStmt &ast);
  StmtId analyseLet(const ast::LetStmt &ast);
  StmtId analyseTemp(const ast::TempStmt &ast);
  StmtId analyseFor(const ast::ForStmt &ast);
  StmtId analyseIf(const ast::IfStmt &ast, size_t arm);
  StmtId analyseTree(const ast::TreeStmt &ast);
  StmtId analyseEdge(const ast::EdgeStmt &ast);
  StmtId analyseOrder(const ast::OrderStmt &ast);
  StmtId analyseMessage(const ast::MessageStmt &ast);
  StmtId analyseCopy(const ast::CopyStmt &ast);
  StmtId analyseCombine(const ast::CombineStmt &ast);
  StmtId analyseCalc(const ast::CalcStmt &ast);
  StmtId analyseCall(const ast::CallStmt &ast);
  void notACollective(const ast::Name &callee, const Work *found);
  TypedExpr slices(const AstExpr &ast, bool written);
  ExprId reduction(const ast::Name &name);
  void checkOperator(SourceLoc loc, ExprId reduction, const Type &operands);
  uint32_t labelRef(const ast::Label &label, bool declares);

  Program &program_;
  std::vector<Diagnostic> &errors_;
  uint32_t maxErrors_;
  SymbolIndex *symbols_; ///< or null
  std::vector<std::unique_ptr<Work>> works_;
  llvm::StringMap<std::vector<Work *>> declsByName_;
  llvm::StringMap<uint32_t> interned_;
  Work *work_ = nullptr; ///< the declaration being analysed
  /// Expressions around the one being analysed. A declaration that is analysed because
  /// an expression uses it, ahead of its turn, counts as many.
  unsigned depth_ = 0;
  static constexpr unsigned kDepthOfDecl = 10; ///< its stack is that of as many expressions
  std::vector<Work *> open_; ///< functions whose types are being found, as they were opened
  bool infers_ = false;
  Work *inferred_ = nullptr; ///< the last of them whose body is being analysed
  uint32_t orders_ = 0;
  SourceLoc invalidAt_; ///< of the first expression that stands for an error
  Scope *scope_ = nullptr;
  bool bindsSizes_ = false;   ///< in a dimension of a parameter
  llvm::StringSet<> ensured_; ///< buffers that an `ensures` names
  bool inInvariant_ = false;  ///< the statement at hand belongs to a loop
};

} // namespace colldsl
