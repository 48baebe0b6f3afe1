#include "executor/DeviceMessages.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {
namespace {

// Allocations of other processes that stay open for later runs.
constexpr size_t kMaxUnused = 64;

// The piece that has all bytes of a payload; null: several have.
const iovec *onlyPiece(const Payload &payload) {
  std::span pieces(payload.pieces, payload.count);
  auto only = std::find_if(pieces.begin(), pieces.end(),
                           [](const iovec &piece) { return piece.iov_len > 0; });
  return only != pieces.end() && only->iov_len == payload.bytes ? &*only : nullptr;
}

} // namespace

// A put into a buffer that its sender knows, and a message to several ranks, travel by the host.
bool DeviceMessages::isEligible(const ImageOp &op, const Endpoint &endpoint) {
  Transfer way = op.transfer();
  return op.kind != OpKind::Signal && op.kind != OpKind::Wait && op.peer != endpoint.rank() &&
         endpoint.isOnThisMachine(op.peer) && way.protocol != Protocol::Static && !way.multicast;
}

void DeviceMessages::find(const Binding &binding, const Edges &edges, const Steps &steps) {
  travels_.assign(view_.ops.size(), false);
  uint64_t from = std::max<uint64_t>(binding.deviceMessagesFrom, 1);
  bool anyTravels = false;
  for (uint32_t op = 0; op < view_.ops.size() && !edges.answers.empty(); ++op) {
    const Step &step = steps[OpId{op}];
    travels_[op] = edges.answers[op] && !step.variable && step.payload.bytes >= from;
    anyTravels |= travels_[op];
  }
  if (!anyTravels)
    travels_.clear();
}

Status DeviceMessages::makeOffers(const DeviceAreas &areas, const Steps &steps) {
  if (travels_.empty())
    return {};
  states_ = std::vector<State>(view_.ops.size());
  uint64_t packedBytes = 0;
  size_t mostPieces = 0;
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    const Step &step = steps[OpId{op}];
    if (!travels_[op])
      continue;
    mostPieces = std::max<size_t>(mostPieces, step.payload.count);
    if (step.kind != Step::Kind::Send || onlyPiece(step.payload))
      continue;
    states_[op].packing = packedBytes;
    packedBytes += step.payload.bytes;
  }
  copies_.reserve(mostPieces);
  if (packedBytes > 0 && !packed_.reserve(areas.driver(), areas.context(), packedBytes))
    return Status::error(ErrorKind::NoMemory,
                         concat("no device memory for messages of ", packedBytes, " bytes"));
  if (!cache_ || cache_->context() != areas.context())
    cache_ = std::make_unique<device::IpcCache>(areas.driver(), areas.context(), kMaxUnused);
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    if (travels_[op])
      if (Status s = makeOffer(op, areas, steps[OpId{op}]); !s)
        return s;
  return {};
}

Status DeviceMessages::makeOffer(uint32_t op, const DeviceAreas &areas, const Step &step) {
  State &state = states_[op];
  state.piece = {&state.offer, sizeof state.offer};
  state.payload = {&state.piece, 1, false, false, sizeof state.offer};
  if (step.kind != Step::Kind::Send)
    return {};
  state.offer.bytes = step.payload.bytes;
  state.offer.hasData = true;
  device::DeviceAddress address = packed_.address() + state.packing;
  std::string name = "the room for messages of several pieces";
  if (const iovec *only = onlyPiece(step.payload)) {
    auto *begin = static_cast<const std::byte *>(only->iov_base);
    const DeviceAreas::Area *area = areas.areaOf(begin);
    state.offer.hasData = area != nullptr;
    if (!area)
      return {};
    address = area->deviceAddressOf(begin);
    name = areas.inWords(*area);
  }
  auto memory = device::exportMemory(areas.driver(), reinterpret_cast<const void *>(address),
                                     step.payload.bytes);
  if (!memory)
    return Status::error(concat(name, ": ", memory.message()));
  state.offer.memory = *memory;
  return {};
}

void DeviceMessages::begin() {
  for (State &state : states_)
    state.phase = Phase::None;
}

std::span<const DeviceMessages::Copy> DeviceMessages::pack(OpId op, const DeviceAreas &areas,
                                                           const Step &step) {
  device::DeviceAddress at = packed_.address() + states_[index(op)].packing;
  copies_.clear();
  for (uint32_t i = 0; i < step.payload.count; ++i) {
    auto [begin, bytes] = step.payload.pieces[i];
    if (bytes == 0)
      continue;
    auto *address = static_cast<const std::byte *>(begin);
    copies_.push_back({at, areas.areaOf(address)->deviceAddressOf(address), bytes});
    at += bytes;
  }
  return copies_;
}

Result<std::span<const DeviceMessages::Copy>>
DeviceMessages::open(OpId op, const DeviceAreas &areas, const Step &step) {
  State &state = states_[index(op)];
  copies_.clear();
  if (state.offer.bytes != step.payload.bytes)
    return Status::error(concat("a message of ", state.offer.bytes, " bytes came, ",
                                step.payload.bytes, " were expected"));
  if (!state.offer.hasData)
    return std::span<const Copy>(copies_);
  auto opened = cache_->open(state.offer.memory);
  if (!opened)
    return Status::error(concat("cannot open the memory of rank ", index(view_.ops[index(op)].peer),
                                ": ", opened.message()));
  state.opened.emplace(opened.take());
  device::DeviceAddress from = state.opened->address();
  for (uint32_t i = 0; i < step.payload.count; ++i) {
    auto [begin, bytes] = step.payload.pieces[i];
    auto *address = static_cast<const std::byte *>(begin);
    if (const DeviceAreas::Area *area = bytes == 0 ? nullptr : areas.areaOf(address))
      copies_.push_back({area->deviceAddressOf(address), from, bytes});
    from += bytes;
  }
  return std::span<const Copy>(copies_);
}

} // namespace colldsl
