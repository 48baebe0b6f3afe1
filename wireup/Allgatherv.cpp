#include "wireup/Allgatherv.h"

#include <algorithm>

namespace colldsl {

Result<std::vector<std::vector<std::byte>>> allgatherv(const Oob &oob,
                                                       std::span<const std::byte> mine) {
  uint64_t length = mine.size();
  std::vector<uint64_t> lengths(oob.numRanks);
  if (Status s = oob.allgather(&length, lengths.data(), sizeof length); !s)
    return s;
  size_t most = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::byte> padded(mine.begin(), mine.end()), all(most * oob.numRanks);
  padded.resize(most);
  if (most > 0)
    if (Status s = oob.allgather(padded.data(), all.data(), most); !s)
      return s;
  std::vector<std::vector<std::byte>> each;
  for (uint32_t r = 0; r < oob.numRanks; ++r)
    each.emplace_back(all.data() + r * most, all.data() + r * most + lengths[r]);
  return each;
}

} // namespace colldsl
