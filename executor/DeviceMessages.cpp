#include "executor/DeviceMessages.h"

#include "ir/Concat.h"

#include <mutex>

namespace colldsl {
namespace {

// Packed messages begin at multiples of it.
constexpr uint64_t kPackedAlignment = 256;

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
  travels_.clear();
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    travels_.push_back(travels(OpId{op}, binding, edges, steps));
  if (std::find(travels_.begin(), travels_.end(), true) == travels_.end())
    travels_.clear();
}

Status DeviceMessages::makeOffers(const DeviceAreas &areas, const Steps &steps,
                                  device::AsyncWork &work) {
  if (travels_.empty())
    return {};
  states_ = std::vector<State>(view_.ops.size());
  uint64_t packedBytes = 0;
  uint32_t messages = 0;
  size_t mostPieces = 0;
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    const Step &step = steps[OpId{op}];
    if (!travels_[op])
      continue;
    mostPieces = std::max<size_t>(mostPieces, step.payload.count);
    states_[op].word = messages++;
    if (step.kind != Step::Kind::Send || onlyPiece(step.payload))
      continue;
    states_[op].packing = packedBytes;
    packedBytes += (step.payload.bytes + kPackedAlignment - 1) & ~(kPackedAlignment - 1);
  }
  copies_.reserve(mostPieces);
  if (packedBytes > 0 && !packed_.reserve(areas.driver(), areas.context(), packedBytes))
    return Status::error(ErrorKind::NoMemory,
                         concat("no device memory for messages of ", packedBytes, " bytes"));
  if (!areas.binding().mayBeCaptured)
    words_.omit();
  else if (Status s = words_.reserve(areas, work, messages); !s)
    return s;
  cache_ = device::IpcCache::of(areas.driver(), areas.context());
  std::vector<Exported> exported;
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    if (travels_[op])
      if (Status s = makeOffer(op, areas, steps[OpId{op}], exported); !s)
        return s;
  return {};
}

Status DeviceMessages::makeOffer(uint32_t op, const DeviceAreas &areas, const Step &step,
                                 std::vector<Exported> &exported) {
  State &state = states_[op];
  state.offer.describe();
  state.answer.describe();
  if (step.kind == Step::Kind::Send)
    return describeOffer(op, areas, step, exported);
  state.answer.content.word = words_.exported(state.word);
  return {};
}

Status DeviceMessages::describeOffer(uint32_t op, const DeviceAreas &areas, const Step &step,
                                     std::vector<Exported> &exported) {
  State &state = states_[op];
  Offer &offer = state.offer.content;
  offer.word = words_.exported(state.word);
  offer.bytes = step.payload.bytes;
  offer.hasData = true;
  device::DeviceAddress begin = packed_.address(), address = begin + state.packing;
  std::string name = "the room for messages of several pieces";
  if (const iovec *only = onlyPiece(step.payload)) {
    auto *piece = static_cast<const std::byte *>(only->iov_base);
    const DeviceAreas::Area *area = areas.areaOf(piece);
    offer.hasData = area != nullptr;
    if (!area)
      return {};
    begin = area->device;
    address = area->deviceAddressOf(piece);
    name = areas.inWords(*area);
  }
  auto known = std::find_if(exported.begin(), exported.end(),
                            [&](const Exported &one) { return one.begin == begin; });
  if (known == exported.end()) {
    auto memory = device::exportMemory(areas.driver(), reinterpret_cast<const void *>(begin), 0);
    if (!memory)
      return Status::error(concat(name, ": ", memory.message()));
    known = exported.insert(known, {begin, *memory});
  }
  offer.memory = known->memory;
  offer.memory.offset += address - begin;
  return {};
}

void DeviceMessages::closeAll() {
  for (State &state : states_)
    state.opened.reset();
}

void DeviceMessages::abandon() {
  packed_.abandon();
  words_.abandon(true);
  static std::mutex mutex;
  static auto *abandoned =
      new std::vector<std::pair<std::shared_ptr<device::IpcCache>, std::vector<State>>>;
  std::lock_guard guard(mutex);
  abandoned->emplace_back(std::move(cache_), std::move(states_));
}

void DeviceMessages::abandonShared() {
  packed_.abandon();
  words_.abandon(false);
}

void DeviceMessages::begin() {
  for (State &state : states_)
    state.phase = Phase::None;
}

Result<std::span<const device::CopyPiece>> DeviceMessages::pack(OpId op, const DeviceAreas &areas,
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
  return std::span<const device::CopyPiece>(copies_);
}

Result<device::OpenedMemory> DeviceMessages::openOf(OpId op,
                                                    const device::ExportedMemory &memory) const {
  auto opened = cache_->open(memory);
  return opened ? std::move(opened)
                : Status::error(concat("cannot open the memory of rank ",
                                       index(view_.ops[index(op)].peer), ": ", opened.message()));
}

Result<std::span<const device::CopyPiece>> DeviceMessages::open(OpId op, const DeviceAreas &areas,
                                                                const Step &step) {
  State &state = states_[index(op)];
  const Offer &offer = state.offer.content;
  copies_.clear();
  if (offer.bytes != step.payload.bytes)
    return Status::error(concat("a message of ", offer.bytes, " bytes came, ", step.payload.bytes,
                                " were expected"));
  if (!offer.hasData)
    return std::span<const device::CopyPiece>(copies_);
  auto opened = openOf(op, offer.memory);
  if (!opened)
    return opened.status();
  state.opened.emplace(opened.take());
  return copiesFrom(state.opened->address(), areas, step);
}

std::span<const device::CopyPiece>
DeviceMessages::copiesFrom(device::DeviceAddress from, const DeviceAreas &areas, const Step &step) {
  copies_.clear();
  for (uint32_t i = 0; i < step.payload.count; ++i) {
    auto [begin, bytes] = step.payload.pieces[i];
    auto *address = static_cast<const std::byte *>(begin);
    if (const DeviceAreas::Area *area = bytes == 0 ? nullptr : areas.areaOf(address))
      copies_.push_back({area->deviceAddressOf(address), from, bytes});
    from += bytes;
  }
  return copies_;
}

Status DeviceMessages::openForGraphs(OpId op) {
  State &state = states_[index(op)];
  const Offer &offer = state.offer.content;
  const bool sends = sendsMessage(view_.ops[index(op)].kind);
  const ExportedWord &word = sends ? state.answer.content.word : offer.word;
  if (!word.isThere)
    return Status::error(concat("rank ", index(view_.ops[index(op)].peer),
                                " has no words by which its device waits in graphs"));
  auto peersWord = openOf(op, word.memory);
  if (!peersWord)
    return peersWord.status();
  state.peersWord.emplace(peersWord.take());
  state.peersBytes.reset();
  if (sends || !offer.hasData)
    return {};
  auto bytes = openOf(op, offer.memory);
  if (!bytes)
    return bytes.status();
  state.peersBytes.emplace(bytes.take());
  return {};
}

std::span<const device::CopyPiece> DeviceMessages::copiesInGraph(OpId op, const DeviceAreas &areas,
                                                                 const Step &step) {
  State &state = states_[index(op)];
  copies_.clear();
  return state.peersBytes ? copiesFrom(state.peersBytes->address(), areas, step)
                          : std::span<const device::CopyPiece>(copies_);
}

} // namespace colldsl
