#include "python/native/Work.h"

#include "ir/Concat.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>

namespace colldsl::python {
namespace {

using namespace tools;

/// The result of a body, and its output.
struct Ended {
  Outcome exit;
  std::string printed;
};

/// Takes locks, but gives up when `stop` is true: another thread may hold one for long.
class Locks {
public:
  /// Locks are taken in the order of their addresses, so that two threads cannot wait for each
  /// other.
  Locks(std::vector<std::timed_mutex *> all, const std::atomic<bool> &stop) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    constexpr std::chrono::milliseconds kTurn{20};
    for (std::timed_mutex *mutex : all) {
      std::unique_lock<std::timed_mutex> lock(*mutex, std::defer_lock);
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

} // namespace

Outcome parse(Options &options, const Words &words) {
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  return options.parse({arguments});
}

Outcome report(const Status &status) {
  if (status)
    return std::nullopt;
  printError(status.message());
  return Exit::Failure;
}

// Python notes signals in its main thread, between calls: this thread checks from time to time.
std::string work(std::vector<std::timed_mutex *> locks,
                 const std::function<Outcome(const std::atomic<bool> &)> &body) {
  std::atomic<bool> stop{false};
  auto call = [&]() -> Ended {
    Locks taken(std::move(locks), stop);
    if (!taken.areTaken())
      return {};
    CapturedErrors errors;
    Outcome exit = body(stop);
    return {exit, errors.text()};
  };
  std::future<Ended> future;
  try {
    future = std::async(std::launch::async, call);
  } catch (const std::system_error &error) {
    raise("OutOfMemoryError", concat("there is no thread for the work: ", error.what()));
  }
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
    if (!isOver && PyErr_CheckSignals() != 0)
      stop = true;
  }
  if (stop)
    throw py::error_already_set();
  Ended ended = future.get();
  if (!ended.exit)
    return std::move(ended.printed);
  while (!ended.printed.empty() && ended.printed.back() == '\n')
    ended.printed.pop_back();
  raise(*ended.exit == Exit::Usage ? "ArgumentError" : "ProgramError", ended.printed);
}

} // namespace colldsl::python
