#include "topology/Nics.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace colldsl {
namespace {

constexpr uint32_t kFar = UINT32_MAX;

const std::vector<Nic> &nicsHere() {
  static const std::vector<Nic> nics = [] {
    Result<std::vector<Nic>> found = discoverNics("");
    return found ? found.take() : std::vector<Nic>();
  }();
  return nics;
}

/// Finds the place of an interface that a library names.
Nic find(const NicName &wanted) {
  const std::vector<Nic> &known = nicsHere();
  auto found = std::find_if(known.begin(), known.end(), [&](const Nic &nic) {
    return nic.name == wanted.name || (!wanted.bus.empty() && nic.bus == wanted.bus);
  });
  return found == known.end() ? Nic{wanted, 0, {}} : *found;
}

} // namespace

std::string pciName(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, device, function);
  return text;
}

uint32_t distance(const Nic &nic, const Threads &threads) {
  auto holds = [&](const Threads &part) {
    return std::includes(part.begin(), part.end(), threads.begin(), threads.end());
  };
  auto part = std::find_if(nic.around.begin(), nic.around.end(), holds);
  return part == nic.around.end() ? kFar : static_cast<uint32_t>(part->size());
}

// Each rank in turn takes, of the nearest interfaces, the first one that the fewest ranks have
// taken.
// Example: a and b beside socket 0, c beside socket 1; ranks on sockets 0, 1, 0, 0 -> a, c, b, a.
std::vector<uint32_t> shareNics(std::span<const Nic> nics, std::span<const Threads> boundThreads) {
  std::vector<uint32_t> ranksOn(nics.size()), taken;
  for (const Threads &threads : boundThreads) {
    auto cost = [&](uint32_t nic) { return std::pair(distance(nics[nic], threads), ranksOn[nic]); };
    uint32_t best = 0;
    for (uint32_t nic = 1; nic < nics.size(); ++nic)
      if (cost(nic) < cost(best))
        best = nic;
    ++ranksOn[best];
    taken.push_back(best);
  }
  return taken;
}

uint32_t nearestNic(std::span<const NicName> names, std::span<const Threads> boundThreads) {
  if (names.size() < 2 || boundThreads.empty())
    return 0;
  std::vector<Nic> nics;
  std::transform(names.begin(), names.end(), std::back_inserter(nics), find);
  return shareNics(nics, boundThreads).back();
}

} // namespace colldsl
