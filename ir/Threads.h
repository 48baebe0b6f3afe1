/// Work that any number of threads can share.
#pragma once

#include <system_error>
#include <thread>
#include <vector>

namespace colldsl {

/// Calls work() on this thread and up to `threads` - 1 others at once, and returns when all calls
/// have. Where the system starts no more threads, those that run do all the work.
template <typename Work> void onThreads(unsigned threads, const Work &work) {
  std::vector<std::thread> others;
  others.reserve(threads); // or one that runs could be lost
  try {
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back([&work] { work(); });
  } catch (const std::system_error &) { // no thread is left to start
  }
  work();
  for (std::thread &other : others)
    other.join();
}

} // namespace colldsl
