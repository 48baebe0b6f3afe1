/// Runs the body of a collective as one rank and builds its Dag. Internal to this
/// folder; Instantiate.h is the way in.
///
/// Errors stop the run: the first one is kept, and every evaluation after it returns some value
/// that is not used.
#pragma once

#include "instantiate/Groups.h"
#include "instantiate/Instantiate.h"
#include "instantiate/LabelTable.h"
#include "instantiate/SlotStack.h"
#include "instantiate/Values.h"
#include "instantiate/dependence/DagBuilder.h"
#include "instantiate/graphs/GraphFile.h"

#include <map>
#include <span>

namespace colldsl {

/// One call over a group, as this rank made it: all members must agree on it.
struct CallRecord {
  uint64_t instance; ///< id of the call
  uint64_t group;    ///< hash of the group's members
  uint32_t size;     ///< of the group
  SourceLoc loc;
};

/// A recorded tree, for checking it by itself: the group it lives in and its value.
struct TreeRecord {
  Group group;
  TreeValue tree;
  SourceLoc loc;
};

class Interpreter {
public:
  Interpreter(const Program &program, const InstantiateRequest &request);

  Status run(Rank rank, Dag &dag);

  /// Evaluates an expression over the collective's parameters as rank 0 begins; for a tree returns
  /// its root.
  Result<int64_t> valueAtEntry(ExprId id);

  ValidityRange &range() { return range_; }
  bool usedTopology() const { return groups_.usedTopology(); }
  bool recordsCalls = false;
  bool recordsTrees = false;
  std::vector<CallRecord> calls; ///< of the last run
  std::vector<TreeRecord> trees; ///< of the last run; arguments are valid until the next
  std::vector<CostBound> costs;  ///< of the last run, if it evaluated the contract

  /// Groups::hashOf() of a group of the last run.
  uint64_t hashOf(const Group &group) { return groups_.hashOf(group); }

  /// The view of `rank` on a recorded tree. For checking only; records no trees.
  Status viewTree(const TreeRecord &record, int64_t rank, int64_t &parent,
                  std::vector<int64_t> &children);

private:
  friend class Machine;

  /// body(decl) as that rank, once the collective's parameters have their values.
  template <typename Body> Status runAtEntry(Rank rank, Dag &dag, Body body);
  struct Frame {
    DeclId declId;
    const Decl *decl;
    const Group *group;
    int64_t *ints = nullptr; ///< its slots and all registers
    SliceValue *slices = nullptr;
    SizeExtent *sizes = nullptr;
    LabelTable::Scope labels;
    ElementType type = ElementType::I32; ///< the type variable
    uint64_t instance = 0;               ///< of a collective: names its call
    SourceLoc calledAt;
    Frame *caller = nullptr;
    TreeValue *tree = nullptr; ///< the tree that is being worked out
    GraphValue *graph = nullptr;
  };
  /// Gives a frame its slots for as long as it lives.
  class FrameScope;

  /// A tree or graph as some rank sees it: the declaration, the rank, the number of ranks,
  /// arguments.
  using ViewName = std::vector<int64_t>;

  /// The last way in which scale * n elements were cut into count parts: part i begins at
  /// floor(i * numerator * n / denominator) elements, with the fraction in lowest terms.
  struct WholeCut {
    int64_t scale = 0;
    int64_t count = 0; ///< of parts; 0: nothing was cut so far
    int64_t numerator = 0;
    uint32_t denominator = 1;
    int64_t quotient = 0; ///< of numerator * n by denominator
    int64_t remainder = 0;
  };

