#include "mscclpp/host/TaskPool.h"

#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace colldsl::mscclpp {
namespace {

// A task that waits is called again once another one has changed something after that call began:
// `changes_` counts the calls after which others may go on. If no task may run, none is running,
// and none has missed a change, all of them wait for ever.
class Pool {
public:
  Pool(const std::vector<std::unique_ptr<Task>> &tasks, const PoolOptions &options)
      : random_(options.seed), deadline_(std::chrono::steady_clock::now() + options.timeout) {
    for (const std::unique_ptr<Task> &task : tasks)
      ready_.push_back(task.get());
  }

  PoolOutcome run(unsigned threads) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back([this] { work(); });
    work();
    for (std::thread &other : others)
      other.join();
    std::set<TaskWait> waits;
    for (const Task *task : ready_)
      waits.insert(task->describeWait());
    for (const Waiting &waiting : waiting_)
      waits.insert(waiting.task->describeWait());
    for (const TaskWait &wait : waits)
      if (!wait.words.empty())
        outcome_.waits.push_back(wait);
    return std::move(outcome_);
  }

private:
  struct Waiting {
    Task *task;
    uint64_t since; ///< changes_ when its last call began
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (!isOver_) {
      if (ready_.empty() && !wake()) {
        if (running_ == 0)
          end(waiting_.empty() ? PoolOutcome::End::Done : PoolOutcome::End::Deadlock);
        else
          changed_.wait(lock);
        continue;
      }
      if (std::chrono::steady_clock::now() > deadline_) {
        end(PoolOutcome::End::TimedOut);
        break;
      }
      Task *task = draw();
      uint64_t since = changes_;
      ++running_;
      lock.unlock();
      TaskState state = task->run();
      lock.lock();
      --running_;
      keep(task, state, since);
    }
  }

  Task *draw() {
    std::swap(ready_[random_() % ready_.size()], ready_.back());
    Task *task = ready_.back();
    ready_.pop_back();
    return task;
  }

  void keep(Task *task, TaskState state, uint64_t since) {
    if (state == TaskState::Ready)
      ready_.push_back(task);
    else if (state != TaskState::Done)
      waiting_.push_back({task, since});
    if (state != TaskState::Waits)
      ++changes_;
    changed_.notify_all();
  }

  /// True if some task may run now.
  bool wake() {
    std::erase_if(waiting_, [&](const Waiting &waiting) {
      if (waiting.since == changes_)
        return false;
      ready_.push_back(waiting.task);
      return true;
    });
    return !ready_.empty();
  }

  void end(PoolOutcome::End end) {
    isOver_ = true;
    outcome_.end = end;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Task *> ready_;
  std::vector<Waiting> waiting_;
  uint64_t changes_ = 0;
  unsigned running_ = 0;
  bool isOver_ = false;
  PoolOutcome outcome_;
  std::mt19937_64 random_;
  std::chrono::steady_clock::time_point deadline_;
};

} // namespace

PoolOutcome runTasks(const std::vector<std::unique_ptr<Task>> &tasks, const PoolOptions &options) {
  return Pool(tasks, options).run(options.threads);
}

} // namespace colldsl::mscclpp
