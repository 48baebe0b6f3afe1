// Follows a call that differs from the one before in lengths and places of blocks alone: its
// buffers, types and operator were checked then.
#include "mpi/operations/CollectiveOperation.h"

#include "mpi/comm/ServedComm.h"

#include <algorithm>

namespace colldsl::mpi {

/// n of a plan that serves the call; 0 if blocks have lengths of their own. Empty: the datatype is
/// not known, or the plan serves no other lengths.
std::optional<uint64_t> CollectiveOperation::elementsOf(const Call &call) const {
  if (isOfOneList_)
    return std::nullopt;
  BlockLength length = factsOf(kind()).length;
  if (length == BlockLength::Listed || length == BlockLength::Counted)
    return 0;
  const BlockSide *side = call.blockSide(rank_ == call.root);
  if (!side)
    return std::nullopt;
  if (side->count == 0)
    return 0;
  const TypeLayout *layout = reduction_ ? nullptr : knownLayoutOf(side->type);
  if (!reduction_ && !layout)
    return std::nullopt;
  return static_cast<uint64_t>(side->count) * (layout ? layout->size : 1);
}

/// True if the call differs from the one before only in lengths and places: no handle needs a look,
/// since the predefined ones never change their meaning.
bool CollectiveOperation::isLikeBefore(const Call &call) const {
  auto isAlike = [](const BlockSide &side, const BlockSide &before) {
    return side.type == before.type && side.isInPlace() == before.isInPlace() && !side.types;
  };
  return call.op == made_.op && call.root == made_.root && isAlike(call.send, made_.send) &&
         isAlike(call.recv, made_.recv) && isQuick();
}

bool CollectiveOperation::follow(const Call &call) {
  if (!isAt(call) || !isLikeBefore(call) || !isDirect_ || holdsType() || !plan_.isCommitted())
    return false;
  bool isFollowed = false;
  switch (factsOf(kind()).length) {
  case BlockLength::Listed:
    isFollowed = followLists(call);
    break;
  case BlockLength::Counted:
    isFollowed = followCounts(call);
    break;
  default:
    isFollowed = followLength(call);
  }
  if (!isFollowed)
    return false;
  made_ = call;
  made_.send.isSent = true;
  return true;
}

// Both sides have as many elements of one type. Longer buffers may overlap, so that is checked.
bool CollectiveOperation::followLength(const Call &call) {
  uint64_t elements = elements_ > 0 ? elementsOf(call).value_or(0) : 0;
  bool isEven = direct_.size() < 2 || reduction_ ||
                (call.send.type == call.recv.type && call.send.count == call.recv.count);
  if (elements == 0 || !isEven || !plan_.holdsFor(elements))
    return false;
  Area in, out;
  for (const Direct &direct : direct_) {
    const BlockSide &side = direct.sideOf(call);
    if (side.count < 0 || direct.elementBytes == 0)
      return false;
    (direct.isRead ? in : out) = {static_cast<std::byte *>(side.buffer),
                                  direct.elementBytes * elements};
  }
  if (in.touches(out, 0, 0))
    return false;
  forgetShape();
  sentBytes_ = sentBytes_ / elements_ * elements;
  // Cannot fail: the plan knows the buffers, and no run is under way.
  (void)setElements(elements);
  for (const Direct &direct : direct_)
    (void)plan_.bind(direct.buffer, {direct.sideOf(call).buffer, direct.elementBytes * elements});
  in_ = in;
  out_ = out;
  return true;
}

/// Lists the blocks of a side in the table, and returns the memory in which they lie. Empty: a
/// check of the arguments is needed.
std::optional<CollectiveOperation::Area>
CollectiveOperation::placeBlocks(const BlockSide &side, int slots, BlockTable &table) {
  const TypeLayout *layout = knownLayoutOf(side.type);
  if (!layout || !layout->isNamed || !layout->isDense() || !side.buffer ||
      side.isListed != (side.counts != nullptr) || side.isPlaced != (side.displs != nullptr))
    return std::nullopt;
  std::byte *first = nullptr, *end = nullptr;
  table.offset.resize(static_cast<size_t>(slots));
  table.length.resize(static_cast<size_t>(slots));
  for (int slot = 0; slot < slots; ++slot) {
    MPI_Count count = side.countOf(slot);
    if (count < 0)
      return std::nullopt;
    uint64_t bytes = static_cast<uint64_t>(count) * layout->size;
    std::byte *address = side.addressOf(slot, *layout);
    auto at = static_cast<size_t>(slot);
    table.length[at] = bytes;
    table.offset[at] = reinterpret_cast<uintptr_t>(address);
    if (bytes > 0) {
      first = end ? std::min(first, address) : address;
      end = std::max(end, address + bytes);
    }
  }
  for (size_t at = 0; at < table.offset.size(); ++at)
    table.offset[at] =
        table.length[at] > 0 ? table.offset[at] - reinterpret_cast<uintptr_t>(first) : 0;
  return Area{first, static_cast<uint64_t>(end - first)};
}

bool CollectiveOperation::followLists(const Call &call) {
  Area in, out;
  for (size_t i = 0; i < direct_.size(); ++i) {
    const Direct &direct = direct_[i];
    std::optional<Area> area = placeBlocks(direct.sideOf(call), direct.slots, placed_[i]);
    if (!area)
      return false;
    (direct.isRead ? in : out) = *area;
  }
  if (in.touches(out, 0, 0))
    return false;
  forgetShape();
  for (size_t i = 0; i < direct_.size(); ++i)
    place(direct_[i], direct_[i].isRead ? in : out, placed_[i]);
  sentBytes_ = in.bytes;
  in_ = in;
  out_ = out;
  return true;
}

// Cannot fail: the plan knows the buffer, and no run is under way.
void CollectiveOperation::place(Direct &direct, const Area &area, BlockTable &blocks) {
  direct.isEmpty = area.bytes == 0;
  (void)plan_.place(direct.buffer, {const_cast<std::byte *>(area.begin), area.bytes}, blocks);
}

// The parts that arrive need the scratch memory of the call before.
bool CollectiveOperation::followCounts(const Call &call) {
  const TypeLayout *layout = knownLayoutOf(call.reducedType());
  if (isOfOneList_ || direct_.size() != 2 || !layout || !call.recv.counts)
    return false;
  std::vector<uint64_t> &counts = placed_[0].length;
  counts.resize(static_cast<size_t>(ranks_));
  uint64_t all = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    MPI_Count count = call.recv.countOf(rank);
    if (count < 0)
      return false;
    counts[static_cast<size_t>(rank)] = static_cast<uint64_t>(count);
    all += static_cast<uint64_t>(count);
  }
  uint64_t own = counts[static_cast<size_t>(rank_)];
  Area in{static_cast<std::byte *>(call.send.buffer), all * layout->size};
  Area out{static_cast<std::byte *>(call.recv.buffer), own * layout->size};
  uint64_t others = out.bytes * static_cast<uint64_t>(ranks_ - 1);
  std::byte *parts = firstScratch(others);
  if (own == 0 || !parts || in.touches(out, 0, 0))
    return false;
  forgetShape();
  placed_[0].offset.clear();
  place(direct_[0], in, placed_[0]);
  placed_[1].offset.clear();
  placed_[1].length.assign(1, own);
  place(direct_[1], out, placed_[1]);
  blocks_.offset.clear();
  blocks_.length.assign(static_cast<size_t>(ranks_), own);
  blocks_.length[static_cast<size_t>(rank_)] = 0;
  (void)plan_.place("parts", {parts, others}, blocks_);
  sentBytes_ = in.bytes;
  in_ = in;
  out_ = out;
  return true;
}

} // namespace colldsl::mpi
