#include "tools/run/Oracle.h"

#include "ir/SmallFloat.h"
#include "tools/run/NaiveReduce.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace colldsl::tools {
namespace {

constexpr uint64_t kGuardBytes = 64; // also the alignment of buffers

bool holdsAtEntry(const Buffer &buffer) {
  return buffer.role == BufferRole::In || buffer.role == BufferRole::InOut;
}

bool isStored(const Buffer &buffer) {
  return buffer.role != BufferRole::Temp && buffer.significant && buffer.aliasOf == kNoBuffer;
}

uint64_t storageBytes(const Buffer &buffer, BufferId id, const Sizes &sizes) {
  if (buffer.layout != Layout::CallTime)
    return extentBytes(buffer, sizes);
  uint64_t elements = 0;
  const BlockTable &table = sizes.blocks[index(id)];
  for (size_t i = 0; i < table.offset.size(); ++i)
    elements = std::max(elements, table.offset[i] + table.length[i]);
  return elements * sizeBytes(buffer.type);
}

template <typename T> std::string number(T x) { return std::to_string(x); }
template <typename B, int M, bool I> std::string number(SmallFloat<B, M, I> x) {
  return std::to_string(static_cast<float>(x));
}
template <typename Part> std::string number(std::complex<Part> x) {
  return std::to_string(x.real()) + (std::signbit(x.imag()) ? "" : "+") + std::to_string(x.imag()) +
         "i";
}

std::string elementWord(const std::byte *bytes, ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name: {                                                                        \
    CppType x;                                                                                     \
    std::memcpy(&x, bytes, sizeof x);                                                              \
    return number(x);                                                                              \
  }
#include "ir/Vocabulary.def"
  }
  return "";
}

std::string hexWord(std::byte b) {
  constexpr char kDigits[] = "0123456789abcdef";
  auto value = static_cast<unsigned>(b);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

/// The parts of `ranges` outside of `hole`.
std::vector<ByteRange> without(const std::vector<ByteRange> &ranges, ByteRange hole) {
  std::vector<ByteRange> left;
  for (const ByteRange &range : ranges) {
    uint64_t before = std::min(range.end(), hole.offset),
             behind = std::max(range.offset, hole.end());
    if (range.offset < before)
      left.push_back({range.offset, before - range.offset});
    if (behind < range.end())
      left.push_back({behind, range.end() - behind});
  }
  return left;
}

bool isClobber(const Ensure &ensure) { return ensure.operandCount == 0 && !ensure.isReduction; }

} // namespace

Oracle::Oracle(const Schedule &schedule, const std::vector<Sizes> &sizes, Rank rank)
    : schedule_(schedule), sizes_(sizes), rank_(rank), pattern_(schedule), bytes_(kGuardBytes) {
  for (uint32_t b = 0; b < dag().buffers.size(); ++b) {
    const Buffer &buffer = dag().buffers[b];
    places_.push_back(
        {bytes_, isStored(buffer) ? storageBytes(buffer, BufferId{b}, sizes_[index(rank)]) : 0});
    if (isStored(buffer))
      bytes_ = (places_.back().end() + kGuardBytes) / kGuardBytes * kGuardBytes + kGuardBytes;
  }
}

double parameterBytes(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  double bytes = 0;
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const std::vector<Buffer> &buffers = schedule.ranks[r].buffers;
    for (uint32_t b = 0; b < buffers.size(); ++b)
      if (isStored(buffers[b]))
        bytes += static_cast<double>(storageBytes(buffers[b], BufferId{b}, sizes[r]));
  }
  return bytes;
}

/// Translates bytes of a buffer to bytes of the buffer that has the storage.
Oracle::Area Oracle::locate(Rank rank, BufferId buffer, ByteRange range) const {
  const Dag &d = dag(rank);
  for (const Buffer *at = &d.buffers[index(buffer)]; at->aliasOf != kNoBuffer;
       at = &d.buffers[index(buffer)]) {
    const Slice &slice = d.slices[at->aliasSlice];
    range.offset += resolve(slice, d.bufferOf(slice), sizes(rank)).offset;
    buffer = at->aliasOf;
  }
  return {buffer, range};
}

