#include "mscclpp/PlanMemory.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::mscclpp {

constexpr uint64_t kMostCells = 1 << 20;

Result<Memory> Memory::of(const Plan &plan, CellCounts counts) {
  Memory made;
  made.counts_ = counts;
  made.scratchStride_ = std::min(counts.perChunk, counts.perScratchChunk);
  made.bases_.resize(plan.numGpus());
  uint64_t cells = 0;
  for (const Gpu &gpu : plan.gpus)
    cells += (uint64_t{gpu.inputChunks} + gpu.outputChunks + uint64_t{4} * gpu.scratchChunks) *
             counts.perChunk;
  if (cells > kMostCells)
    return Status::error(concat("plan: it has ", cells, " parts of chunks, plans with up to ",
                                kMostCells, " are proved"));
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    if (Status s = made.place(plan, gpu); !s)
      return s;
  return made;
}

uint32_t Memory::add(uint32_t gpu, Buffer buffer, bool packets, uint32_t half, uint32_t chunks,
                     uint32_t perChunk) {
  parts_.push_back({gpu, buffer, packets, half, size_, chunks * perChunk, perChunk});
  size_ += chunks * perChunk;
  return parts_.back().first;
}

// In place the smaller of the two buffers lies in the larger one, as NCCL's and MPI's users place
// it.
Status Memory::place(const Plan &plan, uint32_t gpu) {
  const Gpu &g = plan.gpus[gpu];
  Bases &to = bases_[gpu];
  uint32_t n = counts_.perChunk;
  if (!plan.inPlace || g.inputChunks >= g.outputChunks)
    to.input = add(gpu, Buffer::Input, false, 0, g.inputChunks, n);
  if (!plan.inPlace || g.inputChunks < g.outputChunks)
    to.output = add(gpu, Buffer::Output, false, 0, g.outputChunks, n);
  if (plan.inPlace && g.inputChunks != g.outputChunks) {
    uint32_t small = std::min(g.inputChunks, g.outputChunks),
             large = std::max(g.inputChunks, g.outputChunks);
    if (uint64_t{small} * plan.numGpus() != large)
      return Status::error(concat("plan: gpu ", gpu, " works in place with ", g.inputChunks,
                                  " chunks of input and ", g.outputChunks, " of output for ",
                                  plan.numGpus(),
                                  " GPUs: the plan does not say where one lies in the other"));
    (g.inputChunks < g.outputChunks ? to.input : to.output) =
        (g.inputChunks < g.outputChunks ? to.output : to.input) + gpu * small * n;
  } else if (plan.inPlace) {
    to.output = to.input;
  }
  for (uint32_t half = 0; half < (plan.doubleScratch ? 2U : 1U); ++half) {
    to.scratch[half] = add(gpu, Buffer::Scratch, false, half, g.scratchChunks, scratchStride_);
    to.packets[half] = add(gpu, Buffer::Scratch, true, half, g.scratchChunks, scratchStride_);
  }
  return {};
}

Location Memory::cell(uint32_t gpu, Buffer buffer, uint32_t chunk, uint32_t offset,
                      uint32_t half) const {
  const Bases &from = bases_[gpu];
  switch (buffer) {
  case Buffer::Input:
    return from.input + chunk * counts_.perChunk + offset;
  case Buffer::Output:
    return from.output + chunk * counts_.perChunk + offset;
  case Buffer::Scratch:
    return from.scratch[half] + chunk * scratchStride_ + offset;
  }
  return 0;
}

Location Memory::packet(uint32_t gpu, uint32_t chunk, uint32_t offset, uint32_t half) const {
  return bases_[gpu].packets[half] + chunk * scratchStride_ + offset;
}

Location Memory::wrapped(uint32_t gpu, Buffer buffer, uint32_t chunk, uint32_t offset,
                         uint32_t half) const {
  bool wraps = buffer == Buffer::Scratch && counts_.perScratchChunk != ~0U;
  return cell(gpu, buffer, chunk, wraps ? offset % counts_.perScratchChunk : offset, half);
}

/// Null: there is no such location.
const Memory::Part *Memory::partOf(Location location) const {
  auto isBehind = [](Location at, const Part &part) { return at < part.first; };
  auto next = std::upper_bound(parts_.begin(), parts_.end(), location, isBehind);
  while (next != parts_.begin())
    if ((--next)->count > 0)
      return location - next->first < next->count ? &*next : nullptr;
  return nullptr;
}

uint32_t Memory::gpuOf(Location location) const { return partOf(location)->gpu; }

std::string Memory::describe(Location location) const {
  const Part *part = partOf(location);
  if (!part)
    return "no buffer";
  uint32_t chunk = (location - part->first) / part->perChunk,
           offset = (location - part->first) % part->perChunk;
  std::string text = concat("gpu ", part->gpu, " ", part->packets ? "packets of " : "",
                            spelling(part->buffer), "[", chunk, "]");
  if (part->perChunk > 1)
    text += concat(", part ", offset, " of ", part->perChunk);
  return part->half ? text + " in the second half" : text;
}

} // namespace colldsl::mscclpp
