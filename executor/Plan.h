/// A schedule of one rank, bound to buffers and connected to its peers. It may be started any
/// number of times.
///
///   Engine engine(endpoint);
///   Result<std::unique_ptr<Plan>> plan = Plan::open(engine, image.rank(me), image.sizeClass(),
///                                                   {n, {BoundBuffer::in(x, ..), {y, ..}}});
///   (*plan)->start();
///   Status done = (*plan)->wait(std::chrono::seconds(5));
///
/// Runs: starts match in order: the k-th run here meets the k-th run of every other rank. While a
/// plan runs, it owns its buffers. A run writes to a buffer only after this rank itself has started
/// it. start() and all steps up to the end of a run allocate nothing, unless the run fails.
///
/// Threads: open(), bind(), start() and destruction are for one thread at a time, per plan; open()
/// for one thread per engine, in the same order on all ranks. progress(), test() and wait() are for
/// any thread at any time: a thread that finds another one at work leaves the work to it. Plans are
/// independent of each other.
///
/// Graphs: startOnStream() on a stream that captures is a capture of the plan. A launch of the
/// graph is a run of all ranks, without their hosts: the plan is not running() meanwhile. Captures
/// and starts match in one order: all ranks capture the plan after the same run, the graphs of all
/// ranks are launched equally often, and if one rank cannot capture, none is launched. Between two
/// launches runs may be started. The graphs of all ranks have ended, and are of no use, when a rank
/// binds or destroys the plan. progress(), test() and wait() look for failures of a plan that was
/// captured: if it has failed, graphs come to their ends, and their results are of no meaning.
///
/// Errors: values. After one the plan is failed() for good: the content of its buffers is
/// undefined, and the plan can only be destroyed. All ranks of the plan are notified in bounded
/// time once they progress.
#pragma once

#include "device/StreamOrder.h"
#include "executor/Addresses.h"
#include "executor/CombiningReceives.h"
#include "executor/DeviceStage.h"
#include "executor/Engine.h"
#include "executor/FusedCopies.h"
#include "executor/LocalWork.h"
#include "executor/Observer.h"
#include "executor/ResizableSteps.h"
#include "executor/Steps.h"
#include "executor/StraightLine.h"
#include "executor/TransferReport.h"
#include "executor/TryLock.h"
#include "executor/Wavefront.h"

#include <atomic>
#include <chrono>

namespace colldsl {

inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

class Plan {
public:
  /// Collective over all ranks of the engine's transport; waits for all of them, and moves other
  /// plans meanwhile. `view` (the image's bytes) and the engine outlive the plan. If one rank
  /// fails, all ranks fail. `terms`: all other terms that all ranks must have in common
  /// (OpenRequest). `policy`: alike on all ranks.
  static Result<std::unique_ptr<Plan>> open(Engine &engine, const RankView &view,
                                            const SizeClass &sizeClass, const Binding &binding,
                                            std::string_view terms = {},
                                            TransferPolicy policy = TransferPolicy::Report);
  ~Plan();
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  /// Binds other buffers or sizes, between runs. Local; the sizes of all ranks must fit together.
  /// After an error the plan does not start until it is bound. An announced message whose sender
  /// puts it over a network stays where its first run had it. Allocates nothing if the plan was
  /// bound to as much before.
  Status bind(const Binding &binding);

  /// Called between runs: moves the memory of a parameter by so many bytes, and changes nothing
  /// else. Local, and cheaper than bind(). False: nothing was changed, because memory of parameters
  /// interleaves, or messages are announced.
  bool shift(BufferId parameter, ptrdiff_t by);

  /// Begins a run and does all work that can be done at once. An error if one is running. `polls`:
  /// the number of times that a short plan polls for each message that is not here yet, before
  /// start() returns.
  Status start(uint32_t polls = 0);

  /// Variant of start(): the run begins once the work that the stream holds now has finished, which
  /// progress finds. Until then the plan is running, and sends and receives nothing. All streams of
  /// a run belong to one context.
  /// A stream that captures gets the work of a run of the plan, in the order of the last run; what
  /// it captures later is behind that. Errors, which leave plan and capture as they were: an op
  /// needs the host, the plan has not run since it was bound, the driver or the device is too old.
  /// After an error of the driver the graph is of no use; the plan runs as before.
  /// Launches of the plan that the stream holds end before the run begins.
  Status startOnStream(const device::CudaDriver &driver, device::CuStream stream);

