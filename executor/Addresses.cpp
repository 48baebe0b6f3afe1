#include "executor/Addresses.h"

#include <algorithm>

namespace colldsl {
namespace {

struct Area {
  uint32_t buffer;
  const std::byte *begin, *end;
};

/// The areas of the parameters that have memory, by address.
std::vector<Area> areasOf(const Memory &memory) {
  std::vector<Area> areas;
  for (uint32_t b = 0; b < memory.numBuffers(); ++b)
    if (auto bytes = memory.parameter(BufferId{b}); !bytes.empty())
      areas.push_back({b, bytes.data(), bytes.data() + bytes.size()});
  std::sort(areas.begin(), areas.end(),
            [](const Area &a, const Area &b) { return a.begin < b.begin; });
  return areas;
}

bool areApart(const std::vector<Area> &areas) {
  for (size_t i = 1; i < areas.size(); ++i)
    if (areas[i].begin < areas[i - 1].end)
      return false;
  return true;
}

} // namespace

// No other memory lies in a parameter's; an address of no bytes may be anywhere.
Addresses::Addresses(const Memory &memory, Steps &steps) : places_(memory.numBuffers()) {
  std::vector<Area> areas = areasOf(memory);
  areKnown_ = areApart(areas);
  if (!areKnown_)
    return;
  steps.forEachAddress([&](std::byte *&address) {
    auto behind = std::upper_bound(areas.begin(), areas.end(), address,
                                   [](const std::byte *a, const Area &b) { return a < b.begin; });
    if (behind != areas.begin() && address < std::prev(behind)->end)
      places_[std::prev(behind)->buffer].push_back(&address);
  });
}

} // namespace colldsl
