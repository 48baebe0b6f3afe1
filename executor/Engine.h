/// All plans of one rank on one transport. A thread that waits for one plan moves the
/// others too, so that ranks may wait for their plans in different orders.
#pragma once

#include "protocol/Endpoint.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace colldsl {

class Plan;

/// Thread safe. Outlives its plans; the endpoint outlives it.
class Engine {
public:
  explicit Engine(Endpoint &endpoint) : endpoint_(endpoint) {
    endpoint_.whileOpening([this] { progressOthers(nullptr); });
  }
  ~Engine() { endpoint_.whileOpening({}); }
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  Endpoint &endpoint() const { return endpoint_; }

  void add(Plan &plan);
  /// On return no other thread is inside the plan on the engine's behalf.
  void remove(Plan &plan);

  /// Moves all running plans but one. True: something moved.
  bool progressOthers(const Plan *except);

  /// True if some plan waits for the end of a calc, or of a copy of device memory: these are not
  /// events that end a sleep.
  bool calculates() const { return calcs_.load(std::memory_order_relaxed) != 0; }
  void calcBegins() { calcs_.fetch_add(1, std::memory_order_relaxed); }
  void calcEnds() { calcs_.fetch_sub(1, std::memory_order_relaxed); }

private:
  Endpoint &endpoint_;
  std::atomic<uint32_t> calcs_{0}; ///< relaxed: a hint, by which nothing else is read
  std::mutex mutex_;
  std::vector<Plan *> plans_;
};

} // namespace colldsl
