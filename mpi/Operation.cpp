#include "mpi/Operation.h"

#include "mpi/Reductions.h"

#include <algorithm>
#include <cstring>

namespace colldsl::mpi {
namespace {

uint64_t idOf(MPI_Datatype type) {
  const TypeLayout *layout = knownLayoutOf(type);
  return layout ? layout->id : 0;
}

/// Calls visit(word) for each word that says what a call is, until one returns false.
template <typename Visit>
bool describeSide(const Side &side, int slots, bool floats, Visit &visit) {
  if (!visit(floats ? side.buffer == MPI_IN_PLACE : reinterpret_cast<uint64_t>(side.buffer)))
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
bool describe(const Call &call, int sendSlots, int recvSlots, bool floats, Visit visit) {
  return visit(static_cast<uint64_t>(call.kind)) && visit(static_cast<uint64_t>(call.root)) &&
         visit(wordOf(call.op)) && (call.op == MPI_OP_NULL || visit(Reduction::numFreed())) &&
         describeSide(call.send, sendSlots, floats, visit) &&
         describeSide(call.recv, recvSlots, floats, visit);
}

uint64_t shapeOf(const Call &call, int sendSlots, int recvSlots) {
  uint64_t hash = 0;
  describe(call, sendSlots, recvSlots, true, [&](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return true;
  });
  return hash;
}

} // namespace

void Operation::remember(const Call &call, int sendSlots, int recvSlots) {
  sendSlots_ = sendSlots;
  recvSlots_ = recvSlots;
  describe(call, sendSlots, recvSlots, floats_, [&](uint64_t word) {
    arguments_.push_back(word);
    return true;
  });
  shape_ = shapeOf(call, sendSlots, recvSlots);
}

bool Operation::hasShapeOf(const Call &call) const {
  return call.kind == kind_ && shape_ == shapeOf(call, sendSlots_, recvSlots_);
}

void Operation::aim(const Call &call) {
  if (!floats_)
    return;
  for (PackedList *list : {&packed_, &unpacked_})
    for (Packed &p : *list)
      p.buffer = static_cast<std::byte *>(p.isSent ? call.send.buffer : call.recv.buffer);
}

bool Operation::serves(const Call &call) const {
  const uint64_t *at = arguments_.data();
  return describe(call, sendSlots_, recvSlots_, floats_,
                  [&](uint64_t word) { return *at++ == word; });
}

Result<std::shared_ptr<const TypeLayout>> Operation::layoutFor(MPI_Datatype type) {
  Result<std::shared_ptr<const TypeLayout>> layout = layoutOf(type);
  if (layout && std::find(layouts_.begin(), layouts_.end(), *layout) == layouts_.end())
    layouts_.push_back(*layout);
  return layout;
}

bool Operation::isQuick() const {
  return isQuick_ && std::all_of(layouts_.begin(), layouts_.end(),
                                 [](const auto &layout) { return layout->isNamed; });
}

std::byte *Operation::scratch(uint64_t bytes) {
  return scratch_.emplace_back(new std::byte[bytes]).get();
}

void Operation::pack() {
  for (const Packed &p : packed_)
    mpi::pack(*p.layout, p.buffer, 0, p.bytes, p.memory);
}

void Operation::unpack() {
  for (const Packed &p : unpacked_)
    mpi::unpack(*p.layout, p.buffer, 0, p.bytes, p.memory);
}

} // namespace colldsl::mpi
