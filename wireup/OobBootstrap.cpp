#include "wireup/OobBootstrap.h"

#include "ir/Concat.h"
#include "wireup/Allgatherv.h"

#include <cstring>

namespace colldsl {
namespace {

/// A label in front of bytes: the ranks that they are for.
struct Label {
  Rank first, last;
  uint64_t bytes;
};

std::vector<std::byte> pack(std::span<const BootstrapData> out) {
  std::vector<std::byte> packed;
  for (size_t i = 0; i < out.size();) {
    size_t end = i + 1;
    while (end < out.size() && out[end].bytes == out[i].bytes &&
           index(out[end].peer) == index(out[end - 1].peer) + 1)
      ++end;
    Label label{out[i].peer, out[end - 1].peer, out[i].bytes.size()};
    auto *begin = reinterpret_cast<const std::byte *>(&label);
    packed.insert(packed.end(), begin, begin + sizeof label);
    packed.insert(packed.end(), out[i].bytes.begin(), out[i].bytes.end());
    i = end;
  }
  return packed;
}

/// Takes the bytes for `self`. False: pack() has not made this.
bool unpack(std::span<const std::byte> packed, Rank self, std::vector<std::byte> &bytes) {
  bytes.clear();
  while (!packed.empty()) {
    Label label;
    if (packed.size() < sizeof label)
      return false;
    std::memcpy(&label, packed.data(), sizeof label);
    packed = packed.subspan(sizeof label);
    if (label.bytes > packed.size())
      return false;
    if (label.first <= self && self <= label.last)
      bytes.assign(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(label.bytes));
    packed = packed.subspan(label.bytes);
  }
  return true;
}

} // namespace

Status OobBootstrap::exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) {
  auto all = allgatherv(oob_, pack(out));
  if (!all)
    return all.status();
  for (BootstrapData &data : in) {
    uint32_t peer = index(data.peer);
    if (!unpack((*all)[peer], Rank{oob_.rank}, data.bytes))
      return Status::error(concat("the data of rank ", peer, " over the launcher is damaged"));
  }
  return {};
}

Status OobBootstrap::barrier() {
  if (oob_.barrier)
    return oob_.barrier();
  std::byte mine{};
  std::vector<std::byte> all(oob_.numRanks);
  return oob_.allgather(&mine, all.data(), 1);
}

} // namespace colldsl
