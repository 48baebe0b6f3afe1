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

// The distance of any two addresses, in one array or not, such as those that lists count from.
ptrdiff_t distance(const void *from, const void *to) {
  return static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(to) -
                                reinterpret_cast<uintptr_t>(from));
}

constexpr size_t kScratchMargin = 64;

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
  arguments_.clear();
  describe(call, sendSlots, recvSlots, [&](uint64_t word) {
    arguments_.push_back(word);
    return true;
  });
  shape_ = shapeOf(call);
}

uint64_t Operation::shapeOf(const Call &call) const {
  uint64_t shape = 0;
  describe(call, sendSlots_, recvSlots_, [&](uint64_t word) {
    shape = (shape ^ word) * 0x9e3779b97f4a7c15u;
    shape ^= shape >> 32;
    return true;
  });
  return shape;
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

Result<SharedLayout> Operation::layoutFor(MPI_Datatype type) {
  Result<SharedLayout> layout = layoutOf(type);
  if (layout && std::find(layouts_.begin(), layouts_.end(), *layout) == layouts_.end())
    layouts_.push_back(*layout);
  return layout;
}

bool Operation::isQuick() const {
  return isQuick_ && std::all_of(layouts_.begin(), layouts_.end(),
                                 [](const auto &layout) { return layout->isNamed; });
}

std::byte *Operation::scratch(uint64_t bytes) {
  return scratch_.emplace_back(bytes + 2 * kScratchMargin).data() + kScratchMargin;
}

bool Operation::isScratch(const void *address) const {
  std::less<const void *> before;
  return std::any_of(scratch_.begin(), scratch_.end(), [&](const auto &memory) {
    return !before(address, memory.data()) && before(address, memory.data() + memory.size());
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
