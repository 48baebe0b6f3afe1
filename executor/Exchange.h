/// An operation whose messages wait for nothing but their peers, on one machine: a
/// neighbourhood collective without passes. No DAG is walked; the fast path
/// is stores into FIFOs, copies, and loads from FIFOs.
///
///   Exchange halo(worker, context, stream);
///   halo.send(left, {...});
///   halo.recv(right, {...});
///   halo.seal();
///   Status done = halo.run(1);
///
/// Messages: the pieces that one rank sends to another in one run travel as one message, in the
/// order of the calls to send(), which is the order of the peer's calls to recv() for it.
///
/// Runs: a run meets the run of the same number at every peer. Memory belongs to the exchange from
/// start() on until the run is done. A run allocates nothing.
///
/// Threads: as LocalWorker.
#pragma once

#include "executor/MessagePieces.h"
#include "protocol/local/LocalWorker.h"

namespace colldsl {

class Exchange : protocol::DeferredReceives, protocol::ProgressProbe {
public:
  /// With a stream of its own.
  Exchange(protocol::LocalWorker &worker, uint32_t context, uint32_t stream)
      : Exchange(worker, std::make_shared<protocol::RunProgress>(worker.progressTable(),
                                                                 Tag{context, stream, 0, 0})) {}
  /// Exchanges of one stream share its progress, and are started in the order of their runs.
  Exchange(protocol::LocalWorker &worker, std::shared_ptr<protocol::RunProgress> progress)
      : worker_(worker), progress_(std::move(progress)) {}
  ~Exchange() { cancel(); }
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;

  // Called before seal(). Pieces without bytes are ignored; a piece right behind the one before
  // lengthens it.
  void send(Rank peer, std::span<const iovec> pieces) { addPieces(sends_, peer, pieces); }
  void recv(Rank peer, std::span<const iovec> pieces) { addPieces(recvs_, peer, pieces); }
  /// Copies within this rank. Both lists have the same number of bytes.
  void copy(std::span<const iovec> targets, std::span<const iovec> sources);

  /// Copies the bytes that this rank receives in `sources` to `targets` too. Both lists have the
  /// same number of bytes.
  void repeat(std::span<const iovec> targets, std::span<const iovec> sources);

  /// Connects. An error: no shared memory is left.
  Status seal();

  /// Called between runs: moves the memory that is sent, and the memory that is received, by so
  /// many bytes, except addresses for which stays(address) is true.
  template <typename Stays> void shift(ptrdiff_t sent, ptrdiff_t received, Stays stays) {
    auto move = [&](void *address, ptrdiff_t by) -> std::byte * {
      return static_cast<std::byte *>(address) + (stays(address) ? 0 : by);
    };
    movePieces(sends_, sent, stays);
    chooseProtocols();
    movePieces(recvs_, received, stays);
    for (auto [copies, by] : {std::pair(&copies_, sent), std::pair(&repeats_, received)})
      for (LocalCopy &copy : *copies) {
        copy.target = move(copy.target, received);
        copy.source = move(const_cast<std::byte *>(copy.source), by);
      }
  }

  /// A whole run. An error: a rank died, or a peer's messages have other lengths, or a peer sends
  /// none.
  Status run(uint32_t number) {
    begin(number);
    if (counter_.outstanding != 0 || !recvNow())
      if (Status s = recvLater(); !s) {
        progress_->whole(number);
        return s;
      }
    progress_->whole(number);
    return outcome();
  }

  /// Begins a run.
  void start(uint32_t number) {
    run_ = number;
    begin(number);
    isStarted_ = true;
    progress_->begin(number);
    if (counter_.outstanding != 0)
      post();
    else if (!recvs_.empty())
      defer();
  }

  /// True if the run is over. LocalWorker::progress() moves it.
  bool isDone() const { return counter_.outstanding == 0 && received_ == recvs_.size(); }

  /// For a caller that is about to wait for this run: takes messages that are here or a moment
  /// away, which is cheaper than LocalWorker::progress(). True: the run is over.
  bool await() {
    if (isDeferred_ && recvNow())
      undefer();
    return isDone();
  }

  /// Variant of await() that ends the run. False: it is not over, or finish() would return an
  /// error.
  bool tryFinish() {
    if (!await() || counter_.mismatched)
      return false;
    endStarted();
    copyAll(repeats_);
    return true;
  }

  /// Ends a run that was started and is done. An error: a peer's messages have other lengths.
  Status finish() {
    endStarted();
    return outcome();
  }

  /// Abandons a run that cannot be finished.
  void cancel();

private:
  struct End {
    Rank peer = kNoRank;
    std::vector<iovec> pieces;
    protocol::Request request;
    protocol::LocalSends *sends = nullptr;
    protocol::LocalReceives *receives = nullptr;
  };
  struct LocalCopy {
    std::byte *target;
    const std::byte *source;
    uint64_t bytes;
  };

  void prepare(End &end);
  void chooseProtocols();
  void begin(uint32_t number) {
    received_ = 0;
    counter_.mismatched = nullptr;
    sendAll(number);
    for (End &end : recvs_)
      end.request.tag.run = number;
    copyAll(copies_);
  }
  void sendAll(uint32_t number) {
    for (End &end : sends_) {
      end.request.tag.run = number;
      if (!end.sends->trySend(end.request))
        end.sends->send(end.request);
    }
  }
  bool recvNow();
  Status recvLater();
  void endStarted() {
    if (isProbing_)
      endProbing();
    if (isStarted_)
      progress_->end(run_);
    isStarted_ = false;
  }
  Status outcome() {
    if (counter_.mismatched)
      return mismatch();
    copyAll(repeats_);
    return {};
  }
  void endProbing();
  void probe() override;
  void defer() {
    isDeferred_ = true;
    worker_.defer(*this);
  }
  void undefer() {
    isDeferred_ = false;
    worker_.undefer(*this);
  }
  void post() override;
  Status mismatch() const;
  static void addCopies(std::vector<LocalCopy> &copies, std::span<const iovec> targets,
                        std::span<const iovec> sources);
  static void copyAll(const std::vector<LocalCopy> &copies) {
    for (const LocalCopy &copy : copies)
      std::memcpy(copy.target, copy.source, copy.bytes);
  }

  protocol::LocalWorker &worker_;
  std::shared_ptr<protocol::RunProgress> progress_;
  std::vector<End> sends_, recvs_;
  std::vector<LocalCopy> copies_;  ///< to this rank itself
  std::vector<LocalCopy> repeats_; ///< copies of received bytes
  protocol::CompletionCounter counter_;
  size_t received_ = 0; ///< the number of recvs_ that are done or posted in this run
  uint32_t run_ = 0;    ///< the run that was started
  bool isDeferred_ = false;
  bool isStarted_ = false;
  bool isProbing_ = false;
};

} // namespace colldsl
