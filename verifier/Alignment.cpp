#include "verifier/Alignment.h"

#include <algorithm>
#include <tuple>

namespace colldsl::proof {
namespace {

using Parts = std::span<const Length>;

/// Bytes up to the next block of a length that the call chooses; moves there.
uint64_t takeFixed(Parts &parts) {
  uint64_t bytes = 0;
  for (; !parts.empty() && parts.front().id == kFixedLength; parts = parts.subspan(1))
    bytes += parts.front().units;
  return bytes;
}

bool areSame(Parts a, Parts b) {
  while (true) {
    if (takeFixed(a) != takeFixed(b) || a.empty() != b.empty())
      return false;
    if (a.empty())
      return true;
    if (a.front().id != b.front().id || a.front().units != b.front().units)
      return false;
    a = a.subspan(1);
    b = b.subspan(1);
  }
}

/// As a sum: of fixed bytes, and of each length as often as it is there.
std::vector<std::tuple<LengthId, uint64_t>> sumOf(Parts parts) {
  std::vector<std::tuple<LengthId, uint64_t>> sum;
  uint64_t fixed = 0;
  for (const Length &part : parts) {
    if (part.id == kFixedLength)
      fixed += part.units;
    else
      sum.emplace_back(part.id, part.units);
  }
  sum.emplace_back(kFixedLength, fixed);
  std::sort(sum.begin(), sum.end());
  return sum;
}

} // namespace

Alignment alignmentOf(Parts first, Parts second) {
  if (areSame(first, second))
    return Alignment::Same;
  return sumOf(first) == sumOf(second) ? Alignment::Shifted : Alignment::Unequal;
}

} // namespace colldsl::proof
