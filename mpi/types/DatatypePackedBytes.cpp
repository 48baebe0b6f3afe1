// Moving the bytes of a layout: between an array of elements and its packed form.
//
// A range of packed bytes is the end of a run, whole runs, and the beginning of a run. Whole runs
// go through a loop without a branch per byte: over places a stride apart where the layout is
// regular, over the list of runs otherwise; runs of 4, 8 and 16 bytes are moved by one load and
// one store each.
#include "mpi/types/Datatype.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace colldsl::mpi {
namespace {

enum class Way { Pack, Unpack };

template <Way way> inline void move(std::byte *memory, std::byte *packed, size_t bytes) {
  std::memcpy(way == Way::Pack ? packed : memory, way == Way::Pack ? memory : packed, bytes);
}

constexpr size_t kShort = 32;

/// Moves short runs without a call: two overlapping moves if the length is not a power of two.
template <Way way> inline void moveShort(std::byte *memory, std::byte *packed, size_t bytes) {
  auto byTwo = [&](auto half) {
    move<way>(memory, packed, half);
    move<way>(memory + bytes - half, packed + bytes - half, half);
  };
  if (bytes > kShort || bytes < 4)
    move<way>(memory, packed, bytes);
  else if (bytes == 8)
    move<way>(memory, packed, 8);
  else if (bytes > 16)
    byTwo(std::integral_constant<size_t, 16>());
  else if (bytes > 8)
    byTwo(std::integral_constant<size_t, 8>());
  else
    byTwo(std::integral_constant<size_t, 4>());
}

/// Whole runs of one length. `runAt(r)` is the address of run r; called one after the other.
template <Way way, size_t length, typename RunAt>
std::byte *moveEqual(RunAt runAt, uint64_t begin, uint64_t end, std::byte *packed) {
#pragma GCC unroll 8
  for (uint64_t r = begin; r < end; ++r, packed += length)
    move<way>(runAt(r), packed, length);
  return packed;
}

template <Way way, typename RunAt>
std::byte *moveEqual(RunAt runAt, uint64_t begin, uint64_t end, uint64_t length,
                     std::byte *packed) {
  switch (length) {
  case 4:
    return moveEqual<way, 4>(runAt, begin, end, packed);
  case 8:
    return moveEqual<way, 8>(runAt, begin, end, packed);
  case 16:
    return moveEqual<way, 16>(runAt, begin, end, packed);
  }
  if (length > kShort)
    for (uint64_t r = begin; r < end; ++r, packed += length)
      move<way>(runAt(r), packed, length);
  else
    for (uint64_t r = begin; r < end; ++r, packed += length)
      moveShort<way>(runAt(r), packed, length);
  return packed;
}

/// Runs at equal distances, including those of further elements if the stride continues there.
struct RegularRuns {
  std::byte *first;
  MPI_Aint stride;
  uint64_t runLength;

  std::byte *at(uint64_t run) const { return moved(first, static_cast<MPI_Aint>(run) * stride); }
  uint64_t length(uint64_t) const { return runLength; }
  template <Way way> std::byte *moveWhole(uint64_t begin, uint64_t end, std::byte *packed) const {
    auto next = [run = at(begin), by = stride](uint64_t) mutable {
      return std::exchange(run, moved(run, by));
    };
    return moveEqual<way>(next, begin, end, runLength, packed);
  }
};

struct ListedRuns {
  std::byte *element;
  const TypeLayout &layout;

