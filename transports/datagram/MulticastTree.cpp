#include "transports/datagram/MulticastTree.h"

#include <algorithm>
#include <utility>

namespace colldsl::datagram {
namespace {

uint32_t parentOf(uint32_t place) { return (place - 1) / kMulticastFanout; }

} // namespace

uint32_t MulticastTree::above(uint32_t place) const {
  do
    place = parentOf(place);
  while (place != 0 && isGone_(place));
  return place;
}

void MulticastTree::below(uint32_t place, std::vector<uint32_t> &found) const {
  uint32_t first = kMulticastFanout * place + 1;
  for (uint32_t child = first; child < first + kMulticastFanout && child < places(); ++child)
    if (isGone_(child))
      below(child, found);
    else
      found.push_back(child);
}

bool MulticastTree::isBelow(uint32_t place, uint32_t above) const {
  while (place > above)
    place = parentOf(place);
  return place == above;
}

bool MulticastTree::note(uint32_t place, uint64_t number) {
  return number > std::exchange(acked_[place], std::max(acked_[place], number));
}

uint64_t MulticastTree::ackedBelow(uint32_t place) const {
  uint64_t least = UINT64_MAX;
  uint32_t first = kMulticastFanout * place + 1;
  for (uint32_t child = first; child < first + kMulticastFanout && child < places(); ++child)
    least = std::min(least, isGone_(child) ? ackedBelow(child) : acked_[child]);
  return least;
}

} // namespace colldsl::datagram