  // Errors and limits (Interpreter.cpp)
  void fail(SourceLoc loc, std::string message, std::string hint = {});
  void fail(Diagnostic d);
  /// Reports `what`, which ends with the word before the rank's number, as of a rank that the
  /// current group does not have.
  void failBeyond(SourceLoc loc, const std::string &what, int64_t rank) {
    fail(loc, what + " " + std::to_string(rank) + ", but there are only " +
                  std::to_string(currentGroup().size) + " ranks");
  }
  bool failed() const { return failed_; }
  bool step(SourceLoc loc, uint64_t count = 1) {
    steps_ += count;
    if (steps_ <= request_.limits.maxSteps) [[likely]]
      return true;
    failTooManySteps(loc);
    return false;
  }
  void failTooManySteps(SourceLoc loc);
  size_t stackUsed() const;
  Frame openFrame(DeclId decl, const Group *group, SourceLoc calledAt);
  int64_t &intSlot(uint32_t slot) { return frame_->ints[slot]; }
  SliceValue &sliceSlot(uint32_t slot) { return frame_->slices[slot]; }
  SizeExtent &sizeSlot(uint32_t slot) { return frame_->sizes[slot]; }
  const std::string &text(uint32_t string) const { return program_.strings[string]; }

  // Code: InterpreterCode.cpp executes it, and calls the rest for all but the shortest instructions
  /// A piece of code up to its Return; the register that has its value, or anything if it fails.
  uint32_t runCode(uint32_t begin);
  uint32_t runPiece(ExprId id);
  int64_t eval(ExprId id);
  SliceValue evalSlice(ExprId id);
  SizeExtent evalSize(ExprId id);

  // Ints (InterpreterInts.cpp)
  void failOverflow(SourceLoc loc, const char *what);
  int64_t divide(bool remainderWanted, int64_t a, int64_t b, SourceLoc loc);
  int64_t shift(bool right, int64_t a, int64_t b, SourceLoc loc);
  int64_t bits(const Expr &e, int64_t x);
  int64_t logarithm(const Expr &e, int64_t x, int64_t base);
  int64_t reverseBits(int64_t x, int64_t bits, SourceLoc loc);
  using IntOperation = bool(int64_t a, int64_t b, int64_t &result); ///< false: overflow
  int64_t foldList(int64_t handle, int64_t start, IntOperation *compute, const char *what,
                   SourceLoc loc);
  void failGrid(SourceLoc loc, std::string message);
  int64_t gridShift(const Expr &e, int64_t grid, int64_t d, int64_t delta);

  // Values of int registers: ints, and the rest by handle (InterpreterEvaluate.cpp, and those
  // below)
#define COLLDSL_VALUE(Name, ...) int64_t eval##Name(const Expr &e, int64_t a, int64_t b);
#include "program/Exprs.def"
  using Args = std::span<const int64_t>;
  int64_t callFunction(const Expr &e, Args args);
  int64_t defaultArgument(const Expr &e, Args before);
  void failNothing(const Expr &e);
  IntList &list(int64_t handle) { return lists_[handle]; }
  int64_t newList() { return lists_.next(); }
  int64_t listLiteral(Args values, SourceLoc loc);

  // Groups (InterpreterGroups.cpp)
  const Group &currentGroup() const { return *frame_->group; }
  bool checkInclude(const char *who, int64_t include, SourceLoc loc);
  int64_t groupWhere(int64_t conditions);
  int64_t groupSplit(int64_t colors);
  int64_t groupOf(int64_t values, int64_t wanted);

  // Trees and graphs (InterpreterStructures.cpp)
  int64_t makeTree(const Expr &e, Args args);
  int64_t makeGraph(const Expr &e, Args args);
  TreeValue &viewOf(int64_t treeHandle, SourceLoc loc);
  GraphValue &graphViewOf(int64_t graphHandle, SourceLoc loc);
  void workOutTree(TreeValue &tree, const Group &group, SourceLoc loc);
  void workOutGraph(GraphValue &graph, const Group &group, SourceLoc loc);
  void workOutEdges(GraphValue &graph, const Group &group);
  void workOutBody(TreeValue &tree, const Group &group, SourceLoc loc);
  void takeGivenTree(TreeValue &tree, const Group &group, SourceLoc loc);
  int64_t rootOf(const TreeValue &tree, SourceLoc loc);
  int64_t topOf(TreeValue tree, SourceLoc loc);
  template <typename Value> ViewName nameView(const Value &value, const Group &group);
  void keepView(ViewName name, GraphValue &graph);
  void takeFileEdges(GraphValue &graph, SourceLoc loc);
  void takeGivenEdges(GraphValue &graph, SourceLoc loc);
  void numberEdges(std::vector<EdgeValue> &edges);
  bool checkPlace(int64_t rank, SourceLoc loc);
  int64_t graphAt(int64_t handle, int64_t rank);
  int64_t peerSlot(int64_t edge, SourceLoc loc);
  const EdgeValue &edge(int64_t handle, SourceLoc loc);
  template <typename Value> bool upToDate(Value &value, const Group &group) const;

