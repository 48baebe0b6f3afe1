#include "verifier/Checks.h"

#include <algorithm>
#include <utility>

namespace colldsl::proof {
namespace {

class TailCheck : Check {
public:
  TailCheck(const Check &check, State &state) : Check(check), state_(state) {}

  void run() {
    for (uint32_t r = 0; r < model_.numRanks(); ++r)
      for (uint32_t b = 0; b < model_.dag(Rank{r}).buffers.size() && !failures_.full(); ++b)
        check(Rank{r}, BufferId{b});
  }

private:
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
        failAt(Proof::Writes, held->writer,
               " writes " + names_.bytes(rank, tail.root, begin, end) +
                   ", beyond the length that " + names_.slice(rank, block) + " has in the end");
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

  State &state_;
};

} // namespace

void checkBlockTails(const Check &check, State &state) { TailCheck(check, state).run(); }

} // namespace colldsl::proof
