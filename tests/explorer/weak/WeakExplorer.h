/// Walks all executions of threads over a weak Memory: each order of their accesses to shared
/// words, and each value that a load may return. The threads run the code of the project itself,
/// compiled as for ThreadSanitizer: what it calls at each access leads here (WeakHooks.cpp). As
/// their objects cannot be copied, each execution is taken from the beginning, as far as a state
/// that was seen before.
#pragma once

#include "tests/explorer/Explorer.h"
#include "tests/explorer/Fiber.h"
#include "tests/explorer/weak/WeakMemory.h"

#include <functional>
#include <memory>
#include <set>

namespace colldsl::test::weak {

/// Threads with what they share. Each is made anew for each execution.
class Scenario {
public:
  virtual ~Scenario() = default;
  virtual uint32_t threads() const { return 2; }
  /// The work of a thread.
  virtual void run(uint32_t thread) = 0;
};
using MakeScenario = std::function<std::unique_ptr<Scenario>()>;

/// An order that is weaker than the one in the source: what stands in these lines of a file.
struct Weakening {
  std::string file; ///< from the top of the tree; empty: none
  std::set<uint32_t> lines;
  Order from = Order::SeqCst, to = Order::Relaxed;
  bool isDropped = false; ///< a fence: it is not there
};

class WeakExplorer {
public:
  WeakExplorer(MakeScenario make, Weakening weakening = {});
  ~WeakExplorer();

  Exploration run(uint64_t mostStates = UINT64_MAX);
  /// The lines of the tree whose orders were met, as "file:line".
  std::set<std::string> met() const;

  // For the threads.

  static WeakExplorer *current() { return current_; }
  /// The thread that runs; only within a thread of a scenario.
  static uint32_t thread() { return current_->running_; }
  void setBusy(bool isBusy) { isBusy_ = isBusy; }
  static bool isInside() { return current_ && Fiber::current() && !current_->isBusy_; }

  Memory &memory() { return memory_; }
  /// Others may take steps before the next one of this thread.
  void step(const char *what, uintptr_t at, const void *caller);
  /// For the report: the value that the step has read or written.
  void note(uint64_t value);
  /// The order that the caller asks for, or a weaker one that stands for it in this run.
  Order orderOf(Order given, const void *caller);
  bool isDropped(const void *caller);
  /// The thread has looked in vain: it looks again once there is something new.
  void awaitNews();
  void sleepOn(uintptr_t word);
  void wakeAll(uintptr_t word);

private:
  struct Site;
  enum class Doing : uint8_t { Runs, Awaits, Sleeps, Over };
  struct Thread {
    std::unique_ptr<Fiber> fiber;
    Doing doing = Doing::Runs;
    uintptr_t word = 0;
  };
  struct Choice {
    uint32_t count, taken;
  };

  void replay();
  bool advance();
  uint32_t choose(uint32_t count);
  void begin();
  void end();
  std::vector<uint32_t> runnable();
  uint64_t digest();
  void blame(const std::string &wrong);
  const Site &siteOf(const void *caller);
  void leave();

  MakeScenario make_;
  Weakening weakening_;
  Memory memory_;
  std::unique_ptr<Scenario> scenario_;
  std::vector<Thread> threads_;
  uint32_t running_ = 0;
  bool isBusy_ = false, isTraced_ = false;
  std::vector<std::string> trace_;
  std::vector<Choice> path_;
  size_t next_ = 0; ///< choice of the path
  std::unordered_set<uint64_t> seen_;
  std::unordered_set<const Site *> met_;
  Exploration found_;
  static inline WeakExplorer *current_ = nullptr;
};

// What scenarios call.

/// Makes bytes ones that the threads share.
void share(const void *begin, size_t bytes);
/// Reports an error of the scenario.
void expect(bool isTrue, const char *what);
/// Calls poll() until it is true. It stores nothing shared, and changes nothing, while it is false.
template <typename Poll> void await(Poll poll) {
  while (true) {
    WeakExplorer::current()->memory().beginRound(WeakExplorer::thread());
    if (poll())
      return;
    WeakExplorer::current()->awaitNews();
  }
}

} // namespace colldsl::test::weak
