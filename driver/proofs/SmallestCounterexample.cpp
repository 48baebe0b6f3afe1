#include "driver/proofs/SmallestCounterexample.h"

#include "driver/proofs/ProveTarget.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace colldsl::driver {
namespace {

/// Sets a flag after some time, from a thread of its own.
class Alarm {
public:
  explicit Alarm(std::chrono::milliseconds time)
      : thread_([this, end = std::chrono::steady_clock::now() + time](std::stop_token token) {
          std::unique_lock lock(mutex_);
          ended_.wait_until(lock, token, end, [] { return false; });
          isOver_ = !token.stop_requested();
        }) {}

  const std::atomic<bool> &isOver() const { return isOver_; }

private:
  std::atomic<bool> isOver_{false};
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_; ///< the last member: it uses the others until it has joined
};

} // namespace

Result<SmallestCounterexample>
findSmallestCounterexample(Source &source, const Source::Target &target, ProofRequest request,
                           const SearchLimits &limits,
                           const std::function<void(const Reached &)> &progress) {
  SmallestCounterexample found;
  Alarm alarm(limits.time);
  Watch watch{&alarm.isOver(), progress};
  for (uint32_t ranks = 1; ranks <= limits.ranks; ++ranks) {
    request.ranks = {ranks};
    Proofs proofs(source, request, watch);
    Result<Summary> summary = proveTarget(proofs, source, target, watch);
    if (!summary && watch.isStopped()) {
      found.isOutOfTime = true;
      return found;
    }
    if (!summary)
      return summary.status();
    if (summary->failed() > 0) {
      found.refused = summary.take();
      return found;
    }
    if (summary->proofs() > 0)
      found.provedRanks.push_back(ranks);
  }
  return found;
}

} // namespace colldsl::driver
