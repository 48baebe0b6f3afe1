#include "mscclpp/PlanLayout.h"

#include "ir/Concat.h"
#include "mscclpp/CheckOp.h"

#include <algorithm>

namespace colldsl::mscclpp {
namespace {

constexpr uint64_t kReusedScratchBytes = uint64_t{1} << 26; ///< with reuse_resources
constexpr uint64_t kMostBytes = UINT32_MAX;                 ///< of a buffer: offsets have 32 bits
constexpr uint64_t kMostIterations = UINT16_MAX;

/// The chunks of GPU 0 among which a message is divided.
uint32_t chunksOfMessage(const Plan &plan, uint32_t gpu) {
  const Gpu &g = plan.gpus[gpu];
  return plan.collective == "allgather" ? g.outputChunks : g.inputChunks;
}

uint64_t roundedUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

} // namespace

uint64_t reusedScratchChunkBytes(const Plan &plan, uint32_t scratchChunks) {
  uint64_t room = kReusedScratchBytes >> (plan.doubleScratch ? 1 : 0);
  return roundedUp((room + scratchChunks - 1) / scratchChunks, plan.alignment);
}

std::optional<uint64_t> PlanLayout::nearestBytes(const Plan &plan, uint64_t bytes) {
  uint64_t unit = uint64_t{chunksOfMessage(plan, 0)} * plan.alignment;
  uint64_t most = std::min(plan.maxBytes, UINT64_MAX - unit);
  uint64_t wanted = std::clamp(bytes, std::min(plan.minBytes, most), most);
  uint64_t below = wanted / unit * unit;
  if (below >= plan.minBytes && below > 0)
    return below;
  uint64_t above = roundedUp(std::max<uint64_t>(wanted, 1), unit);
  return above <= most ? std::optional(above) : std::nullopt;
}

Result<PlanLayout> PlanLayout::of(const Plan &plan, uint64_t messageBytes) {
  uint64_t unit = uint64_t{chunksOfMessage(plan, 0)} * plan.alignment;
  if (messageBytes % unit != 0) {
    std::optional<uint64_t> nearest = nearestBytes(plan, messageBytes);
    return Status::error(concat(
        "plan: a message of ", messageBytes, " bytes is no multiple of ", unit,
        " bytes: ", chunksOfMessage(plan, 0), chunksOfMessage(plan, 0) == 1 ? " chunk" : " chunks",
        " of a multiple of buffer_alignment ", plan.alignment,
        nearest ? concat("; ", *nearest, " is near") : std::string("; no length is near")));
  }
  PlanLayout made(plan);
  made.messageBytes_ = messageBytes;
  made.chunkBytes_ = messageBytes / chunksOfMessage(plan, 0);
  if (Status s = made.checkLengths(); !s)
    return s;
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    for (size_t block = 0; block < plan.gpus[gpu].threadBlocks.size(); ++block) {
      const std::vector<Op> &ops = plan.gpus[gpu].threadBlocks[block].ops;
      for (size_t op = 0; op < ops.size(); ++op)
        if (Status s = made.checkOp(ops[op], concat("gpu ", gpu, ", threadblock ", block, ", op ",
                                                    op, " '", spelling(ops[op].kind), "'"));
            !s)
          return s;
    }
  return made;
}

Status PlanLayout::checkLengths() const {
  if (chunkBytes_ > kMostBytes)
    return Status::error(concat("plan: a message of ", messageBytes_, " bytes has chunks of ",
                                chunkBytes_, ", the executor counts up to ", kMostBytes));
  for (uint32_t gpu = 0; gpu < plan_->numGpus(); ++gpu) {
    uint64_t message = chunkBytes_ * chunksOfMessage(*plan_, gpu);
    if (message < plan_->minBytes || message > plan_->maxBytes)
      return Status::error(concat("plan: a message of ", message, " bytes, the plan is for ",
                                  plan_->minBytes, " to ", plan_->maxBytes));
    for (Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch})
      if (uint64_t bytes = bufferBytes(gpu, buffer); bytes > kMostBytes)
        return Status::error(concat("plan: gpu ", gpu, " has ", bytes, " bytes of ",
                                    spelling(buffer), ", the executor counts up to ", kMostBytes));
  }
  return {};
}

