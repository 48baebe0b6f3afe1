/// The runs of a plan of which some buffers lie in device memory.
///
/// Each cell (executor/DeviceCells.h) has its content on the host, on the device, or on both.
/// Before an op starts, the cells that it reads are copied to its side; what it writes is no longer
/// valid on the other one:
///
///   device     x0 x1 x2    x0 op y0 (kernel)         y1 is complete
///                \  \  \                            /
///   host       x0 x1 x2 come ...     receive y1 ---
///
/// Cells of device buffers go back to the device when the last op that writes them has finished.
/// No copy is made of what no op reads or writes. Neighbouring cells that become ready together are
/// one copy. Ops on the device are pieces of work of a stream, as copies are: between begin() and
/// end() cancel() alone waits for such work. receive() waits until writes of the network are
/// flushed, where the device does not order them itself.
///
/// The order of the work of the last run is kept. A graph has the same work in that order: sorted
/// by time, the runs of all ranks are one order in which each signal comes before its wait, so
/// graphs that all ranks launch come to their ends. Not thread safe.
#pragma once

#include "executor/DeviceCells.h"

#include <array>

namespace colldsl {

class DeviceStage {
public:
  /// `view` is of data that outlives it.
  explicit DeviceStage(const RankView &view)
      : view_(view), cells_(view), messages_(view), direct_(view) {}
  /// Requires that no run is under way.
  ~DeviceStage();
  DeviceStage(const DeviceStage &) = delete;
  DeviceStage &operator=(const DeviceStage &) = delete;

  /// Makes stages for the buffers in device memory. Refuses memory of several contexts.
  Status bind(const Binding &binding);
  /// The last binding, with stages in place of device memory.
  const Binding &binding() const { return areas_.binding(); }
  /// Called once memory and steps were bound to binding(). The endpoint outlives the stage.
  Status divide(const Memory &memory, const Edges &edges, const Steps &steps, Endpoint &endpoint);

  /// Begins a run. Errors come from poll().
  void begin();
  /// Called when the run is over, after cancel() if it failed. May wait for the device.
  void end();

  /// Called for an op that may start by its dependencies. False: it has to wait for copies, and
  /// poll() will release it.
  bool admit(OpId op);
  bool isOnDevice(OpId op) const { return cells_.isOnDevice(op) && !direct_.isOnHost(op); }
  /// The messages that go from device to device, which are among the ops on the device.
  DeviceMessages &messages() { return messages_; }
  /// The messages that the network moves from and to device memory, which are so, too.
  DirectMessages &direct() { return direct_; }
  /// Called when such a message has been received: finds where its bytes are.
  Status receive(OpId op) { return direct_.receive(op, areas_); }
  /// True if a combine on the device, which is ready but for `before`, may be done by the same
  /// kernel: it combines one more source with the target of `before`.
  bool continues(OpId op, OpId before, const Steps &steps) const;
  /// Begins combines on the device, of which each continues the one before it. poll() returns the
  /// first one; the others have then been done.
  void beginCombines(std::span<const OpId> ops, const Steps &steps);
  /// Once per op and run: true if the op was done with another one.
  bool takeDone(OpId op) { return std::exchange(isDone_[index(op)], uint8_t{0}); }

  /// Begins the work of the device for an op that was admitted: a copy or combine, or the phase of
  /// a message. poll() returns the op once that has finished.
  void beginOnDevice(OpId op, const Steps &steps);

  /// Called when a message is about to be offered, and when its answer has come.
  void noteOffer(OpId op) { order_.push_back({op, Action::Offers}); }
  void noteAnswer(OpId op) { order_.push_back({op, Action::IsAnswered}); }

  /// Called when an op has finished.
  void finish(OpId op);

  /// Called when all ops of a run have finished: graphs may have its order.
  void noteRun() { hasOrder_ = true; }
  /// Ok, or why a graph cannot have the work of the plan, all ops of which are on the device or do
  /// nothing.
  Status mayCapture() const;
  /// Adds the work of a run to a stream that captures, of the same context; requires mayCapture().
  /// All ranks call it after the same run. After an error of the driver the graph is of no use, and
  /// a launch of it ends once releaseGraphs() is called.
  Status capture(const Steps &steps, device::CuStream stream);
  const device::CudaDriver &driver() const { return areas_.driver(); }
  device::CuContext context() const { return areas_.context(); } ///< null: of no binding yet
  /// True if the bytes have a place on the device.
  bool isOfArea(const std::byte *address) const { return areas_.areaOf(address) != nullptr; }
  /// True while a graph with messages runs.
  bool isGraphRunning() const { return messages_.words().isRunning(); }
  /// Lets graphs go on without the other ranks, for good: their results are of no meaning.
  void releaseGraphs();

