#include "wireup/Launcher.h"

#include "ir/Concat.h"
#include "wireup/Environment.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr const char *kLimit = "COLLDSL_LAUNCH_SECONDS";
constexpr uint32_t kUsualSeconds = 60;

} // namespace

Result<Launcher::Limit> limitFromEnvironment() {
  uint32_t seconds = kUsualSeconds;
  if (Status s = readNumber<uint32_t>(kLimit, seconds, "number of seconds"); !s)
    return s;
  return seconds == 0 ? Launcher::Limit() : std::chrono::seconds(seconds);
}

Result<std::unique_ptr<Launcher>> Launcher::find() {
  Result<Limit> limit = limitFromEnvironment();
  if (!limit)
    return limit.status();
  for (auto *findOne : {findPmix, findPmi}) {
    Result<std::unique_ptr<Launcher>> found = findOne(*limit);
    if (!found)
      return found;
    if (*found)
      return found;
  }
  return std::unique_ptr<Launcher>();
}

Status Launcher::notAllCame() const {
  return Status::error(ErrorKind::TimedOut,
                       concat("some of the ", numRanks_,
                              " ranks did not come to the launcher within ", limit_->count(),
                              " s, of which ", kLimit, " may give them more"));
}

Oob Launcher::oob() {
  Oob all;
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
