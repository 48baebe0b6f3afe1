#include "mpi/operations/Operation.h"

#include "mpi/types/Reductions.h"
#include "runtime/MemoryReserve.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace colldsl::mpi {
namespace {

uint64_t idOf(MPI_Datatype type) {
  const TypeLayout *layout = knownLayoutOf(type);
  return layout ? layout->id : 0;
}

// The most words that identify a call, without its slots; of each slot.
constexpr size_t kWords = 4 + 2 * 3, kWordsOfSlot = 3;

/// Calls visit(word) for each word that identifies a call, without its buffers, until one returns
/// false.
template <typename Visit> bool describeSide(const BlockSide &side, int slots, Visit &visit) {
  if (!visit(side.isInPlace()))
    return false;
  if (!side.types && !visit(idOf(side.type)))
    return false;
  if (!side.counts)
    return visit(static_cast<uint64_t>(side.count));
  for (int slot = 0; slot < slots; ++slot)
    if (!visit(static_cast<uint64_t>(side.countOf(slot))) ||
        (side.displs && !visit(static_cast<uint64_t>(side.displOf(slot)))) ||
        (side.types && !visit(idOf(side.types[slot]))))
      return false;
  return true;
}

uint64_t wordOf(MPI_Op op) {
  uint64_t word = 0;
  std::memcpy(&word, &op, sizeof op);
  return word;
}

template <typename Visit>
bool describe(const Call &call, int sendSlots, int recvSlots, Visit visit) {
  return visit(static_cast<uint64_t>(call.kind)) && visit(static_cast<uint64_t>(call.root)) &&
         visit(wordOf(call.op)) && (call.op == MPI_OP_NULL || visit(Reduction::numFreed())) &&
         describeSide(call.send, sendSlots, visit) && describeSide(call.recv, recvSlots, visit);
}

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

// The distance of any two addresses, in one array or not, such as those that lists count from.
ptrdiff_t distance(const void *from, const void *to) {
  return static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(to) -
                                reinterpret_cast<uintptr_t>(from));
}

constexpr size_t kScratchMargin = 64;
// Memory of so many bytes is kept, whatever is needed.
constexpr size_t kKeptScratch = 1 << 20;

} // namespace

Status checkReserve() {
  return MemoryReserve::isWhole()
             ? Status()
             : Status::error(ErrorKind::NoMemory, "too little memory is left to prepare a call");
}

void Operation::remember(const Call &call, int sendSlots, int recvSlots) {
  sendSlots_ = sendSlots;
  recvSlots_ = recvSlots;
  sendBuffer_ = call.send.buffer;
  recvBuffer_ = call.recv.buffer;
  arguments_.resize(kWords + kWordsOfSlot * static_cast<size_t>(sendSlots + recvSlots));
  uint64_t *at = arguments_.data(), shape = 0;
  describe(call, sendSlots, recvSlots, [&at, &shape](uint64_t word) {
    *at++ = word;
    shape = mixed(shape, word);
    return true;
  });
  shape_ = shape;
}

uint64_t Operation::shapeOf(const Call &call) const {
  uint64_t shape = 0;
  describe(call, sendSlots_, recvSlots_, [&](uint64_t word) {
    shape = mixed(shape, word);
    return true;
  });
  return shape;
}

uint64_t Operation::lengthsOf(const Call &call) const {
  uint64_t lengths =
      mixed(static_cast<uint64_t>(call.root), static_cast<uint64_t>(call.send.count));
  lengths = mixed(lengths, static_cast<uint64_t>(call.recv.count));
  auto add = [&](const BlockSide &side, int slots) {
    for (int slot = 0; side.counts && slot < slots; ++slot) {
      lengths = mixed(lengths, static_cast<uint64_t>(side.countOf(slot)));
      lengths = side.displs ? mixed(lengths, static_cast<uint64_t>(side.displOf(slot))) : lengths;
    }
  };
  add(call.send, sendSlots_);
  add(call.recv, recvSlots_);
  return lengths;
}

void Operation::beLike(const Operation &other) {
  algorithm_ = other.algorithm_;
  sentBytes_ = other.sentBytes_;
  layouts_ = other.layouts_;
  arguments_ = other.arguments_;
  shape_ = other.shape_;
  isQuick_ = other.isQuick_;
  sendBuffer_ = other.sendBuffer_;
  recvBuffer_ = other.recvBuffer_;
  sendSlots_ = other.sendSlots_;
  recvSlots_ = other.recvSlots_;
}

bool Operation::hasShapeOf(const Call &call) const {
  if (shape_ == kNoShape)
    return false;
  const uint64_t *at = arguments_.data();
  return describe(call, sendSlots_, recvSlots_, [&](uint64_t word) { return *at++ == word; });
}

ptrdiff_t Operation::sentBy(const Call &call) const {
  return distance(sendBuffer_, call.send.buffer);
}

ptrdiff_t Operation::receivedBy(const Call &call) const {
  return distance(recvBuffer_, call.recv.buffer);
}

void Operation::moveTo(const Call &call) {
  ptrdiff_t sent = sentBy(call), received = receivedBy(call);
  sendBuffer_ = call.send.buffer;
  recvBuffer_ = call.recv.buffer;
  for (PackedList *list : {&packed_, &unpacked_})
    for (Packed &p : *list)
      p.buffer += p.isSent ? sent : received;
  shift(sent, received);
}

Result<const TypeLayout *> Operation::layoutFor(MPI_Datatype type) {
  const TypeLayout *known = knownLayoutOf(type);
  for (const SharedLayout &kept : layouts_)
    if (kept.get() == known)
      return known;
  Result<SharedLayout> layout = layoutOf(type);
  if (!layout)
    return layout.status();
  layouts_.push_back(layout.take());
  return layouts_.back().get();
}

bool Operation::isQuick() const {
  return isQuick_ && std::all_of(layouts_.begin(), layouts_.end(),
                                 [](const auto &layout) { return layout->isNamed; });
}

// Memory that is much longer than what is needed is freed.
std::byte *Operation::scratch(uint64_t bytes) {
  uint64_t needed = bytes + 2 * kScratchMargin;
  if (scratchUsed_ == scratch_.size())
    scratch_.emplace_back();
  std::vector<std::byte> &memory = scratch_[scratchUsed_++];
  if (memory.size() < needed || (memory.size() > kKeptScratch && memory.size() / 4 > needed)) {
    memory = {};
    memory.resize(needed);
  }
  return memory.data() + kScratchMargin;
}

std::byte *Operation::firstScratch(uint64_t bytes) {
  bool hasRoom = scratchUsed_ > 0 && scratch_[0].size() >= bytes + 2 * kScratchMargin;
  return hasRoom ? scratch_[0].data() + kScratchMargin : nullptr;
}

bool Operation::isScratch(const void *address) const {
  std::less<const void *> before;
  return std::any_of(scratch_.begin(), scratch_.begin() + static_cast<ptrdiff_t>(scratchUsed_),
                     [&](const auto &memory) {
                       return !before(address, memory.data()) &&
                              before(address, memory.data() + memory.size());
                     });
}

void Operation::packAll() {
  for (const Packed &p : packed_)
    mpi::pack(*p.layout, p.buffer, 0, p.bytes, p.memory);
}

void Operation::unpackAll() {
  for (const Packed &p : unpacked_)
    mpi::unpack(*p.layout, p.buffer, 0, p.bytes, p.memory);
}

} // namespace colldsl::mpi
