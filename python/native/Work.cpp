#include "python/native/Work.h"

#include "ir/Concat.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <system_error>

namespace colldsl::python {
namespace {

using namespace driver;

/// Takes locks, but gives up when `stop` is true: another thread may hold one for long.
class Locks {
public:
  /// Locks are taken in the order of their addresses, so that two threads cannot wait for each
  /// other.
  Locks(std::vector<Workplace *> all, const std::atomic<bool> &stop) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    constexpr std::chrono::milliseconds kTurn{20};
    for (Workplace *place : all) {
      std::unique_lock<std::timed_mutex> lock(place->mutex, std::defer_lock);
      while (!lock.try_lock_for(kTurn))
        if (stop)
          return;
      taken_.push_back(std::move(lock));
    }
    areTaken_ = true;
  }
  bool areTaken() const { return areTaken_; }

private:
  std::vector<std::unique_lock<std::timed_mutex>> taken_;
  bool areTaken_ = false;
};

/// The latest progress of some work, and whether Python was shown any.
class LatestProgress {
public:
  void set(const Reached &reached) {
    std::lock_guard lock(mutex_);
    if (!reached_ || reached_->what != reached.what || reached_->done < reached.done)
      reached_ = reached;
  }

  /// Calls colldsl._progress.show(), if there is news. Needs the GIL.
  void show() {
    std::optional<Reached> reached;
    {
      std::lock_guard lock(mutex_);
      reached = std::exchange(reached_, std::nullopt);
    }
    if (!reached)
      return;
    call("show", py::make_tuple(reached->what, reached->done, reached->total, reached->more));
    isShown_ = true;
  }

  /// Calls colldsl._progress.clear(), if there was a call of show(). Needs the GIL.
  void clear() {
    if (isShown_)
      call("clear", py::tuple());
  }

private:
  static void call(const char *function, const py::tuple &arguments) {
    py::module_::import("colldsl._progress").attr(function)(*arguments);
  }

  std::mutex mutex_;
  std::optional<Reached> reached_;
  bool isShown_ = false;
};

/// Waits for the work. Python notes signals in its main thread, between calls: this thread checks
/// from time to time. False: the work was stopped, and a Python error is set unless Python is over.
bool await(std::future<Ended> &future, std::atomic<bool> &stop, LatestProgress &progress) {
  constexpr std::chrono::milliseconds kInterval{50};
  bool isOver = false;
  while (!isOver) {
    {
      Released released;
      isOver = stop || future.wait_for(kInterval) == std::future_status::ready;
      if (stop || Released::isOver()) {
        stop = true;
        future.wait();
      }
    }
    if (isOver)
      break;
    if (PyErr_CheckSignals() != 0) {
      stop = true;
      continue;
    }
    try {
      progress.show();
    } catch (py::error_already_set &error) { // such as an interrupt while it prints
      error.restore();
      stop = true;
    }
  }
  return !stop;
}

} // namespace

std::string work(const std::vector<Workplace *> &places,
                 const std::function<Ended(const Watch &)> &body) {
  std::atomic<bool> stop{false};
  LatestProgress progress;
  std::string messages;
  Watch watch{&stop, [&](const Reached &reached) { progress.set(reached); }};
  auto call = [&]() -> Ended {
    Locks taken(places, stop);
    if (!taken.areTaken())
      return {};
    for (Workplace *place : places)
      place->messages.release();
    Ended ended = body(watch);
    for (Workplace *place : places)
      messages += place->messages.release();
    return ended;
  };
  std::future<Ended> future;
  try {
    future = std::async(std::launch::async, call);
  } catch (const std::system_error &error) {
    raise("OutOfMemoryError", concat("there is no thread for the work: ", error.what()));
  }
  if (!await(future, stop, progress)) {
    py::error_already_set interrupt;
    progress.clear();
    throw interrupt;
  }
  progress.clear();
  Ended ended = future.get();
  if (!ended.errorClass)
    return messages;
  messages += ended.why;
  while (!messages.empty() && messages.back() == '\n')
    messages.pop_back();
  raise(ended.errorClass, messages);
}

} // namespace colldsl::python
