#include "tests/mpi/Side.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace conformance {

Memory::Memory(size_t size, bool fromMpi) : size_(size) {
  if (!fromMpi) {
    bytes_ = {static_cast<std::byte *>(std::malloc(size)), [](std::byte *p) { std::free(p); }};
    return;
  }
  void *memory;
  MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &memory);
  bytes_ = {static_cast<std::byte *>(memory), [](std::byte *p) { MPI_Free_mem(p); }};
}

Memory::Memory(std::byte *begin, size_t size) : size_(size), bytes_{begin, [](std::byte *) {}} {}

namespace {

// The bytes around each buffer that no call may touch.
constexpr size_t kMargin = 64;
constexpr size_t kArenaBytes = 16 << 20;
// Elements between the longest block and the next one.
constexpr int kLaneGap = 64;

void fillRandomly(std::byte *bytes, size_t size, Random &random) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t value = random.next();
    std::memcpy(bytes + i, &value, std::min<size_t>(8, size - i));
  }
}

Datatype drawType(const Data &data, const Pattern &pattern, int elements, int reach,
                  Random &random) {
  return data.anyShape ? makeDatatype(pattern, elements, reach, random)
                       : makePlain(pattern, elements);
}

} // namespace

Arena::Arena() : memory_(kArenaBytes, false), begin_(kArenaBytes / 4) {}

void Arena::move(Random &random) { begin_ = kArenaBytes / 4 + 16 * random.below(64); }

Memory Arena::around(size_t base, size_t size) const {
  if (base > begin_ || size > kArenaBytes - begin_)
    return Memory(size, false);
  return Memory(memory_.data() + begin_ - base, size);
}

int drawSize(const Data &data, Random random) {
  for (uint64_t turn = 0; turn < data.turn; ++turn)
    random.next();
  if (random.oneIn(5))
    return data.leastCount;
  return random.between(std::max(data.leastCount, std::min(data.mostCount, 1)), data.mostCount);
}

const Pattern &patternOf(const Data &data) { return Random({data.key, 7}).oneOf(patterns()); }

void Side::draw(const Data &data, Layout layout, bool mayOverlap, const std::vector<Draft> &drafts,
                Random &random) {
  bottom = false;
  types.clear();
  counts.assign(drafts.size(), 0);
  displacements.assign(drafts.size(), 0);
  places.assign(drafts.size(), 0);
  if (layout == Layout::AnywhereTyped)
    drawPerSlot(data, drafts, random);
  else
    drawUniform(data, layout, mayOverlap, drafts, random);
  oracleTypes.clear();
  for (const Datatype &type : types)
    oracleTypes.push_back(type.duplicate());
  allocate(random);
}

void Side::place(Datatype type, int count, Random &random) {
  types.clear();
  oracleTypes.clear();
  oracleTypes.push_back(type.duplicate());
  types.push_back(std::move(type));
  counts.assign(1, count);
  displacements.assign(1, 0);
  places.assign(1, 0);
  allocate(random);
}

// One type for all slots.
void Side::drawUniform(const Data &data, Layout layout, bool mayOverlap,
                       const std::vector<Draft> &drafts, Random &random) {
  int perType = random.divisor(data.elements);
  std::vector<size_t> order(drafts.size());
  std::iota(order.begin(), order.end(), 0);
  bool anywhere = layout == Layout::Anywhere;
  bool same = mayOverlap && anywhere && random.oneIn(4);
  if (anywhere)
    random.shuffle(order);
  int end = 0;
  for (size_t slot : order) {
    counts[slot] = drafts[slot].size * (data.elements / perType);
    displacements[slot] = same ? 0 : end + (anywhere ? random.between(0, 2) : 0);
    end = std::max(end, displacements[slot] + counts[slot]);
  }
  types.push_back(drawType(data, patternOf(data), perType, std::max(end, 1), random));
  MPI_Aint extent = boundsOf(types[0].get()).extent;
  if (!lanes.mine.empty()) {
    int lane = (data.mostCount + kLaneGap) * (data.elements / perType);
    laneBytes_ = lane * extent;
    for (size_t slot = 0; slot < drafts.size(); ++slot)
      displacements[slot] = lanes.mine[slot] * lane;
  }
  for (size_t slot = 0; slot < places.size(); ++slot)
    places[slot] = displacements[slot] * extent;
}