  /// Work that is added to the stream from now on waits for the end of the run under way, also if
  /// that fails. Nothing happens if no run is under way. Calls that wait for the stream, or for the
  /// device as a whole, do not return before another thread has made the progress of the run.
  /// A stream that captures follows the plan that was started last in a capture; an error if that
  /// is another capture, if the plan was bound since, or if a run is under way.
  Status waitOnStream(const device::CudaDriver &driver, device::CuStream stream);

  /// For a caller that is about to wait for the run that start() began: a short plan polls `polls`
  /// times for each message that is not here yet, which is cheaper than progress(). True: the run
  /// is over and succeeded. False: unknown.
  bool tryFinish(uint32_t polls);

  /// Does all work that can be done now. True: something moved.
  bool progress();

  /// Calls progress() of this plan, then of the others. True: no run is under way, and status()
  /// returns the result of the last one.
  bool test();

  /// Waits until the run is over, but no longer than the timeout. True: it is over; else it goes
  /// on.
  bool waitFor(std::chrono::nanoseconds timeout);

  /// Waits until the run is over. If that takes longer than the timeout, the plan fails, on all
  /// ranks. `waited`: the time that the caller waited for the run before; for the error.
  Status wait(std::chrono::nanoseconds timeout = kForever, std::chrono::nanoseconds waited = {});

  bool running() const { return state() == State::Running; }
  bool failed() const { return state() == State::Failed; }

  /// True if the plan failed because a wait() here took too long.
  bool timedOut() const { return failed() && timedOut_; }

  /// Ok, or the reason why the plan failed.
  Status status() const { return failed() ? error_ : Status(); }

  /// Reports the attributes of the messages that this rank receives, and those that are executed as
  /// the plan is bound now. Called between runs.
  TransferReport transfers() {
    return reportTransfers(view_, steps_, combining_, engine_.endpoint());
  }

  /// Lengths of the blocks of a T[k][<= m] buffer after a run, in elements.
  const std::vector<uint64_t> &blockLengths(BufferId buffer) const {
    return memory_.lengthsOf(buffer);
  }

  /// Called between runs. Null: no observer. The observer outlives the plan or is removed.
  void setObserver(Observer *observer) {
    observer_ = observer;
    noteWatched();
  }

private:
  enum class State : uint8_t { Idle, Running, Failed };

  Plan(Engine &engine, const RankView &view, const SizeClass &sizeClass);
  State state() const { return state_.load(std::memory_order_acquire); }

  Status mayStart() const {
    if (failed())
      return error_;
    if (running())
      return Status::error("the plan is running");
    return isBound_ ? Status() : Status::error("the plan is not bound");
  }
  Status graphIsRunning() const;
  Status mayBind();
  Status capture(const device::CudaDriver &driver, device::CuStream stream, uint64_t id);
  Status followCapture(device::CuStream stream, uint64_t id);
  Status mayCapture() const;
  Status hasContextOf(const device::CudaDriver &driver, device::CuStream stream) const;
  std::string needOfHost(OpId op) const;
  std::string needOfMessage(const ImageOp &op) const;
  std::string needOfLocal(OpId op) const;
  void watchGraphs(uint32_t polls);
  void checkGraphs();
  void checkCaptured();
  Status orderWith(const device::CudaDriver &driver, device::CuStream stream);
  bool passMark();
  void endMark();
  Status bindTo(Channels &channels, const Binding &binding);
  Status buildSteps(const Binding &binding);
  Status checkTransfers();
  Status checkDevices(const Binding &binding) const;
  Status checkPassedOn(const Binding &binding) const;
  Status checkMoved(const Channels &channels) const;
  bool runStraight(uint32_t polls);
  bool awaitMessage(const Step &step, uint32_t polls);
  bool onlyReceivesAreLeft() const;
  void leaveLine();
  bool advance();
  template <bool Watched> bool advanceAs();
  template <bool Watched> bool startReady();
  template <bool Watched> void startOp(OpId op);
  void holdMessages();
  void pushMessages();
  template <bool Watched> void runLocal(OpId op);
  bool isLong(OpId op) const;
  template <bool Watched> bool runPart(OpId op);
  template <bool Watched> void started(OpId op);
  template <bool Watched> void finished(OpId op);
  template <bool Watched> void reap(const Completion &completion);
  template <bool Watched> bool serveCalc();
  template <bool Watched> Posted receive(OpId op);
  bool refresh(OpId op);
  bool progressFor(uint32_t polls);
  void sleep(std::chrono::nanoseconds atMost);
  void check();
  void finishRun();
  OpId nextOnStage();
  bool pollStage();
  bool startOnStage(OpId op);
  void startOnDevice(OpId op);
  void startCombines(OpId op);
  OpId continuationOf(OpId op) const;
  void offer(OpId op);
  void noteOnDevice(OpId op, Posted posted);
  void moveOnDevice(OpId op);
  void finishOnDevice(OpId op);
  void startDirect(OpId op);
  void reapDirect(const Completion &completion);
  void finishDirect(OpId op);
  void noteCopies();
  void noteWatched() { isWatched_ = observer_ || stage_ || order_; }
  void beginWatched();
  void endWatched();
  void noteStarted(OpId op);
  void noteFinished(OpId op);
  void beginCalc(uint64_t ns);
  void endCalc();

