#include "verifier/Checks.h"

#include <algorithm>
#include <utility>

namespace colldsl::proof {
namespace {

class TailCheck {
public:
  TailCheck(const Model &model, const Placement &placement, State &state,
            const DiagnosticNames &names, Failures &failures)
      : model_(model), placement_(placement), state_(state), names_(names), failures_(failures) {}

  /// A parameter that lies in another one is looked at there.
  void check(Rank rank, BufferId id) {
    const Buffer &buffer = model_.dag(rank).buffers[index(id)];
    bool isLookedAt = buffer.layout == Layout::Capacity && buffer.role != BufferRole::Temp &&
                      buffer.significant && buffer.aliasOf == kNoBuffer;
    for (uint32_t i = 0; isLookedAt && i < buffer.blocks && !failures_.full(); ++i) {
      Slice block;
      block.endScale = 1;
      block.buffer = id;
      block.block = i;
      check(rank, block);
    }
  }

private:
  void check(Rank rank, const Slice &block) {
    Area tail = placement_.locate(rank, block);
    if (tail.fault != Fault::None)
      return;
    uint64_t elementBytes = sizeBytes(model_.dag(rank).bufferOf(block).type);
    tail.begin += state_.blockElements(rank, block).value_or(Length()).units * elementBytes;
    if (model_.lengths() && state_.hadOtherLengths(rank, block) && !isClobbered(rank, block))
      state_.holdForTheseLengthsOnly(rankWord(rank) + ": data of several lengths is put to " +
                                     names_.slice(rank, block));
    bool isReported = false;
    state_.visit(rank, tail, [&](uint64_t begin, uint64_t end, const Held *held) {
      if (held && exists(held->writer) && !isClobbered(rank, block) &&
          !std::exchange(isReported, true))
        report(rank, block, held->writer, names_.bytes(rank, tail.root, begin, end));
    });
  }

  /// True for a block that may hold anything at exit.
  bool isClobbered(Rank rank, const Slice &block) const {
    const std::vector<Ensure> &ensures = model_.dag(rank).contract.ensures;
    return std::any_of(ensures.begin(), ensures.end(), [&](const Ensure &e) {
      return e.operandCount == 0 && !e.isReduction && e.target.buffer == block.buffer &&
             e.target.block == block.block;
    });
  }

  void report(Rank rank, const Slice &block, Vertex writer, const std::string &where) {
    failures_.add({Proof::Writes,
                   names_.opOfRank(writer) + " writes " + where + ", beyond the length that " +
                       names_.slice(rank, block) + " has in the end",
                   {failures_.step(writer, names_.op(writer))}});
  }

  const Model &model_;
  const Placement &placement_;
  State &state_;
  const DiagnosticNames &names_;
  Failures &failures_;
};

} // namespace

void checkBlockTails(const Model &model, const Placement &placement, State &state,
                     const DiagnosticNames &names, Failures &failures) {
  TailCheck tails(model, placement, state, names, failures);
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    for (uint32_t b = 0; b < model.dag(Rank{r}).buffers.size() && !failures.full(); ++b)
      tails.check(Rank{r}, BufferId{b});
}

} // namespace colldsl::proof
