/// Orders the runs of a plan and the work of a caller's streams, in both directions:
///
///   stream   produce --o                         .-- wait (word >= 2) -- consume
///                      | event                  |
///   plan               reached() ... run ... complete(): word = 2
///
/// A run follows what a stream holds: an event marks that point, and the host polls it. A stream
/// follows a run: it waits for a word of page-locked memory, which the host writes when the run is
/// over. Neither blocks the host, and the device goes on with other streams.
///
/// The word counts the runs that are over: 2k after the k-th one, and 2k + 1 if that failed. A wait
/// is for 2k at least, by a comparison in a circle, so a run that failed lets streams go on, too,
/// and work of the device behind the wait can tell. Nothing else ends the wait: the caller's thread
/// has to bring the run to its end.
///
/// Calls come from any thread, from one at a time.
#pragma once

#include "device/IpcMemory.h"
#include "device/LockedWords.h"

#include <memory>
#include <optional>
#include <vector>

namespace colldsl::device {

class StreamOrder {
public:
  /// The driver and the context outlive it.
  static Result<std::unique_ptr<StreamOrder>> open(const CudaDriver &driver, CuContext context);
  /// Ends the wait for a run that is not over, as complete() does for one that failed. If the
  /// device does not notice within a second, the word stays for good.
  ~StreamOrder();
  StreamOrder(const StreamOrder &) = delete;
  StreamOrder &operator=(const StreamOrder &) = delete;

  CuContext context() const { return context_; }

  /// Marks the point behind the work that the stream holds now, in place of the last one. The
  /// stream is of the context.
  Status mark(CuStream stream);
  /// True: the work before the mark has finished. An error: some of it failed.
  Result<bool> reached();

  /// Work that is added to the stream from now on waits for the end of the next run that
  /// complete() is called for. The stream is of the context. An error if the device does not wait
  /// for words.
  Status follow(CuStream stream);
  /// Called when a run is over, and its bytes are where they belong.
  void complete(bool failed);

  /// The word's address on the device, once a stream has followed.
  DeviceAddress word() const { return word_->addressOf(0); }

  /// Notes the point that a stream has come to in its capture, in place of the last one.
  Status markCapture(CuStream stream);
  /// Work that is added from now on to a stream of the same capture is behind that point.
  Status followCapture(CuStream stream);

private:
  StreamOrder(const CudaDriver &driver, CuContext context)
      : driver_(driver), context_(context), opened_(IpcCache::of(driver, context)) {}
  Status openWord();
  Status makeEvent(CuEvent &event);
  bool areWaitsOver();

  const CudaDriver &driver_;
  CuContext context_;
  std::unique_ptr<LockedWords> word_; ///< null: no stream has followed a run
  uint32_t runs_ = 0;                 ///< that are over
  CuEvent marked_ = nullptr, captured_ = nullptr;
  std::vector<CuEvent> waits_; ///< behind each wait, then used again
  bool isLost_ = false;        ///< some wait has no event
  std::shared_ptr<IpcCache> opened_;
  std::optional<IpcCache::Run> run_; ///< that streams wait for
};

/// The context that the stream belongs to; for the default stream that of the calling thread.
Result<CuContext> contextOfStream(const CudaDriver &driver, CuStream stream);

/// The number of the capture that the stream takes part in, which no other capture of the process
/// has; none: it does not capture, or the driver has no graphs. An error: its capture is invalid,
/// or the default stream is of no use while another stream captures.
Result<std::optional<uint64_t>> captureOf(const CudaDriver &driver, CuStream stream);

} // namespace colldsl::device
