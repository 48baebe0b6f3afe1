#include "driver/Workers.h"

#include "ir/Threads.h"

#include <algorithm>
#include <atomic>

namespace colldsl::driver {

void forEachInParallel(size_t count, const std::function<void(size_t)> &work) {
  std::atomic<size_t> taken{0};
  auto worker = [&] {
    for (size_t i; (i = taken.fetch_add(1)) < count;)
      work(count - 1 - i);
  };
  size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  onThreads(static_cast<unsigned>(threads), worker);
}

} // namespace colldsl::driver
