/// A plan of a library's collective: named, described by the values of its parameters and its
/// buffers, committed by all ranks, then run as often as the caller wants.
///
///   CollectivePlan sum(communicator, library, "allreduce");
///   sum.setType(ElementType::F64);
///   sum.setElements(1000);
///   sum.bind("x", BoundBuffer::in(x, 8000));
///   sum.bind("y", {y, 8000});
///   Status s = sum.commit();
///
/// Threads: as Plan. Errors: values; after a failed commit() all ranks may correct the description
/// and commit again.
#pragma once

#include "executor/Plan.h"
#include "instantiate/Instantiate.h"
#include "ir/RankSchedule.h"
#include "program/library/Library.h"
#include "runtime/PlanCompiler.h"
#include "runtime/graph/GraphOrder.h"
#include "runtime/job/Communicator.h"
#include "select/Situation.h"
#include "topology/MachineProfile.h"

#include <map>

namespace colldsl {

namespace protocol {
class PlanTerms;
}

class CollectivePlan {
public:
  /// `name`: a collective of the library, or a function for which it has rules. The
  /// communicator and the library outlive it.
  CollectivePlan(Communicator &communicator, Library &library, std::string name)
      : communicator_(communicator), library_(&library), given_(library), name_(std::move(name)) {}

  // Called before commit(), which checks names: only then it is known what they belong to.

  /// If `preferred` has that collective, or a rule that fits, it is used in place of the other
  /// library. It outlives this. `compiler`: as in setCompiler(), for its schedules.
  Status preferLibrary(Library &preferred, std::shared_ptr<const PlanCompiler> compiler);

  /// Sets the type variable, T, which has no default; removes a combiner.
  Status setType(ElementType type);
  /// Sets an operator of the caller's, in place of that of the collective, whose parameter for it
  /// must not be given. T is then its elements, and lengths count these. `commutes`: operands may
  /// change places.
  Status setCombiner(const Combiner &combiner, bool commutes);
  Status setInPlace(bool inPlace);
  /// All ranks bind all their buffers in device memory (Binding::deviceOnly).
  Status setDeviceOnly(bool isDeviceOnly);
  /// Messages of so many bytes go from device to device then (Binding::deviceMessagesFrom).
  Status setDeviceMessages(uint64_t fromBytes);
  /// The plan is part of no CUDA graph (Binding::mayBeCaptured).
  Status setNeverCaptured();
  /// The kind of value that a number represents.
  enum class NumberKind {
    Any, ///< what the parameter takes
    Int, ///< no reduction
    Reduction
  };
  /// A number may also be the value of a size symbol.
  Status setValue(const std::string &parameter, ArgumentValue value,
                  NumberKind kind = NumberKind::Any);
  Status setGraph(const std::string &parameter, std::shared_ptr<const OrderedGraph> graph);
  /// Sets the compiler that makes schedules that no image serves. Not set: as written, unproved.
  Status setCompiler(std::shared_ptr<const PlanCompiler> compiler);
  /// The compiler for the library that is used; null: not set.
  const PlanCompiler *compiler() const {
    return library_ == preferred_ ? preferredCompiler_.get() : compiler_.get();
  }
  /// commit() refuses a schedule whose messages have attributes that the transport does not
  /// execute. Alike on all ranks.
  void requireTransfers(bool isRequired) {
    transferPolicy_ = isRequired ? TransferPolicy::Refuse : TransferPolicy::Report;
  }
  /// Drops the settings of this name, a parameter's or a buffer's.
  Status forget(const std::string &name);

  /// Binding refuses overlapping blocks of a written buffer whose blocks are placed one by one. It
  /// sorts the blocks to check that, unless they lie in ascending order.
  void requireDisjointBlocks() { needsDisjointBlocks_ = true; }

  // Called before commit() and between runs.

