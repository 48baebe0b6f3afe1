/// Small schedules, built by hand, and their images.
#pragma once

#include "ir/Image.h"

#include <memory>

namespace colldsl::test {

/// Builds a schedule rank by rank. Buffers are the same on all ranks; their sizes, and
/// the slices', are in blocks of n elements.
class Builder {
public:
  explicit Builder(uint32_t numRanks, ElementType type = ElementType::I32);

  BufferId buffer(BufferRole role, uint32_t blocks);
  Slice block(BufferId buffer, uint32_t i) const { return blocks(buffer, i, i + 1); }
  Slice blocks(BufferId buffer, uint32_t begin, uint32_t end) const;

  /// Messages are numbered per pair of ranks, in the order of the calls.
  OpId send(Rank at, Rank to, std::vector<Slice> sources, std::vector<Dep> deps = {});
  OpId recv(Rank at, Rank from, std::vector<Slice> targets, std::vector<Dep> deps = {});
  OpId signal(Rank at, Rank to, std::vector<Dep> deps = {});
  OpId wait(Rank at, Rank from, std::vector<Dep> deps = {});
  OpId copy(Rank at, std::vector<Slice> from, std::vector<Slice> to, std::vector<Dep> deps = {});
  OpId combine(Rank at, Slice from, Slice to, Reduction reduction, Side side,
               std::vector<Dep> deps = {});
  OpId calc(Rank at, uint64_t ns, std::vector<Dep> deps = {});

  Schedule schedule;

private:
  OpId message(OpKind kind, Rank at, Rank peer, std::vector<Slice> slices, std::vector<Dep> deps);

  ElementType type_;
  std::vector<uint32_t> sent_, received_; ///< per pair of ranks
};

inline Dep after(OpId op) { return {op, DepKind::Requires}; }
inline Dep afterStartOf(OpId op) { return {op, DepKind::IRequires}; }

/// An image and its bytes.
class LoadedImage {
public:
  explicit LoadedImage(const Schedule &schedule);
  const Image &operator*() const { return *image_; }
  const Image *operator->() const { return &*image_; }

private:
  struct FreeAligned {
    void operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], FreeAligned> bytes_;
  std::optional<Image> image_;
};

/// y[r] == x@r: the ring of the tutorial. Buffers: in x: T[n], out y: T[P][n].
Schedule ringAllgather(uint32_t numRanks);

/// No rank finishes before all have started. No buffers.
Schedule disseminationBarrier(uint32_t numRanks);

/// y == x@0 op x@1 op ... in this order, at rank P - 1. Buffers: in x: T[n], out y: T[n].
Schedule reduceChain(uint32_t numRanks, Reduction reduction, ElementType type = ElementType::I32);

/// buf == buf@0, sent by rank 0 to each. Buffers: inout buf: T[n].
Schedule flatBroadcast(uint32_t numRanks);

/// Ranks 0 and 1 send to each other. Buffers: in x: T[n], out y: T[n].
Schedule exchange();

/// The rank that is `distance` to the right of r, going round.
inline Rank rightOf(Rank r, uint32_t distance, uint32_t numRanks) {
  return Rank{(index(r) + distance) % numRanks};
}

} // namespace colldsl::test