  Status describe(const Fault &fault) const;
  std::string nameOf(OpId op) const;
  void failWith(Status error);
  void cancelMessages();
  void failHere(Fault fault);
  void timeOut(std::chrono::nanoseconds timeout);

  Engine &engine_;
  RankView view_;
  SizeClass sizeClass_;
  Edges edges_;
  Memory memory_;
  Steps steps_;
  std::unique_ptr<DeviceStage> stage_;         ///< null: no buffer lies in device memory
  std::unique_ptr<device::StreamOrder> order_; ///< null: no stream has had to do with a run
  bool awaitsMark_ = false;                    ///< the run has not begun, as a stream holds it
  std::optional<uint64_t> lastCapture_;        ///< that has the whole plan, and the point behind it
  std::atomic<bool> isCaptured_{false};        ///< as it is bound; changes under the lock
  std::optional<Addresses> addresses_;         ///< once something moved
  FusedCopies fused_;
  std::optional<ResizableSteps> resizable_; ///< once steps were built that may be resized
  CombiningReceives combining_;
  Wavefront wavefront_;
  std::optional<StraightLine> line_; ///< once bound
  bool isBound_ = false;
  bool isStraight_ = false; ///< the plan may run along the line, as it is bound
  bool onLine_ = false;     ///< the run waits for a message on it, and no wavefront has begun
  size_t lineAt_ = 0;       ///< the number of its ops that have finished
  std::unique_ptr<Channels> channels_;
  Observer *observer_ = nullptr;
  bool isWatched_ = false; ///< there is an observer, a stage or an order with streams

  TryLock lock_;
  /// Ends are released to who reads that the plan does not run, and acquires. A start is relaxed:
  /// other threads move the plan under its lock alone.
  std::atomic<State> state_{State::Idle};
  bool timedOut_ = false;
  Status error_; ///< written before state_ becomes Failed, never again
  uint32_t idlePolls_ = 0;
  const bool batches_;     ///< the transport batches messages
  const bool isAnnounced_; ///< some message that this rank receives is announced
  const bool combines_;    ///< some op does
  bool holds_ = false;     ///< messages are held until they are pushed

  /// Ops that wait for this thread, which first starts messages: copies and combines, and calcs,
  /// which keep the processor busy one after the other.
  std::vector<OpId> local_, calcs_;
  uint32_t localHead_ = 0, localTail_ = 0;
  LocalPart part_; ///< of the first op in local_
  uint32_t calcHead_ = 0, calcTail_ = 0;
  int64_t calcEndNs_ = kNoCalc;
  std::vector<OpId> released_; ///< ops for which the stage had to wait
  size_t releasedHead_ = 0;
  std::vector<OpId> finished_;     ///< on the device
  bool areCopiesUnderWay_ = false; ///< as the engine knows
  static constexpr int64_t kNoCalc = INT64_MIN;
};

} // namespace colldsl
