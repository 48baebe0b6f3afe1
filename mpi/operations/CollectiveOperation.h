/// A collective of all ranks of its communicator: a plan of the standard library, bound to the
/// memory of the call.
///
/// Data moves as bytes. Memory that is not in one piece, or that the library needs at another
/// place, goes through a copy.
#pragma once

#include "mpi/comm/DeviceAgreement.h"
#include "mpi/comm/PlanGroup.h"
#include "mpi/operations/Operation.h"
#include "mpi/operations/OperationDevice.h"
#include "mpi/types/Reductions.h"
#include "runtime/CollectivePlan.h"

#include <array>
#include <optional>

namespace colldsl::mpi {

class ServedComm;

class CollectiveOperation final : public Operation {
public:
  struct Options {
    const TunedCollective *choice = nullptr; ///< serves in place of the rules' choice; may be null
    bool isPersistent = false;               ///< the datatypes are in use until the call ends
    CallMemory memory = CallMemory::Host;    ///< on all ranks; not Other
  };
  /// `group`: of the communicator, all of whose runs it numbers, or of this operation alone. The
  /// arguments are correct. Null: the call is for the MPI below, on all ranks. An error: memory is
  /// short.
  static MadeOperation make(ServedComm &comm, std::shared_ptr<PlanGroup> group, const Call &call,
                            const Options &options);
  /// Variant of make() for a call that was served before; the first run makes its plan. Null: this
  /// rank cannot make it, and the caller must tell the others before they run it.
  static std::shared_ptr<CollectiveOperation> prepare(ServedComm &comm,
                                                      std::shared_ptr<PlanGroup> group,
                                                      const Call &call,
                                                      const TunedCollective &choice);

  /// The function of the standard library that serves the kind on the communicator.
  static const char *functionOf(const ServedComm &comm, CallKind kind);

  ~CollectiveOperation() override;

  Status run(uint32_t number) override;
  void start(uint32_t number) override;
  bool isDone() const override { return !plan_.isCommitted() || !plan_.plan().running(); }
  bool await() override { return tryLine() || isDone(); }
  bool tryFinish() override { return tryLine() && finish().ok(); }
  Status finish() override;
  void cancel() override;
  bool progress() override;

  bool mayMoveTo(const Call &call) const override;
  bool follow(const Call &call) override;
  Result<bool> resizeTo(const Call &call) override;

  TunedCollective chosen() const override { return plan_.chosen(); }
  uint64_t ruleBytes() const override { return plan_.situation().bytes; }

private:
  /// The use of memory that is bound to a buffer.
  enum class Way {
    In,
    Copied, ///< in, from a copy, since the run writes to the original
    Out,
    Dropped, ///< out, but the program does not need it
    InOut
  };

  CollectiveOperation(ServedComm &comm, std::shared_ptr<PlanGroup> group, const Call &call,
                      const TunedCollective *choice);

  static Result<std::shared_ptr<CollectiveOperation>>
  described(ServedComm &comm, std::shared_ptr<PlanGroup> group, Call call, const Options &options);
  Status describe(const Call &call);
  Status describeOnce(const Call &call);
  void complete(const Call &call);
  Status setArguments(const Call &call);
  Status describeRooted(const Call &call, const char *own, const char *all, Way way);
  Status describeForAll(const Call &call);
  Status describeReduction(const Call &call);
  Status describeReduceScatter(const Call &call);
  Status describeReduceScatterBlock(const Call &call);
  Status bindReduced(const Call &call, uint64_t all, uint64_t own);
  Status setOperator(const Call &call);
  std::optional<uint64_t> elementsOf(const Call &call) const;
  bool isLikeBefore(const Call &call) const;
  bool followLength(const Call &call);
  bool followLists(const Call &call);
  bool followCounts(const Call &call);
  Status setElements(uint64_t n);
  bool hasFormOf(const Call &call) const;
  bool combinesAlike(const Call &call) const;
  Status bindElements(const char *buffer, const BlockSide &side, uint64_t count, Way way);

  Result<BlockSide> ownSlot(const BlockSide &side);
  Status bind(const char *buffer, const BlockSide &side, int slots, Way way);
  Status bindEqual(const char *buffer, const BlockSide &side, int slots, Way way);
  Status bindListed(const char *buffer, const BlockSide &side, int slots, Way way);
  Status bindMemory(const char *buffer, std::byte *memory, uint64_t bytes, Way way);
  Status bindBytes(const char *buffer, std::byte *memory, uint64_t bytes);
  /// Variant of scratch() where the call has its buffers, as at the address.
  Result<std::byte *> scratchBeside(const void *address, uint64_t bytes);
  bool isOwn(const void *memory) const {
    return device_ ? device_->isScratch(memory) : isScratch(memory);
  }
  void forgetBuffers();
  /// The way of an input, which is copied only if buffers overlap.
  Way wayIn() const { return copiesInput_ ? Way::Copied : Way::In; }
  void shift(ptrdiff_t sent, ptrdiff_t received) override;
  bool holdsType() const { return reduction_ && reduction_->heldType() != MPI_DATATYPE_NULL; }
  Status beginRun(uint32_t polls);
  bool tryLine();
  Status startOnDevice();
  void endRun(const Status &outcome);
  void addPacked(Packed packed, Way way);

  /// Memory of the call that the plan uses where it lies.
  struct Area {
    const std::byte *begin = nullptr;
    uint64_t bytes = 0;
    bool touches(const Area &other, ptrdiff_t by, ptrdiff_t otherBy) const;
  };

  /// A block of a side whose blocks have lengths of their own; without bytes, of no layout.
  struct ListedBlock {
    const TypeLayout *layout = nullptr;
    std::byte *address = nullptr;
    uint64_t bytes = 0;
  };

  /// A buffer of the plan that lies in the memory of the call.
  struct Direct {
    const char *buffer;
    bool isSent;
    bool isRead = false;
    uint64_t elementBytes = 0; ///< for each of the plan's elements; 0: it has lengths of its own
    int slots = 0;             ///< with a place each
    bool isEmpty = false;      ///< of lists: has no bytes, and no address

    const BlockSide &sideOf(const Call &call) const { return isSent ? call.send : call.recv; }
  };
  static std::optional<Area> placeBlocks(const BlockSide &side, int slots, BlockTable &table);
  void place(Direct &direct, const Area &area, BlockTable &blocks);

  std::shared_ptr<PlanGroup> group_;
  int rank_, ranks_;
  bool isOfOneList_; ///< the plan holds for one list of lengths, which all ranks know
  std::unique_ptr<Reduction> reduction_; ///< outlives the plan
  /// Likewise; null: the buffers of the calls are in memory of the host.
  std::unique_ptr<OperationDevice> device_;
  CollectivePlan plan_; ///< not committed: the run before failed
  bool isPersistent_ = false;
  bool isPlain_ = false;             ///< nothing is to be done before or after a run
  std::vector<Direct> direct_;       ///< at most two
  bool isDirect_ = false;            ///< all memory of the call is used where it lies
  std::array<BlockTable, 2> placed_; ///< of the next call that follows, parallel to direct_
  std::vector<ListedBlock> listed_;  ///< of the side that is bound
  BlockTable blocks_;                ///< likewise
  uint64_t elements_ = 0;            ///< of the plan
  Area in_, out_;                    ///< read; written
  bool copiesInput_ = false;         ///< because the program's buffers overlap
  Call made_ = {};                   ///< the call that it serves; its handles may be freed by now
  uint32_t run_ = 0;                 ///< the last run that began
  Status begun_;                     ///< of a run that start() began
};

} // namespace colldsl::mpi