Result<Oracle::Area> Oracle::locate(Rank rank, const Slice &slice) const {
  const Buffer &buffer = dag(rank).bufferOf(slice);
  Area area = locate(rank, slice.buffer, resolve(slice, buffer, sizes(rank)));
  const Buffer &stored = dag(rank).buffers[index(area.buffer)];
  uint64_t bytes = storageBytes(stored, area.buffer, sizes(rank));
  bool isInside = area.range.offset <= bytes && area.range.length <= bytes - area.range.offset;
  if (isInside && stored.significant && stored.role != BufferRole::Temp)
    return area;
  return Status::error("the contract speaks of bytes that " + schedule_.nameOf(buffer) +
                       " does not have on rank " + std::to_string(index(rank)));
}

void Oracle::enterRange(std::vector<std::byte> &memory, BufferId buffer, ByteRange range,
                        uint32_t call) const {
  Area area = locate(rank_, buffer, range);
  ElementType type = dag().buffers[index(area.buffer)].type;
  std::span<std::byte> bytes = std::span(memory).subspan(
      places_[index(area.buffer)].offset + area.range.offset, area.range.length);
  pattern_.fill(bytes, type, {rank_, area.buffer, area.range.offset / sizeBytes(type), call});
}

/// Writes the data of all parameters that have a content at entry.
void Oracle::enter(std::vector<std::byte> &memory, uint32_t call) const {
  for (uint32_t b = 0; b < dag().buffers.size(); ++b) {
    const Buffer &buffer = dag().buffers[b];
    if (!holdsAtEntry(buffer) || !buffer.significant)
      continue;
    if (buffer.layout == Layout::Dense) {
      enterRange(memory, BufferId{b}, {0, extentBytes(buffer, sizes(rank_))}, call);
      continue;
    }
    const BlockTable &table = sizes(rank_).blocks[b];
    uint64_t elementBytes = sizeBytes(buffer.type);
    for (size_t i = 0; i < table.offset.size(); ++i)
      enterRange(memory, BufferId{b},
                 {table.offset[i] * elementBytes, table.length[i] * elementBytes}, call);
  }
}

Result<std::vector<std::byte>> Oracle::valueAtEntry(const EntryValue &operand,
                                                    uint32_t call) const {
  Result<Area> area = locate(operand.rank, operand.slice);
  if (!area)
    return area.status();
  ElementType type = dag(operand.rank).buffers[index(area->buffer)].type;
  std::vector<std::byte> value(area->range.length);
  pattern_.fill(value, type,
                {operand.rank, area->buffer, area->range.offset / sizeBytes(type), call});
  return value;
}

Result<std::vector<std::byte>> Oracle::promised(const Ensure &ensure, uint32_t call) const {
  auto operands = dag().contract.operandsOf(ensure);
  if (operands.empty() || (!ensure.isReduction && operands.size() != 1))
    return Status::error("the contract promises a value of " + std::to_string(operands.size()) +
                         " operands");
  ElementType type = dag().bufferOf(ensure.target).type;
  Result<std::vector<std::byte>> value = valueAtEntry(operands.front(), call);
  for (const EntryValue &operand : operands.subspan(1)) {
    Result<std::vector<std::byte>> next = valueAtEntry(operand, call);
    if (!value || !next)
      return value ? next.status() : value.status();
    if (next->size() != value->size() || value->size() % sizeBytes(type) != 0)
      return Status::error("the contract reduces values of different lengths");
    if (Status s = reduceInto(*value, *next, ensure.reduction, type); !s)
      return s;
  }
  return value;
}

Status Oracle::keepPromise(const Ensure &ensure, uint32_t call, Contents &contents) const {
  Result<Area> target = locate(rank_, ensure.target);
  if (!target)
    return target.status();
  uint64_t place = places_[index(target->buffer)].offset + target->range.offset;
  if (isClobber(ensure)) {
    contents.anything.push_back({place, target->range.length});
    return {};
  }
  Result<std::vector<std::byte>> value = promised(ensure, call);
  if (!value)
    return value.status();
  if (value->size() != target->range.length)
    return Status::error("the contract promises " + std::to_string(value->size()) + " bytes for " +
                         std::to_string(target->range.length));
  contents.anything = without(contents.anything, {place, value->size()});
  std::copy(value->begin(), value->end(), contents.after.begin() + static_cast<int64_t>(place));
  return {};
}

