#include "executor/Memory.h"

#include "ir/Bounds.h"
#include "ir/Concat.h"
#include "ir/Ranges.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr uint64_t kAlignment = 64;
// Temporaries of so many bytes are kept, whatever is needed.
constexpr uint64_t kKeptBytes = 1 << 20;
// Longer elements are not scaled, so that products stay small.
constexpr uint64_t kMostScaledBytes = 1 << 10;

constexpr uint64_t alignUp(uint64_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

bool holdsAtEntry(const Buffer &buffer) {
  return buffer.role == BufferRole::In || buffer.role == BufferRole::InOut;
}

} // namespace

std::string bufferInWords(std::span<const std::string> names, uint32_t b) {
  return b < names.size() ? concat("'", names[b], "'") : concat("buffer ", b);
}

Status Memory::wrong(uint32_t b, const Status &why) const {
  return Status::error(concat(inWords(b), " ", why.message()));
}

// A slice of a Dense buffer with storage of its own, which was found to lie inside, lies in its
// memory.
Memory::Memory(const RankView &view)
    : view_(view), buffers_(view.buffers), elements_(view.buffers.size()),
      ranges_(view.slices.size()) {
  sizes_.blocks.resize(buffers_.size());
  for (uint32_t op = 0; op < view.ops.size(); ++op)
    for (auto slices : {view.sources(view.ops[op]), view.targets(view.ops[op])})
      for (const Slice &slice : slices)
        if (bufferOf(slice).layout != Layout::Dense || !ownsStorage(bufferOf(slice)))
          touched_.push_back({op, &slice});
  hasBlocks_ = std::any_of(buffers_.begin(), buffers_.end(),
                           [](const Buffer &buffer) { return buffer.layout != Layout::Dense; });
  hasAliases_ = std::any_of(buffers_.begin(), buffers_.end(),
                            [](const Buffer &buffer) { return buffer.aliasOf != kNoBuffer; });
  findScale();
}

void Memory::findScale() {
  constexpr int64_t kMostScale = 1 << 20;
  constexpr uint64_t kMostElements = 1 << 30;
  static_assert(kMostScale * kMostElements * kMostScaledBytes < uint64_t{1} << 61);
  auto isScaled = [](int64_t scale, int64_t offset, uint32_t denominator) {
    return offset == 0 && denominator == 1 && -kMostScale <= scale && scale <= kMostScale;
  };
  bool areBuffers = std::all_of(buffers_.begin(), buffers_.end(), [&](const Buffer &b) {
    return b.layout == Layout::Dense && isScaled(b.originScale, b.originOffset, b.denominator) &&
           isScaled(b.endScale, b.endOffset, b.denominator);
  });
  bool areSlices = std::all_of(view_.slices.begin(), view_.slices.end(), [&](const Slice &s) {
    return isScaled(s.beginScale, s.beginOffset, s.denominator) &&
           isScaled(s.endScale, s.endOffset, s.denominator);
  });
  mostScaled_ = areBuffers && areSlices ? kMostElements : 0;
}

/// Places buffers and slices that were placed for another n.
void Memory::scale() {
  auto n = static_cast<int64_t>(sizes_.elements);
  for (uint32_t b = 0; b < buffers_.size(); ++b)
    elements_[b] = {buffers_[b].originScale * n, buffers_[b].endScale * n};
  for (size_t i = 0; i < view_.slices.size(); ++i) {
    const Slice &slice = view_.slices[i];
    const Buffer &buffer = bufferOf(slice);
    uint64_t bytes = sizes_.elements * sizes_.elementBytesOf(buffer);
    ranges_[i] = {static_cast<uint64_t>(slice.beginScale - buffer.originScale) * bytes,
                  static_cast<uint64_t>(slice.endScale - slice.beginScale) * bytes};
  }
}

