/// Tasks that wait for each other by what they leave in memory, on a few threads of this process.
/// Each task is a state machine: it runs until it has to wait, and is called again later. Which of
/// the tasks that may run is next is drawn at random.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace colldsl::mscclpp {

enum class TaskState : uint8_t {
  Done,
  Ready,     ///< stopped of its own accord
  Waits,     ///< for another task, and nothing has changed since the call began
  WaitsAnew, ///< for another task, after something that others may wait for
};

/// A task's reason to wait. Reports begin with the lowest order.
struct TaskWait {
  uint64_t order = 0;
  std::string words;
  auto operator<=>(const TaskWait &) const = default;
};

class Task {
public:
  virtual ~Task() = default;
  /// One thread at a time; what the last call did is visible to the next.
  virtual TaskState run() = 0;
  /// The thing that the task waits for; without words if it has nothing to tell.
  virtual TaskWait describeWait() const = 0;
};

struct PoolOptions {
  unsigned threads = 1;
  uint64_t seed = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
};

struct PoolOutcome {
  enum class End : uint8_t { Done, Deadlock, TimedOut };
  End end = End::Done;
  std::vector<TaskWait> waits; ///< of the tasks that are not done, each once, in their order
};

/// Runs the tasks until all are done, until each of them waits, or until the time is over, which is
/// noticed between two calls.
PoolOutcome runTasks(const std::vector<std::unique_ptr<Task>> &tasks, const PoolOptions &options);

} // namespace colldsl::mscclpp
