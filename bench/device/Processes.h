/// The main function of a benchmark of processes that share a device.
#pragma once

#include "ir/Result.h"
#include "tests/api/Launcher.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace colldsl::bench {

/// A rank's error begins so where there is no driver or device.
inline constexpr const char *kNoDevice = "no device: ";

inline void require(const Status &s) {
  if (!s)
    throw std::runtime_error(s.message());
}

/// Runs `body` in each process, by the arguments [RANKS [BYTES...]]; `sizes`: the bytes if none are
/// given. Returns the exit code: 0, 1 if a rank failed, 2 for wrong arguments, 77 without a device.
inline int runProcesses(
    const char *program, int count, char **arguments, std::vector<size_t> sizes,
    const std::function<std::string(coll::Communicator &, const std::vector<size_t> &)> &body) {
  uint32_t ranks = count > 1 ? static_cast<uint32_t>(std::strtoul(arguments[1], nullptr, 10)) : 2;
  if (count > 2)
    sizes.clear();
  for (int i = 2; i < count; ++i)
    sizes.push_back(std::strtoul(arguments[i], nullptr, 10));
  if (ranks == 0 || ranks > 8 || std::count(sizes.begin(), sizes.end(), size_t{0})) {
    std::fprintf(stderr, "usage: %s [RANKS [BYTES...]]: 1 to 8 ranks\n", program);
    return 2;
  }
  std::string wrong =
      test::runRanks(ranks, [&](coll::Communicator &comm) { return body(comm, sizes); });
  if (wrong.find(kNoDevice) != wrong.npos) {
    std::printf("skipped: %s\n", wrong.c_str());
    return 77;
  }
  if (!wrong.empty())
    std::fprintf(stderr, "%s: %s\n", program, wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

} // namespace colldsl::bench