  Status setElements(uint64_t n);
  /// The memory has as many bytes as the buffer, or more if blocks are placed one by one.
  Status bind(std::string_view buffer, BoundBuffer memory);
  /// Moves the memory that is bound to the buffer by so many bytes: cheaper than bind().
  Status move(std::string_view buffer, ptrdiff_t by);
  /// Replaces the combiner of a plan that has one: the new one has elements of as many bytes, and
  /// commutes if the old one does.
  Status replaceCombiner(const Combiner &combiner);
  /// Sets places and lengths of blocks, in elements. Without places the blocks of T[k][*] are
  /// contiguous.
  Status setBlocks(std::string_view buffer, const BlockTable &blocks);
  /// Variant of bind() and setBlocks() for a plan that ran, and a buffer whose call-time blocks
  /// were bound: gives it other lengths and places. The blocks lie in the memory. Takes the table,
  /// in exchange for the one before.
  Status place(std::string_view buffer, BoundBuffer memory, BlockTable &blocks);

  /// Collective: chooses, takes the library's image or compiles a schedule, connects, binds. If one
  /// rank fails, all ranks fail. If all messages go along a graph, this rank sends in the order of
  /// the graph's rounds, unless passes ran on the DAGs.
  Status commit();

  /// Returns the result of commit() as if this rank were alone: an error if it cannot make the
  /// plan. Local, and opens nothing. The next commit() takes the schedule, unless the description
  /// changes.
  Status tryOut();

  /// Drops a plan that failed, or that is running. All ranks may commit it anew.
  void uncommit() { plan_.reset(); }

  bool isCommitted() const { return plan_ != nullptr; }
  const std::string &collective() const { return collective_; } ///< once committed
  Plan &plan() { return *plan_; }                               ///< once committed
  const Plan &plan() const { return *plan_; }                   ///< once committed
  const RankView &view() const { return view_; } ///< this rank's, once committed or tried out
  /// Once committed: the library's image that runs; null: the schedule was instantiated.
  const LibraryImage *image() const { return image_; }
  /// Once committed: "named", or the rule, or the decision of the machine profile, that chose the
  /// collective.
  const std::string &reason() const { return reason_; }
  /// Once committed or tried out: the collective and the values of its numeric tuning parameters.
  TunedCollective chosen() const;
  /// The facts by which rules choose.
  Situation situation() const;
  /// Once committed: "root=3, t=...": arguments that differ from their defaults, as far as they are
  /// known; for an image those that it was made with.
  std::string argumentsInWords() const;
  /// Once committed: the values of n that setElements() takes, if the chunks of an imported
  /// schedule divide them.
  const SizeClass &sizeClass() const { return sizeClass_; }
  /// Once committed: true if a plan for n elements would have the same schedule.
  bool holdsFor(uint64_t n) const { return alike_.min <= n && n <= alike_.max; }
  /// Once committed: the passes that ran, and the remarks of each if they are known.
  const std::string &passes() const;
  const std::string &remarks() const { return remarks_; }
  /// Once committed.
  const PlanProof &proof() const { return proof_; }

  /// Variant of Plan::start() with the memory that was bound last.
  Status start(uint32_t polls = 0) { return isReady() ? plan_->start(polls) : startAnew(polls); }
  /// Between runs: binds the plan to that memory, as start() does. Then isReady().
  Status makeReady();
  /// True if start() needs to call Plan::start() only.
  bool isReady() const { return plan_ && isBound_ && !isMoved_; }

  /// Lengths of the blocks of a T[k][<= m] buffer after a run, in elements.
  Result<const std::vector<uint64_t> *> blockLengths(const std::string &buffer) const;

private:
  /// The memory of a parameter that must not overlap with any other.
  struct Area {
    const std::byte *begin = nullptr;
    uint64_t bytes = 0;
    bool isRead = false; ///< and never written
  };

