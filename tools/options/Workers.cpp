#include "tools/options/Workers.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace colldsl::tools {

void forEachInParallel(size_t count, const std::function<void(size_t)> &work) {
  std::atomic<size_t> taken{0};
  auto worker = [&] {
    for (size_t i; (i = taken.fetch_add(1)) < count;)
      work(count - 1 - i);
  };
  size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i)
    others.emplace_back(worker);
  worker();
  for (std::thread &other : others)
    other.join();
}

} // namespace colldsl::tools