  std::byte *at(uint64_t run) const { return moved(element, layout.runs[run].offset); }
  uint64_t length(uint64_t run) const { return layout.runs[run].length; }
  template <Way way> std::byte *moveWhole(uint64_t begin, uint64_t end, std::byte *packed) const {
    if (layout.runLength)
      return moveEqual<way>([this](uint64_t r) { return at(r); }, begin, end, layout.runLength,
                            packed);
    for (uint64_t r = begin; r < end; packed += length(r), ++r)
      moveShort<way>(at(r), packed, length(r));
    return packed;
  }
};

/// The place of a packed byte: its element, the run in that, the offset in the run.
struct BytePlace {
  uint64_t element;
  uint64_t run;
  uint64_t byte;
};

BytePlace locate(const TypeLayout &layout, uint64_t packedByte) {
  uint64_t within = packedByte % layout.size;
  BytePlace place{packedByte / layout.size, 0, 0};
  if (layout.runLength) {
    place.run = within / layout.runLength;
    place.byte = within % layout.runLength;
  } else {
    const std::vector<uint64_t> &starts = layout.starts;
    auto after = std::upper_bound(starts.begin(), starts.end(), within);
    place.run = after - starts.begin() - 1;
    place.byte = within - starts[place.run];
  }
  return place;
}

/// From byte `skip` of run `begin` up to byte `tail` of run `end`.
template <Way way, typename Runs>
std::byte *moveRuns(const Runs &runs, uint64_t begin, uint64_t skip, uint64_t end, uint64_t tail,
                    std::byte *packed) {
  auto movePart = [&](uint64_t run, uint64_t from, uint64_t to) {
    move<way>(runs.at(run) + from, packed, to - from);
    packed += to - from;
  };
  if (begin == end) {
    movePart(begin, skip, tail);
    return packed;
  }
  if (skip) {
    movePart(begin, skip, runs.length(begin));
    ++begin;
  }
  packed = runs.template moveWhole<way>(begin, end, packed);
  if (tail)
    movePart(end, 0, tail);
  return packed;
}

/// True if all runs of an array are one stride apart, across elements too.
bool goesOn(const TypeLayout &layout) {
  return layout.stride &&
         layout.extent == layout.stride * static_cast<MPI_Aint>(layout.runs.size());
}

template <Way way>
void transfer(const TypeLayout &layout, const void *buffer, uint64_t from, uint64_t to,
              std::byte *packed) {
  assert(from <= to);
  if (from == to)
    return;
  std::byte *first = moved(buffer, layout.runs[0].offset);
  uint64_t length = layout.runLength;
  if (layout.stride && static_cast<uint64_t>(layout.stride) == length)
    return move<way>(first + from, packed, to - from);
  if (goesOn(layout)) {
    moveRuns<way>(RegularRuns{first, layout.stride, length}, from / length, from % length,
                  to / length, to % length, packed);
    return;
  }
  BytePlace begin = locate(layout, from), end = locate(layout, to);
  for (uint64_t e = begin.element; e <= end.element; ++e) {
    bool isFirst = e == begin.element, isLast = e == end.element;
    uint64_t run = isFirst ? begin.run : 0, skip = isFirst ? begin.byte : 0;
    uint64_t lastRun = isLast ? end.run : layout.runs.size(), tail = isLast ? end.byte : 0;
    MPI_Aint offset = static_cast<MPI_Aint>(e) * layout.extent;
    packed = layout.stride ? moveRuns<way>(RegularRuns{moved(first, offset), layout.stride, length},
                                           run, skip, lastRun, tail, packed)
                           : moveRuns<way>(ListedRuns{moved(buffer, offset), layout}, run, skip,
                                           lastRun, tail, packed);
  }
}

} // namespace

void listBytes(const TypeLayout &layout, const void *buffer, uint64_t count,
               std::vector<iovec> &pieces) {
  size_t own = pieces.size(); // pieces of other lists stay separate
  auto add = [&](std::byte *begin, uint64_t length) {
    iovec *last = pieces.size() > own ? &pieces.back() : nullptr;
    if (last && static_cast<std::byte *>(last->iov_base) + last->iov_len == begin)
      last->iov_len += length;
    else
      pieces.push_back({begin, length});
  };
  if (layout.runs.empty() || count == 0)
    return;
  if (layout.runs.size() == 1 && layout.runs[0].length == static_cast<uint64_t>(layout.extent))
    return add(moved(buffer, layout.runs[0].offset), count * layout.size);
  for (uint64_t e = 0; e < count; ++e)
    for (const Run &run : layout.runs)
      add(moved(buffer, static_cast<MPI_Aint>(e) * layout.extent + run.offset), run.length);
}

void pack(const TypeLayout &layout, const void *buffer, uint64_t from, uint64_t to, void *packed) {
  transfer<Way::Pack>(layout, buffer, from, to, static_cast<std::byte *>(packed));
}

void unpack(const TypeLayout &layout, void *buffer, uint64_t from, uint64_t to,
            const void *packed) {
  transfer<Way::Unpack>(layout, buffer, from, to,
                        static_cast<std::byte *>(const_cast<void *>(packed)));
}

} // namespace colldsl::mpi