  Status startAnew(uint32_t polls);
  Status mayDescribe() const;
  Status mayBind() const;
  template <typename Change> Status describeAnew(Change change);
  template <typename Change> Status bindAnew(std::string_view buffer, Change change);
  Status make();
  Result<bool> makeFrom(Library &library);
  Result<bool> chooseFrom(Library &library, const SelectionRule *last);
  Result<bool> makeChosen();
  Result<bool> takeImported(uint32_t unit);
  std::string servedByImages(uint32_t unit) const;
  Status describe(const Program &program);
  Status checkType(const Program &program) const;
  Status describeOperator(const Program &program);
  Status checkOperator() const;
  uint64_t elementBytes() const;
  bool commutes() const;
  Status checkKind(const std::string &name, ValueType type, int64_t number) const;
  Status describeValue(const Program &program, const std::string &name, const ArgumentValue &value);
  std::string terms() const;
  void addValueTerms(protocol::PlanTerms &terms, bool inContract) const;
  Status gatherGraphs(const Program &program);
  Result<bool> takeImage(uint32_t unit);
  bool hasOurBuffers(const Image &image, const RankView &view) const;
  Status compile(const Program &program);
  ProofLevel leastProof() const;
  bool isTextProved() const;
  Status checkProof(const PlanProof &proof) const;
  uint64_t meanElements() const;
  void narrowAlike();
  size_t entryOf(std::string_view buffer) const;
  Status nameBuffers(std::vector<std::string> names);
  Status checkBinding();
  Status checkBuffer(uint32_t buffer) const;
  Status checkLength(uint32_t buffer) const;
  Status checkBlocks(uint32_t buffer) const;
  Sizes denseSizes() const;
  void measureAreas();
  Status checkOverlap() const;
  Status unknown(std::string_view buffer, const std::vector<std::string> &names) const;
  std::string withPlace(const Program &program, const Status &status) const;

  Communicator &communicator_;
  Library *library_; ///< that is used
  Library &given_;
  Library *preferred_ = nullptr;
  std::string name_;
  std::string collective_;
  InstantiateRequest request_;
  Combiner combiner_;
  bool combinerCommutes_ = true;
  std::map<std::string, ArgumentValue> values_;
  std::map<std::string, NumberKind> kinds_; ///< of values
  std::map<std::string, std::shared_ptr<const OrderedGraph>> graphs_;
  std::vector<std::shared_ptr<const GivenGraph>> gathered_;
  /// The names of the parameters that are buffers, in order; until the collective is known, those
  /// that were given.
  std::vector<std::string> bufferNames_;
  std::vector<bool> isGiven_; ///< parallel to bufferNames_
  bool isDeviceOnly_ = false;
  uint64_t deviceMessagesFrom_ = kDeviceMessagesFrom;
  bool mayBeCaptured_ = true;
  Binding binding_; ///< buffers and blocks are parallel to bufferNames_
  std::shared_ptr<const PlanCompiler> compiler_, preferredCompiler_;
  RankSchedule schedule_;   ///< set if it was compiled
  RankView view_;           ///< of the schedule, or of the image
  SizeClass sizeClass_;     ///< of calls
  SizeClass scheduleSizes_; ///< of the schedule, which counts in unit_
  SizeClass alike_;         ///< see holdsFor()
  uint64_t unit_ = 1;       ///< elements of a call per element of the schedule's n
  const LibraryImage *image_ = nullptr;
  const SelectionRule *rule_ = nullptr; ///< null: the collective was named
  std::string reason_, remarks_;
  Status notServed_; ///< why a collective that a rule chose does not serve the call
  PlanProof textProof_, proof_;
  bool needsDisjointBlocks_ = false;
  TransferPolicy transferPolicy_ = TransferPolicy::Report;
  bool hasType_ = false;   ///< T is set, by itself or by a combiner
  bool isMade_ = false;    ///< made by tryOut(), from the current description
  bool isGathered_ = true; ///< false: the ranks could not exchange graphs, as all of them know
  std::unique_ptr<Plan> plan_;
  bool isBound_ = false;    ///< to the memory that was given last
  bool isChecked_ = false;  ///< checkBinding() accepted it, or place() kept it right
  bool isMoved_ = false;    ///< since areas were compared
  std::vector<Area> areas_; ///< by parameter
};

} // namespace colldsl