  // Slices (InterpreterSlices.cpp)
  void pushRegion(const SliceValue &slice, std::vector<Region> &out, SourceLoc loc);
  SliceValue blockOf(const SliceValue &s, int64_t i, SourceLoc loc);
  Position blockPosition(const SliceValue &s, int64_t i, SourceLoc loc);
  static void joinAdjacent(std::vector<Region> &regions);
  bool checkTotal(std::span<const Region> regions, SourceLoc loc);
  Position interpolate(const SliceValue &s, Int128 i, Int128 k, SourceLoc loc);
  Position displace(const Position &p, int64_t elements, SourceLoc loc);
  void carryWhole(const SliceValue &slice, SourceLoc loc);
  void carryBlock(const SliceValue &slice, int64_t block, const Expr &e);
  void carryBlocks(const SliceValue &slice, int64_t lo, int64_t hi, const Expr &e);
  void carryEqualBlocks(const SliceValue &slice, int64_t first, int64_t count, SourceLoc loc);
  void carryPart(const SliceValue &slice, int64_t part, int64_t count, const Expr &e);
  void partAt(const SliceValue &slice, int64_t part, int64_t count, const Expr &e, SliceValue &out);
  bool cutWhole(const SliceValue &s, int64_t i, int64_t count, SliceValue &out);
  bool isCutInto(int64_t scale, int64_t count) {
    return (cut_.scale == scale && cut_.count == count) || prepareCut(scale, count);
  }
  bool prepareCut(int64_t scale, int64_t count);
  bool checkSignificant(BufferId buffer, SourceLoc loc) {
    if (buffer != kNoBuffer && dag_->buffers[index(buffer)].significant) [[likely]]
      return true;
    failInsignificant(loc);
    return false;
  }
  void failInsignificant(SourceLoc loc);
  std::string blocksWords(const SliceValue &s) const;
  SliceValue blockAt(const SliceValue &s, int64_t i, const Expr &e);
  SliceValue blocksAt(const SliceValue &s, int64_t lo, int64_t hi, const Expr &e);
  SliceValue partsAt(const SliceValue &s, int64_t lo, int64_t hi, int64_t count, const Expr &e);
  bool isCapacity(const SliceValue &s) const;
  void failDivided(const std::string &what, const SliceValue &s, SourceLoc loc);
  SliceValue elementAt(const SliceValue &s, int64_t i, const Expr &e);
  SliceValue elementsAt(const SliceValue &s, int64_t lo, int64_t hi, const Expr &e);
  /// The state of a loop over segments, in a run of registers.
  enum SegmentRegister : uint8_t { kSegment, kSegmentCount, kSegmentElements };
  void beginSegments(const SliceValue &s, int64_t bytes, SourceLoc loc, int64_t *loop);
  SliceValue segmentAt(const SliceValue &s, const int64_t *loop, SourceLoc loc);
  Slice toSlice(const SliceValue &slice, SourceLoc loc);
  void makeConstant(SliceValue &slice);
  void keepWithin(const SliceValue &slice, int64_t elements, SourceLoc loc);