  struct Failure {
    OpId op; ///< that waits for the copy, whose bytes it copies, or which ran on the device
    Status status;
  };
  /// Begins the copies that ops and their ends have asked for since the last call, and takes note
  /// of work that has finished. Appends ops that may start now to `released`, and ops whose work on
  /// the device has finished to `finished`; both have room for all ops. True: some work has
  /// finished.
  bool poll(std::vector<OpId> &released, std::vector<OpId> &finished);

  /// None: all is well.
  const std::optional<Failure> &failure() const { return failure_; }

  /// True once all bytes of the run are on the device, if all ops have finished.
  bool isDone() const { return complete_ == written_; }
  bool anyUnderWay() const { return work_ && work_->anyUnderWay(); }

  /// Waits until the device no longer touches the memory of a run that failed, for a second at
  /// most. If that does not come, the memory of the plan is never freed.
  void cancel();

private:
  /// The sides that have a cell's content.
  struct State {
    bool onHost : 1, onDevice : 1;
    bool comes : 1; ///< a copy to the side that lacks it is under way
  };
  /// An op that waits for a cell, in the cell's list.
  struct Waiter {
    OpId op;
    uint32_t next;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A copy that is yet to begin, of cells first..last-1, which are neighbours of one area.
  struct NextCopy {
    uint32_t first = 0, last = 0;
    uint64_t bytes = 0; ///< 0: there is none
    OpId op = kNoOp;    ///< for which the last cell is copied
  };

  /// The work of the device, and how it depends on other ranks.
  enum class Action : uint8_t {
    Runs,      ///< a copy or combine
    Continues, ///< a combine that the kernel of the one before does too
    Offers,    ///< packs and offers a message
    IsAnswered,
    Receives ///< has the offer, copies and answers
  };
  struct Done {
    OpId op;
    Action action;
  };

  Status openWork();
  NextCopy &nextOf(device::Lane lane) { return next_[static_cast<size_t>(lane)]; }
  void copy(device::Lane lane, uint32_t cell, OpId op);
  bool joins(device::Lane lane, uint32_t cell, OpId op);
  void beginCopy(device::Lane lane);
  void beginCopies();
  Status runOnDevice(OpId op, const Steps &steps);
  Status runLocal(OpId op, const Steps &steps, device::CuStream stream);
  Status runCombines(std::span<const OpId> ops, const Steps &steps, device::CuStream stream);
  Status copyPieces(std::span<const LocalPiece> pieces, device::CuStream stream);
  Status addCopies(std::span<const device::CopyPiece> copies, device::CuStream stream);
  Status addToGraph(size_t &at, const Steps &steps, device::CuStream stream);
  Status addSend(OpId op, const Step &step, device::CuStream stream);
  Status addReceive(OpId op, const Step &step, device::CuStream stream);
  bool drainGraphs();
  device::DeviceAddress deviceAddressOf(const std::byte *address) const {
    return areas_.areaOf(address)->deviceAddressOf(address);
  }
  Status runMessage(OpId op, const Step &step, device::CuStream stream);
  void arrived(device::Lane lane, uint32_t cell, std::vector<OpId> &released);
  void fail(OpId op, const std::string &what, const Status &why);
  void failCopy(device::Lane lane, uint32_t first, const Status &why);

  RankView view_;
  DeviceAreas areas_;
  DeviceCells cells_;
  std::unique_ptr<device::AsyncWork> work_;
  std::shared_ptr<device::Kernels> kernels_;
  bool canCopyMany_ = false; ///< by a kernel
  bool isCancelled_ = false; ///< for good
  std::shared_ptr<device::IpcCache> opened_;
  DeviceMessages messages_;
  DirectMessages direct_;
  std::optional<device::IpcCache::Run> run_;    ///< under way
  std::optional<device::IpcCache::Run> graphs_; ///< of the binding, which may run at any time
  size_t written_ = 0; ///< number of cells of device buffers that ops write

  // The state of a run.
  std::vector<State> states_;         ///< by cell
  std::vector<uint32_t> openWriters_; ///< by cell
  std::vector<OpId> causes_;          ///< by cell: the op for which the last copy was made
  std::vector<uint32_t> copyEnds_;    ///< by the first cell of a copy: the cell behind its last one
  std::array<NextCopy, 2> next_;      ///< by lane
  std::vector<uint32_t> waiting_;     ///< by cell: its first waiter
  std::vector<Waiter> waiters_;
  std::vector<Done> order_;       ///< of the work of the run
  bool hasOrder_ = false;         ///< of a run that has ended, as the plan is bound
  std::vector<uint8_t> isDone_;   ///< by op, until it is taken
  std::vector<uint32_t> missing_; ///< by op: the number of cells that it waits for
  size_t complete_ = 0; ///< number of those written_ cells that are on the device for good
  std::optional<Failure> failure_;
};

} // namespace colldsl