Status Memory::bind(const SizeClass &sizeClass, const Binding &binding) {
  if (!sizeClass.contains(binding.elements))
    return Status::error(concat("n = ", binding.elements, " is outside of the sizes ",
                                rangeWord(sizeClass.min, sizeClass.max),
                                " that the schedule was made for"));
  names_ = binding.names;
  bases_.assign(buffers_.size(), {});
  if (Status s = checkCombiner(binding.combiner); !s)
    return s;
  if (Status s = placeAll(binding.elements, binding.combiner.elementBytes); !s)
    return s;
  if (hasBlocks_) {
    if (Status s = bindBlocks(binding); !s)
      return s;
    placeSlicesOfBlocks();
  }
  if (Status s = bindParameters(binding); !s)
    return s;
  if (Status s = bindTemporaries(binding); !s)
    return s;
  if (hasAliases_)
    bindAliases();
  return checkOps();
}

Status Memory::checkCombiner(const Combiner &combiner) const {
  if (!combiner)
    return combiner.elementBytes == 0 ? Status()
                                      : Status::error("elements have a size but no operator");
  if (combiner.elementBytes == 0)
    return Status::error("the operator is for elements of 0 bytes");
  for (uint32_t b = 0; b < buffers_.size(); ++b)
    if (buffers_[b].type != ElementType::U8 && sizeBytes(buffers_[b].type) != combiner.elementBytes)
      return Status::error(
          concat(inWords(b), " has elements of type ", spelling(buffers_[b].type), ", not any"));
  return {};
}

Status Memory::placeAll(uint64_t elements, uint64_t elementBytes) {
  sizes_.elements = elements;
  sizes_.elementBytes = elementBytes;
  bool isThere = isPlaced_ && placedElements_ == elements && placedElementBytes_ == elementBytes;
  if (!isThere && scalesTo(elements) && elementBytes <= kMostScaledBytes) {
    scale();
  } else if (!isThere) {
    isPlaced_ = false;
    if (Status s = placeBuffers(); !s)
      return s;
    if (Status s = placeSlices(); !s)
      return s;
  }
  isPlaced_ = true;
  placedElements_ = elements;
  placedElementBytes_ = elementBytes;
  return {};
}

// The image was checked at the size that it was made for, so this size needs a check.
Status Memory::placeBuffers() {
  int64_t farthest = farthestElement(sizes_.elementBytes);
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    if (isPlainBuffer(buffers_[b], sizes_.elements, farthest, elements_[b]))
      continue;
    if (Status s = checkBuffer(buffers_[b], sizes_.elements, sizes_.elementBytes); !s)
      return wrong(b, s);
    elements_[b] = elementsOf(buffers_[b], sizes_.elements);
  }
  return {};
}

Status Memory::placeSlices() {
  int64_t farthest = farthestElement(sizes_.elementBytes);
  for (size_t i = 0; i < view_.slices.size(); ++i) {
    const Slice &slice = view_.slices[i];
    if (slice.block != kNoBlock && areBlocksRight_)
      continue;
    const Buffer &buffer = bufferOf(slice);
    const Elements &inside = elements_[index(slice.buffer)];
    Elements here;
    if (slice.block == kNoBlock && buffer.layout == Layout::Dense &&
        isPlainSlice(slice, inside, sizes_.elements, farthest, here)) {
      uint64_t bytes = sizes_.elementBytesOf(buffer);
      ranges_[i] = {static_cast<uint64_t>(here.begin - inside.begin) * bytes,
                    static_cast<uint64_t>(here.end - here.begin) * bytes};
      continue;
    }
    if (Status s = checkSlice(slice, buffer, sizes_.elements, sizes_.elementBytes); !s)
      return Status::error(concat("slice ", i, " ", s.message()));
    if (slice.block == kNoBlock)
      ranges_[i] = resolve(slice, buffer, sizes_);
  }
  areBlocksRight_ = true;
  return {};
}

// Buffers that are not significant have no blocks here.
void Memory::placeSlicesOfBlocks() {
  for (size_t i = 0; i < view_.slices.size(); ++i) {
    const Slice &slice = view_.slices[i];
    if (slice.block == kNoBlock || isVariable(slice))
      continue;
    const BlockTable &table = sizes_.blocks[index(slice.buffer)];
    uint64_t bytes = elementBytesOf(slice);
    if (table.length.empty())
      ranges_[i] = {};
    else if (isWholeBlock(slice))
      ranges_[i] = {table.offset[slice.block] * bytes, table.length[slice.block] * bytes};
    else
      ranges_[i] = resolve(slice, bufferOf(slice), sizes_);
  }
}