void Side::drawPerSlot(const Data &data, const std::vector<Draft> &drafts, Random &random) {
  std::vector<size_t> order(drafts.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  for (size_t slot = 0; slot < drafts.size(); ++slot) {
    int perType = random.divisor(data.elements);
    counts[slot] = drafts[slot].size * (data.elements / perType);
    Random shared = drafts[slot].shared;
    shared.next();
    types.push_back(
        drawType(data, shared.oneOf(patterns()), perType, std::max(counts[slot], 1), random));
  }
  MPI_Aint end = -64;
  for (size_t slot : order) {
    Bounds b = boundsOf(types[slot].get());
    places[slot] = end - b.trueLowerBound / 8 * 8 + 8 * random.below(3);
    end = (places[slot] + b.trueLowerBound + b.extent * counts[slot] + b.trueExtent + 15) / 8 * 8;
  }
}

std::pair<MPI_Aint, MPI_Aint> Side::range(size_t slot) const {
  MPI_Aint begin = static_cast<MPI_Aint>(base) + places[slot];
  if (counts[slot] == 0)
    return {begin, begin};
  Bounds b = boundsOf(oracleType(slot).get());
  return {begin + b.trueLowerBound,
          begin + b.trueLowerBound + b.extent * (counts[slot] - 1) + b.trueExtent};
}

void Side::allocate(Random &random) {
  base = 0;
  MPI_Aint low = 0, high = 0;
  for (size_t slot = 0; slot < places.size(); ++slot) {
    auto [begin, end] = range(slot);
    low = std::min(low, begin);
    high = std::max(high, end);
  }
  if (!lanes.mine.empty())
    high = std::max(high, lanes.all * laneBytes_);
  base = (kMargin - low + 15) / 16 * 16;
  size_t size = base + high + kMargin;
  memory = arena ? arena->around(base - lanes.offset, size) : Memory(size, random.oneIn(4));
}

void Side::fill(Random &random) { fillRandomly(memory.data(), memory.size(), random); }

void Side::useBottom() {
  MPI_Aint address;
  MPI_Get_address(memory.data() + base, &address);
  for (Datatype &type : types) {
    int one = 1;
    MPI_Datatype absolute;
    MPI_Type_create_hindexed(1, &one, &address, type.get(), &absolute);
    type = Datatype::own(absolute);
  }
  bottom = true;
}

SideArguments Side::arguments() const {
  SideArguments given{
      bottom ? MPI_BOTTOM : memory.data() + base, counts, displacements, places, {}};
  for (const Datatype &type : types)
    given.types.push_back(type.get());
  return given;
}

namespace {

std::string describe(const Comparison &c, size_t offset) {
  std::string where = "no slot";
  for (size_t slot = 0; slot < c.side.counts.size(); ++slot) {
    auto [begin, end] = c.side.range(slot);
    if (begin <= static_cast<MPI_Aint>(offset) && static_cast<MPI_Aint>(offset) < end)
      where = "slot " + std::to_string(slot);
  }
  if (c.before[offset] == c.expected[offset])
    where += ", not to be touched";
  char text[160];
  std::snprintf(text, sizeof text,
                "%s: byte %zd of the receive buffer: expected 0x%02x, got 0x%02x", where.c_str(),
                static_cast<ssize_t>(offset - c.side.base),
                std::to_integer<unsigned>(c.expected[offset]),
                std::to_integer<unsigned>(c.side.memory.data()[offset]));
  return text;
}

} // namespace

std::string findDifference(const Comparison &c) {
  const std::byte *got = c.side.memory.data();
  size_t size = c.expected.size();
  if (std::memcmp(got, c.expected.data(), size) == 0)
    return "";
  for (size_t i = 0; i < size; ++i)
    if (got[i] != c.expected[i] && (c.ignored.empty() || !c.ignored[i]))
      return describe(c, i);
  return "";
}

} // namespace conformance
