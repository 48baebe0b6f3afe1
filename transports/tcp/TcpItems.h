/// The bytes on a connection: the rank that connects says Hello, then each end sends items. An item
/// is its head, and the bytes of a frame or of a write. Little endian.
#pragma once

#include "ir/Ids.h"

#include <cstdint>

namespace colldsl::tcp {

struct Hello {
  uint64_t token = 0; ///< the receiver's
  Rank from = kNoRank;
  uint32_t unused = 0;
};

enum class ItemKind : uint8_t { Frame, Write, SilentWrite };

struct ItemHead {
  uint32_t frameBytes = 0; ///< of a frame
  ItemKind kind = ItemKind::Frame;
  uint8_t unused[3] = {};
};

struct WriteHead : ItemHead {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t key = 0;
  uint32_t immediate = 0;
  uint32_t unused = 0;
};
static_assert(sizeof(ItemHead) == 8 && sizeof(WriteHead) == 40);

} // namespace colldsl::tcp