Result<Oracle::Contents> Oracle::contents(uint32_t call) const {
  Contents result;
  result.before.assign(bytes_, std::byte{call % 2 == 0 ? uint8_t{0xa5} : uint8_t{0x5a}});
  enter(result.before, call);
  result.after = result.before;
  for (bool clobbers : {true, false})
    for (const Ensure &ensure : dag().contract.ensures)
      if (isClobber(ensure) == clobbers)
        if (Status s = keepPromise(ensure, call, result); !s)
          return s;
  return result;
}

std::string Oracle::wrongInvariant(std::span<const std::byte> memory, uint32_t call) const {
  for (const Invariant &invariant : dag().contract.invariants) {
    const Slice &target = invariant.stated.target;
    const Buffer &copy = dag().bufferOf(target);
    const SourceLoc &loc = invariant.stated.loc;
    std::string where = "the invariant at " + schedule_.files[loc.file] + ":" +
                        std::to_string(loc.line) + ", before " + invariant.iteration + ": ";
    Result<std::vector<std::byte>> value = promised(invariant.stated, call);
    if (!value)
      return where + value.status().message();
    ByteRange place = places_[index(target.buffer)];
    if (value->size() != place.length)
      return where + "it states " + std::to_string(value->size()) + " bytes for " +
             std::to_string(place.length);
    auto [at, unused] = std::mismatch(value->begin(), value->end(),
                                      memory.begin() + static_cast<int64_t>(place.offset));
    if (at == value->end())
      continue;
    uint64_t element = static_cast<uint64_t>(at - value->begin()) / sizeBytes(copy.type);
    uint64_t offset = element * sizeBytes(copy.type);
    return where + std::string(spelling(copy.type)) + " element " + std::to_string(element) +
           " of this part of " + schedule_.nameOf(copy) + ": stated " +
           elementWord(value->data() + offset, copy.type) + ", found " +
           elementWord(memory.data() + place.offset + offset, copy.type);
  }
  return "";
}

std::string Oracle::describeByte(BufferId buffer, uint64_t offset,
                                 std::span<const std::byte> memory,
                                 std::span<const std::byte> expected) const {
  ElementType type = dag().buffers[index(buffer)].type;
  uint64_t element = offset / sizeBytes(type);
  uint64_t byte = places_[index(buffer)].offset + offset;
  uint64_t begin = byte - offset % sizeBytes(type);
  return "byte " + std::to_string(offset) + " of " +
         schedule_.nameOf(dag().buffers[index(buffer)]) + ": expected " + hexWord(expected[byte]) +
         ", found " + hexWord(memory[byte]) + " (" + std::string(spelling(type)) + " element " +
         std::to_string(element) + ": expected " + elementWord(&expected[begin], type) +
         ", found " + elementWord(&memory[begin], type) + ")";
}

std::string Oracle::mismatch(std::span<const std::byte> memory,
                             std::span<const std::byte> expected) const {
  auto [at, unused] = std::mismatch(memory.begin(), memory.end(), expected.begin());
  auto byte = static_cast<uint64_t>(at - memory.begin());
  BufferId before = kNoBuffer;
  for (uint32_t b = 0; b < places_.size(); ++b) {
    if (places_[b].length == 0 || places_[b].offset > byte)
      continue;
    before = BufferId{b};
    if (byte < places_[b].end())
      return describeByte(before, byte - places_[b].offset, memory, expected);
  }
  std::string where = before == kNoBuffer
                          ? "in front of the first buffer"
                          : "behind the end of " + schedule_.nameOf(dag().buffers[index(before)]);
  return "a byte " + where + " was overwritten with " + hexWord(memory[byte]);
}

} // namespace colldsl::tools
