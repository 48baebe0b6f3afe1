// Each thread takes the next few ranks, instantiates and encodes them, and writes the batches that
// are next in order. A thread that finishes early leaves its batch to the thread that is behind,
// and waits only if it is far ahead.
#include "instantiate/StreamImage.h"

#include "instantiate/AllRanks.h"
#include "ir/Index32.h"
#include "ir/Threads.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

namespace colldsl {
namespace {

/// Consecutive ranks, made by one thread.
struct Batch {
  uint32_t first = 0, count = 0;
  EncodedRanks ranks;
  std::vector<std::vector<CallRecord>> calls; ///< per rank
  Status status;                              ///< of the first rank that failed

  void reset(uint32_t begin, uint32_t size) {
    first = begin;
    count = size;
    ranks.clear();
    calls.clear();
    status = Status();
  }
};

class ImageStream {
public:
  ImageStream(const Program &program, const InstantiateRequest &request, const ImageSink &sink,
              unsigned threads)
      : program_(program), request_(request), threads_(threads),
        shared_(sharedOf(program, request)), names_(program), writer_(sink) {
    shared_.sizeClass = {request.elements, 0, UINT64_MAX};
  }

  Status run();

private:
  /// The memory of one batch, if its ranks are like those before: as much as stays in a cache.
  static constexpr size_t kBatchBytes = 1 << 18;
  static constexpr size_t kMaxRanks = 64;

  void work();
  std::unique_ptr<Batch> take(size_t bytesPerRank);
  void make(Batch &batch, Dag &dag, Interpreter &interpreter, TreeChecker &trees);
  void put(std::unique_ptr<Batch> batch);
  Status write(Batch &batch);

  const Program &program_;
  const InstantiateRequest &request_;
  unsigned threads_;

  // State of the thread that writes
  Schedule shared_;
  BufferNames names_;
  CallChecker calls_;
  ImageWriter writer_;
  RankCounts counts_;

  std::mutex mutex_; ///< guards what follows
  std::condition_variable written_;
  uint32_t nextToMake_ = 0, nextToWrite_ = 0;
  bool isWriting_ = false;
  std::map<uint32_t, std::unique_ptr<Batch>> ready_; ///< by first rank
  std::vector<std::unique_ptr<Batch>> free_;
  Status error_; ///< the first one ends it all
};

/// The next ranks to make, or null if there are none.
std::unique_ptr<Batch> ImageStream::take(size_t bytesPerRank) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return ready_.size() < 2 * threads_ || !error_; });
  if (!error_ || nextToMake_ == request_.ranks)
    return nullptr;
  std::unique_ptr<Batch> batch;
  if (free_.empty()) {
    batch = std::make_unique<Batch>();
  } else {
    batch = std::move(free_.back());
    free_.pop_back();
  }
  size_t fits = std::clamp<size_t>(kBatchBytes / bytesPerRank, 1, kMaxRanks);
  auto count = static_cast<uint32_t>(std::min<size_t>(fits, request_.ranks - nextToMake_));
  batch->reset(nextToMake_, count);
  nextToMake_ += count;
  return batch;
}

/// `dag`: room for one rank at a time.
void ImageStream::make(Batch &batch, Dag &dag, Interpreter &interpreter, TreeChecker &trees) {
  for (uint32_t r = batch.first; r < batch.first + batch.count; ++r) {
    batch.status = interpreter.run(Rank{r}, dag);
    for (const TreeRecord &record : interpreter.trees)
      if (batch.status)
        batch.status = trees.check(record);
    if (!batch.status)
      return;
    batch.ranks.add(dag, index32(program_.files.size()));
    batch.calls.push_back(interpreter.calls);
  }
}

Status ImageStream::write(Batch &batch) {
  if (!batch.status)
    return batch.status;
  for (uint32_t i = 0; i < batch.count; ++i) {
    names_.setIn(batch.ranks.buffers(i));
    calls_.add(batch.first + i, batch.calls[i]);
  }
  counts_.ranks += batch.count;
  counts_.ops += batch.ranks.numOps();
  counts_.deps += batch.ranks.numDeps();
  if (Status s = checkTotals(program_, request_, counts_); !s)
    return s;
  return writer_.add(batch.ranks);
}

/// Adds a batch, and writes all batches that are next, unless another thread is writing.
void ImageStream::put(std::unique_ptr<Batch> batch) {
  std::unique_lock lock(mutex_);
  uint32_t first = batch->first;
  ready_[first] = std::move(batch);
  while (!isWriting_ && error_ && !ready_.empty() && ready_.begin()->first == nextToWrite_) {
    std::unique_ptr<Batch> next = std::move(ready_.begin()->second);
    ready_.erase(ready_.begin());
    isWriting_ = true;
    lock.unlock();
    Status status = write(*next);
    lock.lock();
    isWriting_ = false;
    if (!status)
      error_ = status;
    nextToWrite_ += next->count;
    free_.push_back(std::move(next));
    written_.notify_all();
  }
}

void ImageStream::work() {
  Interpreter interpreter(program_, request_);
  interpreter.recordsCalls = interpreter.recordsTrees = true;
  TreeChecker trees(interpreter, program_);
  Dag dag;
  size_t bytesPerRank = kBatchBytes;
  while (std::unique_ptr<Batch> batch = take(bytesPerRank)) {
    make(*batch, dag, interpreter, trees);
    bytesPerRank = std::max<size_t>(1, batch->ranks.sizeBytes() / batch->count);
    put(std::move(batch));
  }
  std::lock_guard lock(mutex_);
  SizeClass made = interpreter.range().sizeClass();
  shared_.sizeClass.min = std::max(shared_.sizeClass.min, made.min);
  shared_.sizeClass.max = std::min(shared_.sizeClass.max, made.max);
}

Status ImageStream::run() {
  onThreads(threads_, [this] { work(); });
  if (!error_)
    return error_;
  if (Status s = calls_.check(); !s)
    return s;
  shared_.names = names_.take();
  return writer_.finish(shared_);
}

} // namespace

Status streamImage(const Program &program, const InstantiateRequest &request, const ImageSink &sink,
                   unsigned threads) {
  if (Status s = checkNumRanks(request); !s)
    return s;
  return ImageStream(program, request, sink, std::max(1u, threads)).run();
}

} // namespace colldsl
