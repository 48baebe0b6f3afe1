#include "launch/Launcher.h"

#include <algorithm>

namespace colldsl {

Result<std::unique_ptr<Launcher>> Launcher::find() {
  for (auto *findOne : {findPmix, findPmi}) {
    Result<std::unique_ptr<Launcher>> found = findOne();
    if (!found)
      return found;
    if (*found)
      return (*found)->numRanks() > 1 ? found.take() : nullptr;
  }
  return std::unique_ptr<Launcher>();
}

OutOfBand Launcher::outOfBand() {
  OutOfBand all;
  all.rank = rank_;
  all.numRanks = numRanks_;
  all.allgather = [this](const void *mine, void *everybody, size_t bytes) {
    return allgather(mine, everybody, bytes);
  };
  all.barrier = [this] { return fence(); };
  return all;
}

Status Launcher::allgather(const void *mine, void *all, size_t bytes) {
  auto *from = static_cast<const std::byte *>(mine);
  auto *to = static_cast<std::byte *>(all);
  for (size_t begin = 0; begin < bytes; begin += longestValue()) {
    size_t length = std::min(bytes - begin, longestValue());
    std::string key = "colldsl" + std::to_string(numPut_++);
    if (Status s = put(key, {from + begin, length}); !s)
      return s;
    if (Status s = fence(); !s)
      return s;
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (Status s = get(r, key, {to + r * bytes + begin, length}); !s)
        return s;
  }
  return {};
}

} // namespace colldsl
