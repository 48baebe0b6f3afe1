#include "wireup/BoundThreads.h"

#include <algorithm>
#include <map>

namespace colldsl {

std::vector<uint32_t> listPus(const cpu_set_t &set) {
  std::vector<uint32_t> pus;
  for (uint32_t pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &set))
      pus.push_back(pu);
  if (pus.empty())
    pus.push_back(0);
  return pus;
}

std::vector<uint32_t> spreadRanks(std::span<const std::vector<uint32_t>> allowed) {
  std::map<uint32_t, uint32_t> ranksOn; // hardware thread -> how many
  std::vector<uint32_t> pus;
  for (const std::vector<uint32_t> &own : allowed) {
    uint32_t best = *std::min_element(own.begin(), own.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(ranksOn[a], a) < std::pair(ranksOn[b], b);
    });
    ++ranksOn[best];
    pus.push_back(best);
  }
  return pus;
}

std::vector<uint32_t> allowedPus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return listPus(set);
}

} // namespace colldsl