  // Sizes, and buffers of the job and of statements (InterpreterBuffers.cpp)
  static SizeExtent sizeOfInt(int64_t value);
  SizeExtent loadSize(uint32_t slot, SourceLoc loc);
  /// The sum of both, or the difference if `sign` is -1.
  SizeExtent addSizes(const SizeExtent &a, int sign, const SizeExtent &b, const Expr &e);
  SizeExtent multiplySizes(const SizeExtent &a, const SizeExtent &b, const Expr &e);
  int64_t intOf(const SizeExtent &size, SourceLoc loc);
  SizeExtent wholeElements(SizeExtent size);
  SizeExtent dimExtent(const Dim &dim, SourceLoc loc);
  SizeExtent times(const SizeExtent &size, uint32_t blocks, SourceLoc loc);
  void failTooLarge(SourceLoc loc);
  int64_t numBlocks(const Dim &dim, SourceLoc loc);
  void bindEntryBuffer(const Param &param);
  SliceValue makeBuffer(const BufferType &type, Buffer buffer, SourceLoc loc);
  SliceValue makeDense(const BufferType &type, Buffer &buffer, SourceLoc loc);
  SliceValue makeBlocked(const BufferType &type, Buffer &buffer, SourceLoc loc);
  int64_t prefixSums(int64_t countsHandle, SourceLoc loc);
  void bindAliases(const Decl &decl);

  // Buffer arguments of calls (InterpreterArguments.cpp)
  void bindArgument(const Param &param, SliceValue argument, SourceLoc loc);
  void bindOneDimension(const Param &param, SliceValue &s, SourceLoc loc);
  void bindBlocks(const Param &param, SliceValue &s, SourceLoc loc);
  void bindCapacity(const Dim &dim, const SliceValue &s);
  void bindEqualBlocks(const Param &param, SliceValue &s, SourceLoc loc);
  void bindCounts(const Param &param, SliceValue &s, SourceLoc loc);
  void failArgument(SourceLoc loc, const Param &param, const std::string &what);
  void bindLength(const Dim &dim, const SizeExtent &size, const Param &param, SourceLoc loc);

  // Statements (InterpreterExecute.cpp)
  void runBody(DeclId decl);
  void execMessage(const Stmt &s, int64_t peer, int64_t tag, int64_t reduction);
  void execCopy(const Stmt &s);
  void execCombine(const Stmt &s, int64_t reduction);
  void execCalc(const Stmt &s, int64_t time);
  SliceValue execTemp(const Stmt &s);
  void execEdge(const Stmt &s, const EdgeValue &edge);
  void execParent(const Stmt &s, int64_t parent);
  void execChild(const Stmt &s, int64_t child);
  int64_t peerAlong(const Stmt &s, EdgeRef along);
  MessageId nextMessage(OpKind kind, int64_t peer, uint64_t key);
  uint64_t messageKey(const Stmt &s, int64_t tag, const EdgeRef *along);
  void depend(const Instruction &at, int64_t waiterIndex, int64_t firstIndex);
  void failLabelSetTwice(const LabelRef &label);
  void failLabelNotSet(const LabelRef &label);
  /// Checks the limits once a statement has added its ops and dependencies.
  void checkCounts(SourceLoc loc) {
    if (builder_.numOps() > maxOps_ || builder_.numDeps() > maxDeps_) [[unlikely]]
      failTooMany(loc);
  }
  void failTooMany(SourceLoc loc);
  void addOp(const Op &op);
  bool takeTargets(const Stmt &s);
  bool equalLengths(const Stmt &s);
  bool failLengths(const Stmt &s, std::span<const Region> sources, std::span<const Region> targets);
  bool isCapacity(const Region &region) const;
  bool takesLength(const Stmt &s, const Region &source, const Region &target);
  void pinUnlessAlike(const Slice &a, const Slice &b);
  ElementType typeOf(const Region &region) const {
    return dag_->buffers[index(region.slice.buffer)].type;
  }
  bool mayCombine(Reduction reduction, std::span<const Region> sources,
                  std::span<const Region> targets, SourceLoc loc);
  bool mayReceiveAndCombine(SourceLoc loc);
  std::string labelText(const LabelRef &label);

  // Calls of collectives (InterpreterCall.cpp)
  const Group *groupOfCall(int64_t handle);
  void execCall(const Stmt &s, const Group *group, int64_t *ints, const SliceValue *slices);
  void bindCall(const Stmt &s, Frame &callee, int64_t *ints, const SliceValue *slices);
  int64_t translate(int64_t value, ValueType type, const Group &to, SourceLoc loc,
                    const Param &param);
  void bindEntryValues(const Decl &decl);
  void bindArgumentValue(const Param &param, const ArgumentValue &value);
  void bindDefault(const Param &param);
  void checkValue(const Param &param, SourceLoc loc);
  bool checkRecursion(DeclId decl, uint32_t groupSize, SourceLoc loc);
  void recordCall(uint64_t instance, const Group &group, SourceLoc loc);

