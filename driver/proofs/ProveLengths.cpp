#include "driver/proofs/ProveLengths.h"

#include "driver/schedule/BlockSizes.h"
#include "verifier/BlockLengths.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

constexpr uint32_t kRandomLengths = 3;
/// The greatest number of lengths to try at 0 alone, and above 0 alone; if there are more, they are
/// chosen evenly.
constexpr uint32_t kMostAlone = 32;

class LengthProver {
public:
  LengthProver(const Schedule &schedule, uint64_t elements, uint64_t seed,
               const proof::VerifyOptions &options)
      : schedule_(schedule), elements_(elements), seed_(seed), options_(options) {}

  Result<LengthProofs> run() {
    if (Status s = proveRandom(seed_); !s)
      return s;
    if (!schedule_.hasCallTimeBlocks() || !isProved())
      return std::move(proofs_);
    Result<proof::BlockLengths> blocks = proof::BlockLengths::of(schedule_, elements_);
    if (!blocks)
      return blocks.status();
    proof::VerifyReport all = proof::verifyAllLengths(schedule_, elements_, options_);
    bool isUndecided = !all.undecided.empty() && all.failures.empty();
    proofs_.lengths = isUndecided ? LengthProofs::Lengths::Some : LengthProofs::Lengths::All;
    if (!isUndecided)
      add(std::move(all), blocks->sizes(blocks->nonEmpty()));
    else if (Status s = proveSome(*blocks); !s)
      return s;
    return std::move(proofs_);
  }

private:
  bool isProved() const { return proofs_.report.failures.empty(); }

  Status proveRandom(uint64_t seed) {
    Result<std::vector<Sizes>> sizes = chooseSizes(schedule_, elements_, seed);
    if (!sizes)
      return sizes.status();
    prove(sizes.take());
    return {};
  }

  void prove(std::vector<Sizes> sizes) {
    if (!isProved())
      return;
    proof::VerifyReport report = proof::verify(schedule_, sizes, options_);
    add(std::move(report), std::move(sizes));
  }

  void add(proof::VerifyReport report, std::vector<Sizes> sizes) {
    std::vector<SourceLoc> compared = std::move(proofs_.report.compared);
    for (const SourceLoc &loc : report.compared)
      if (!llvm::is_contained(compared, loc))
        compared.push_back(loc);
    proofs_.report = std::move(report);
    proofs_.report.compared = std::move(compared);
    proofs_.sizes = std::move(sizes);
  }

  Status proveSome(const proof::BlockLengths &blocks) {
    std::vector<uint64_t> full = blocks.nonEmpty(), none(full.size(), 0);
    prove(blocks.sizes(none));
    prove(blocks.sizes(full));
    uint32_t count = blocks.count(), step = std::max(1u, count / kMostAlone);
    for (uint32_t i = 0; i < count; i += step) {
      std::vector<uint64_t> without = full, alone = none;
      without[i] = 0;
      alone[i] = full[i];
      prove(blocks.sizes(without));
      prove(blocks.sizes(alone));
    }
    for (uint32_t i = 1; i < kRandomLengths; ++i)
      if (Status s = proveRandom(seed_ + i); !s)
        return s;
    return {};
  }

  const Schedule &schedule_;
  uint64_t elements_, seed_;
  const proof::VerifyOptions &options_;
  LengthProofs proofs_;
};

} // namespace

Result<LengthProofs> proveLengths(const Schedule &schedule, uint64_t elements, uint64_t seed,
                                  const proof::VerifyOptions &options) {
  return LengthProver(schedule, elements, seed, options).run();
}

} // namespace colldsl::driver