Status Memory::bindBlocks(const Binding &binding) {
  capacityBuffers_.clear();
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    sizes_.blocks[b].offset.clear();
    sizes_.blocks[b].length.clear();
    Status s;
    switch (buffers_[b].layout) {
    case Layout::Dense:
      break;
    case Layout::CallTime:
      s = bindCallTime(b, binding);
      break;
    case Layout::Capacity:
      s = bindCapacity(b, binding);
      break;
    }
    if (!s)
      return wrong(b, s);
  }
  findShared();
  for (const SharedBlock &shared : shared_)
    if (Status s = lendLength(shared, binding); !s)
      return wrong(shared.own.buffer, s);
  for (const SharedBlock &shared : shared_)
    shareLength(shared.owner, lengthOf(shared.owner) * elementBytesOf(shared.owner));
  boundBlocks_.resize(capacityBuffers_.size());
  for (size_t i = 0; i < capacityBuffers_.size(); ++i)
    boundBlocks_[i] = sizes_.blocks[capacityBuffers_[i]];
  return {};
}

// A block may lie in one that lies in another; loading checked that there are no cycles.
void Memory::findShared() {
  shared_.clear();
  auto liesInBlock = [&](const Buffer &buffer) {
    return buffer.significant && buffer.aliasOf != kNoBuffer &&
           view_.slices[buffer.aliasSlice].block != kNoBlock;
  };
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    if (!liesInBlock(buffers_[b]))
      continue;
    Block owner{b, 0};
    do {
      const Slice &slice = view_.slices[buffers_[owner.buffer].aliasSlice];
      owner = {index(slice.buffer), slice.block};
    } while (liesInBlock(buffers_[owner.buffer]) && buffers_[owner.buffer].blocks == 1);
    if (!sizes_.blocks[owner.buffer].length.empty())
      shared_.push_back({{b, 0}, owner});
  }
}

// A parameter that holds data defines the length of the block in which it lies.
Status Memory::lendLength(const SharedBlock &shared, const Binding &binding) {
  uint32_t own = shared.own.buffer;
  auto isGiven = [&](uint32_t b) {
    return b < binding.blocks.size() && !binding.blocks[b].length.empty();
  };
  bool isFixed = isGiven(shared.owner.buffer); // of a buffer with data, or of call-time blocks
  if (!holdsAtEntry(buffers_[own]) || (isFixed && !isGiven(own)))
    return {};
  bool isDense = buffers_[own].layout == Layout::Dense;
  if (!isDense && sizes_.blocks[own].length.empty())
    return Status::error("needs the length of its block");
  uint64_t bytes = isDense ? numElements(own) * elementBytesOf(shared.own)
                           : lengthOf(shared.own) * elementBytesOf(shared.own);
  uint64_t there = isFixed ? lengthOf(shared.owner) * elementBytesOf(shared.owner)
                           : capacityBytes(shared.owner.buffer);
  if (isFixed ? bytes != there : bytes > there)
    return Status::error(concat("has ", bytes, " bytes, and lies in block ", shared.owner.number,
                                " of ", inWords(shared.owner.buffer),
                                isFixed ? ", which has " : ", which has room for ", there));
  if (!isFixed)
    lengthOf(shared.owner) = bytes / elementBytesOf(shared.owner);
  return {};
}

void Memory::shareLength(Block block, uint64_t bytes) {
  for (const SharedBlock &shared : shared_)
    if (shared.own == block)
      block = shared.owner;
  auto set = [&](Block to) {
    if (buffers_[to.buffer].layout == Layout::Capacity)
      lengthOf(to) = bytes / elementBytesOf(to);
  };
  set(block);
  for (const SharedBlock &shared : shared_)
    if (shared.owner == block)
      set(shared.own);
}