  // Requirements (InterpreterRequirements.cpp)
  std::string valuesOf(const Decl &decl, ExprId root);
  void checkRequirements(const Decl &decl, SourceLoc loc);

  // Contracts (InterpreterContract.cpp)
  void beginEnsure(const EnsureNode &node, int64_t reduction);
  bool enterRank(const EnsureNode &node, int64_t rank);
  void addOperand(const EnsureNode &node, const SliceValue &operand, int64_t rank);
  bool hasOperands(const EnsureNode &node);
  void addEnsure(const EnsureNode &node, const SliceValue &target);
  void addCostBound(const EnsureNode &node, const SizeExtent &most);
  bool beginInvariants(StmtId loop);
  void endInvariants() { loop_ = kNoStmt; }
  void addInvariant();
  void copyTarget();
  std::string iteration();
  bool findLoop(StmtId from, StmtId loop, std::vector<StmtId> &around) const;
  Status checkEnsureTypes(ElementType target) const;
  Status checkOperator(Reduction reduction, ElementType type) const;
  SliceValue bufferAt(uint32_t slot, int64_t rank);
  SliceValue remoteView(const Param &param, const SliceValue &own);
  void becomeMember(const Group &group);
  bool isSignificantHere(BufferId buffer);
  bool dependsOnRank(ExprId id) const;

  const Program &program_;
  const Expr *exprs_; ///< of program_
  /// The size of an element in bytes, below 2^63.
  int64_t elementBytes(ElementType type) const {
    uint64_t given = std::min<uint64_t>(request_.elementBytes, INT64_MAX);
    return given > 0 ? static_cast<int64_t>(given) : sizeBytes(type);
  }

  const InstantiateRequest &request_;
  uint64_t maxOps_, maxDeps_;
  ValidityRange range_;

  // State of one run
  Rank rank_{0};
  Dag *dag_ = nullptr;
  DagBuilder builder_;
  EpochTable<uint32_t> counts_;
  Frame *frame_ = nullptr;
  uint32_t depth_ = 0;
  uint64_t steps_ = 0;
  uintptr_t stackBase_ = 0;
  bool failed_ = false;
  int64_t remote_ = kNone; ///< evaluating a value at this other rank
  Ensure ensure_;          ///< the promise or the invariant being evaluated
  StmtId loop_ = kNoStmt;  ///< whose invariants are evaluated
  Status error_;
  SlotStack<int64_t> ints_;
  SlotStack<SliceValue> slices_;
  SlotStack<SizeExtent> sizes_;
  LabelTable labels_;
  std::vector<SliceValue> entryBuffers_; ///< per parameter of the job's collective, not aliased
  Pool<IntList> lists_;
  Groups groups_;
  Pool<TreeValue> trees_;
  Pool<GraphValue> graphs_;
  std::vector<Region> sources_, targets_;
  WholeCut cut_;
  std::vector<Region> carried_;                            ///< by the statement that comes next
  std::map<std::pair<int64_t, int64_t>, int64_t> graphAt_; ///< (graph, rank): its view there

  // State of all runs
  std::map<ViewName, std::array<std::vector<EdgeValue>, 2>> keptViews_;
  size_t keptEdges_ = 0; ///< of keptViews_
  struct TreeView {
    int64_t parent;
    std::vector<int64_t> children;
  };
  std::map<ViewName, TreeView> keptTrees_;
  size_t keptTreeEdges_ = 0; ///< of keptTrees_
  std::map<std::string, uint32_t> edgeFiles_;
  std::vector<GraphFile> graphFiles_;
};

class Interpreter::FrameScope {
public:
  FrameScope(Interpreter &in, Frame &frame);
  ~FrameScope();

private:
  Interpreter &in_;
  Frame *caller_;
  SlotStack<int64_t>::Mark ints_;
  SlotStack<SliceValue>::Mark slices_;
  SlotStack<SizeExtent>::Mark sizes_;
};

} // namespace colldsl
