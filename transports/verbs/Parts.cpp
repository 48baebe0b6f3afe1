#include "transports/verbs/Parts.h"

#include <algorithm>

namespace colldsl::verbs {

Parts::Parts(const network::RmaSpec &spec, uint32_t mostPieces, uint64_t mostBytes) {
  network::RemoteIov whole{spec.address, spec.bytes};
  std::span<const network::RemoteIov> there = spec.remoteIovs;
  if (there.empty())
    there = {&whole, 1};
  size_t stretch = 0;
  uint64_t within = 0;
  for (uint32_t i = 0; i < spec.count; ++i) {
    const iovec &piece = spec.pieces[i];
    for (uint64_t gone = 0; gone < piece.iov_len && stretch < there.size();) {
      if (within == 0 || list[count - 1].count == mostPieces || list[count - 1].bytes == mostBytes)
        list[count++] = {numPieces, 0, 0, there[stretch].address + within};
      Part &part = list[count - 1];
      uint64_t bytes =
          std::min({piece.iov_len - gone, mostBytes - part.bytes, there[stretch].bytes - within});
      pieces[numPieces++] = {reinterpret_cast<uint64_t>(piece.iov_base) + gone,
                             static_cast<uint32_t>(bytes), localKey(spec.descriptors[i])};
      ++part.count;
      part.bytes += bytes;
      gone += bytes;
      within += bytes;
      if (within == there[stretch].bytes) {
        ++stretch;
        within = 0;
      }
    }
  }
}

} // namespace colldsl::verbs