Status Memory::bindCallTime(uint32_t b, const Binding &binding) {
  uint32_t blocks = buffers_[b].blocks;
  bool isGiven = b < binding.blocks.size() && !binding.blocks[b].length.empty();
  if (!buffers_[b].significant || (buffers_[b].aliasOf != kNoBuffer && !isGiven))
    return {};
  if (b >= binding.blocks.size() || binding.blocks[b].length.size() != blocks ||
      (binding.blocks[b].offset.size() != blocks && !binding.blocks[b].offset.empty()))
    return Status::error(concat("needs places and lengths of ", blocks, " blocks"));
  const BlockTable &given = binding.blocks[b];
  BlockTable &table = sizes_.blocks[b];
  table.offset.resize(blocks);
  table.length.resize(blocks);
  bool isInRow = given.offset.empty();
  auto farthest = static_cast<uint64_t>(farthestElement(sizes_.elementBytes));
  uint64_t end = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    uint64_t offset = isInRow ? end : given.offset[i], length = given.length[i];
    if (offset > farthest || length > farthest)
      return Status::error(concat("has a block ", i, " that is too large"));
    table.offset[i] = offset;
    table.length[i] = length;
    end += length;
  }
  return {};
}

// Contiguous blocks of equal capacity.
Status Memory::bindCapacity(uint32_t b, const Binding &binding) {
  const Buffer &buffer = buffers_[b];
  uint64_t capacity = buffer.blocks == 0 ? 0 : numElements(b) / buffer.blocks;
  BlockTable &table = sizes_.blocks[b];
  for (uint32_t i = 0; i < buffer.blocks; ++i)
    table.offset.push_back(i * capacity);
  table.length.assign(buffer.blocks, holdsAtEntry(buffer) ? capacity : 0);
  if (b < binding.blocks.size() && !binding.blocks[b].length.empty()) {
    if (!holdsAtEntry(buffer))
      return Status::error(
          concat("is ", spelling(buffer.role), ": its blocks have no lengths before data arrives"));
    table.length = binding.blocks[b].length;
  }
  if (table.length.size() != buffer.blocks)
    return Status::error(concat("needs the lengths of ", buffer.blocks, " blocks"));
  for (uint64_t length : table.length)
    if (length > capacity)
      return Status::error(concat("has a block of ", length, " elements, it holds ", capacity));
  capacityBuffers_.push_back(b);
  return {};
}

uint64_t Memory::capacityBytes(uint32_t b) const {
  return numElements(b) / buffers_[b].blocks * sizes_.elementBytesOf(buffers_[b]);
}

void Memory::restoreLengths() {
  for (size_t i = 0; i < capacityBuffers_.size(); ++i)
    std::copy(boundBlocks_[i].length.begin(), boundBlocks_[i].length.end(),
              sizes_.blocks[capacityBuffers_[i]].length.begin());
}

uint64_t Memory::neededBytes(uint32_t b) const {
  const Buffer &buffer = buffers_[b];
  if (buffer.layout != Layout::CallTime)
    return numElements(b) * sizes_.elementBytesOf(buffer);
  uint64_t end = 0;
  const BlockTable &table = sizes_.blocks[b];
  for (uint32_t i = 0; i < buffer.blocks; ++i)
    if (table.length[i] > 0)
      end = std::max(end, table.offset[i] + table.length[i]);
  return end * sizes_.elementBytesOf(buffer);
}

Status Memory::bindParameters(const Binding &binding) {
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].role == BufferRole::Temp || !ownsStorage(buffers_[b]))
      continue;
    uint64_t needed = neededBytes(b);
    if (b >= binding.buffers.size())
      return Status::error(
          concat(inWords(b), " is missing, ", binding.buffers.size(), " were given"));
    const BoundBuffer &given = binding.buffers[b];
    if (needed > 0 && !given.data)
      return Status::error(concat(inWords(b), " is null, it needs ", needed, " bytes"));
    if (given.isConst && buffers_[b].role != BufferRole::In)
      return Status::error(concat(inWords(b), " is written, but the memory for it is constant"));
    if (given.bytes < needed)
      return Status::error(concat(inWords(b), " has ", given.bytes, " bytes, it needs ", needed));
    bases_[b] = {static_cast<std::byte *>(given.data), needed};
  }
  return {};
}