uint64_t PlanLayout::bufferBytes(uint32_t gpu, Buffer buffer) const {
  uint64_t bytes = chunkBytes_ * plan_->chunks(gpu, buffer);
  if (buffer != Buffer::Scratch)
    return bytes;
  if (plan_->reusesResources && plan_->gpus[gpu].scratchChunks > 0)
    return kReusedScratchBytes;
  return bytes * (plan_->usesPackets ? 2 : 1) * (plan_->doubleScratch ? 2 : 1);
}

bool PlanLayout::reusesScratch(uint32_t gpu) const {
  return plan_->reusesResources && plan_->gpus[gpu].scratchChunks > 0;
}

/// The begin of a part of so many bytes, in units of the alignment.
uint64_t PlanLayout::boundary(uint64_t bytes, uint32_t slice, uint32_t slices) const {
  uint64_t units = bytes / plan_->alignment;
  return (slice * (units / slices) + std::min<uint64_t>(slice, units % slices)) * plan_->alignment;
}

Piece PlanLayout::piece(const Op &op, const ChunkRange &range, uint32_t gpu,
                        const Unit &unit) const {
  uint64_t chunk = chunkBytes_, wrap = ~0ULL;
  if (range.buffer == Buffer::Scratch && reusesScratch(gpu)) {
    uint64_t reused = reusedScratchChunkBytes(*plan_, plan_->gpus[gpu].scratchChunks);
    chunk = reused < chunkBytes_ ? reused : chunk;
    wrap = reused;
  }
  uint64_t all = chunkBytes_ * range.size;
  uint64_t begin = boundary(all, op.slice, op.slices);
  Piece piece{chunk * range.index + begin, boundary(all, op.slice + 1, op.slices) - begin};
  if (unit.isWhole())
    return piece;
  piece.length = std::min(piece.length - std::min(unit.begin, piece.length), unit.length);
  piece.offset += wrap == ~0ULL ? unit.begin : unit.begin % wrap;
  return piece;
}

uint64_t PlanLayout::numIterations(const Op &pipeline) const {
  return (chunkBytes_ * pipeline.numChunks + pipeline.unitBytes - 1) / pipeline.unitBytes;
}

Status PlanLayout::checkOp(const Op &op, const std::string &place) const {
  if (op.kind != OpKind::Pipeline)
    return checkRanges(op, Unit(), place);
  uint64_t iterations = numIterations(op);
  if (iterations > kMostIterations)
    return Status::error(concat("plan: ", place, " has ", iterations,
                                " iterations, the executor counts up to ", kMostIterations));
  for (const Op &member : op.members)
    for (uint64_t i = 0; i < iterations; ++i)
      if (Status s = checkRanges(member, unitOf(op, i), place); !s)
        return s;
  return {};
}

Status PlanLayout::checkRanges(const Op &op, const Unit &unit, const std::string &place) const {
  for (const std::vector<ChunkRange> *list : {&op.sources, &op.destinations})
    for (size_t i = 0; i < list->size(); ++i)
      for (uint32_t gpu : (*list)[i].gpus) {
        const ChunkRange &range = (*list)[i];
        uint64_t factor = isPacketRange(op, list == &op.sources, i) ? 2 : 1;
        uint64_t room = bufferBytes(gpu, range.buffer);
        if (range.buffer == Buffer::Scratch && plan_->doubleScratch)
          room /= 2;
        Piece bytes = piece(op, range, gpu, unit);
        if (uint64_t end = factor * (bytes.offset + bytes.length); bytes.length > 0 && end > room)
          return Status::error(concat("plan: ", place, " reaches byte ", end, " of gpu ", gpu,
                                      "'s ", spelling(range.buffer), " of ", room));
      }
  return {};
}

} // namespace colldsl::mscclpp