// Freed once it is much longer than what is needed.
std::byte *Memory::Temporaries::reserve(uint64_t bytes) {
  bool isMuch = bytes_ > kKeptBytes && bytes < bytes_ / 4;
  if (bytes > bytes_ || isMuch) {
    bool grows = bytes_ > 0 && !isMuch && bytes < UINT64_MAX / 2;
    uint64_t more = grows ? bytes + bytes / 2 : bytes;
    memory_.reset(static_cast<std::byte *>(std::calloc(more, 1)));
    bytes_ = memory_ ? more : 0;
  }
  if (!memory_)
    return nullptr;
  return reinterpret_cast<std::byte *>(alignUp(reinterpret_cast<uint64_t>(memory_.get())));
}

Status Memory::bindTemporaries(const Binding &binding) {
  uint64_t total = kAlignment;
  for (uint32_t b = 0; b < buffers_.size(); ++b)
    if (buffers_[b].role == BufferRole::Temp && ownsStorage(buffers_[b]) &&
        __builtin_add_overflow(total, alignUp(neededBytes(b)), &total))
      return Status::error(ErrorKind::NoMemory, "the temporaries are too large");
  if (total == kAlignment)
    return {};
  std::byte *at =
      binding.temporaries ? binding.temporaries->reserve(total) : temporaries_.reserve(total);
  if (!at)
    return Status::error(ErrorKind::NoMemory,
                         concat("no memory for ", total, " bytes of temporaries"));
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].role != BufferRole::Temp || !ownsStorage(buffers_[b]))
      continue;
    bases_[b] = {at, neededBytes(b)};
    at += alignUp(neededBytes(b));
  }
  return {};
}

uint32_t Memory::ownerOf(uint32_t b) const {
  while (buffers_[b].aliasOf != kNoBuffer)
    b = index(buffers_[b].aliasOf);
  return b;
}

std::span<std::byte> Memory::parameter(BufferId id) const {
  const Buffer &buffer = buffers_[index(id)];
  if (buffer.role == BufferRole::Temp || !ownsStorage(buffer))
    return {};
  return {bases_[index(id)].data, bases_[index(id)].bytes};
}

void Memory::shift(BufferId parameter, ptrdiff_t by) {
  for (uint32_t b = 0; b < buffers_.size(); ++b)
    if (ownerOf(b) == index(parameter) && bases_[b].bytes > 0)
      bases_[b].data += by;
}

// Offsets of an alias of an alias add up; loading checked that there are no cycles.
void Memory::bindAliases() {
  for (uint32_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].aliasOf == kNoBuffer)
      continue;
    uint64_t offset = 0;
    uint32_t owner = b;
    for (; buffers_[owner].aliasOf != kNoBuffer; owner = index(buffers_[owner].aliasOf))
      offset += rangeOf(view_.slices[buffers_[owner].aliasSlice]).offset;
    const Slice &slice = view_.slices[buffers_[b].aliasSlice];
    uint64_t bytes = isVariable(slice) ? capacityBytes(slice) : rangeOf(slice).length;
    bool inside = offset + bytes <= bases_[owner].bytes;
    bases_[b] = inside ? Base{bases_[owner].data + offset, bytes} : Base{};
  }
}

// No bytes may lie anywhere.
bool Memory::isTouchable(const Slice &slice) const {
  ByteRange range = touchedBy(slice);
  return range.length == 0 ||
         (range.offset <= range.end() && range.end() <= bases_[index(slice.buffer)].bytes);
}

ByteRange Memory::touchedBy(const Slice &slice) const {
  return isVariable(slice) ? ByteRange{sizes_.blocks[index(slice.buffer)].offset[slice.block] *
                                           elementBytesOf(slice),
                                       capacityBytes(slice)}
                           : rangeOf(slice);
}

Status Memory::checkOps() const {
  for (const auto &[op, slice] : touched_)
    if (!isTouchable(*slice))
      return Status::error(concat("op ", op, " touches bytes ", touchedBy(*slice).offset, "..",
                                  touchedBy(*slice).end(), " of ", inWords(index(slice->buffer)),
                                  ", which has ", bases_[index(slice->buffer)].bytes,
                                  " on this rank"));
  return {};
}

} // namespace colldsl
