#include "verifier/ProvedSizes.h"

#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <numeric>

namespace colldsl::proof {
namespace {

/// The most remainders that are proved; each costs three proofs or more.
constexpr uint64_t kMaxRemainders = 4096;
/// Proofs of other decisions, one behind the other.
constexpr uint32_t kMaxProofs = 16;
/// Bytes of a buffer at the largest size at which anything is proved. What a coefficient may be is
/// so much smaller that no two positions change places beyond.
constexpr uint64_t kMaxBytes = uint64_t{1} << 60;

/// Positions are linear in n among the sizes of one remainder by this. 0: too many.
uint64_t periodOf(const Schedule &schedule) {
  uint64_t period = 1, least = UINT64_MAX, most = 1;
  auto divideBy = [&](uint64_t denominator) {
    if (period != 0 && denominator != 0)
      period = std::lcm(period, denominator);
    if (period > kMaxRemainders)
      period = 0;
  };
  for (const Dag &dag : schedule.ranks) {
    for (const Slice &slice : dag.slices) // of ops and aliases
      divideBy(slice.denominator);
    for (const Ensure &ensure : dag.contract.ensures)
      divideBy(ensure.target.denominator);
    for (const EntryValue &operand : dag.contract.operands)
      divideBy(operand.slice.denominator);
    for (const Buffer &buffer : dag.buffers) {
      divideBy(buffer.denominator);
      least = std::min<uint64_t>(least, sizeBytes(buffer.type));
      most = std::max<uint64_t>(most, sizeBytes(buffer.type));
    }
    for (const Op &op : dag.ops)
      if (op.kind == OpKind::Combine) {
        least = std::min<uint64_t>(least, sizeBytes(op.type));
        most = std::max<uint64_t>(most, sizeBytes(op.type));
      }
  }
  if (least < most) // where the elements of one type begin in the bytes of another one
    divideBy(period * (most / least));
  return period;
}

/// A size at which no number overflows.
uint64_t largestSize(const Schedule &schedule) {
  uint64_t scale = 1;
  for (const Dag &dag : schedule.ranks)
    for (const Buffer &buffer : dag.buffers) {
      uint64_t elements = std::abs(buffer.endScale) + std::abs(buffer.originScale) + 1;
      scale = std::max(scale, elements * sizeBytes(buffer.type));
    }
  return kMaxBytes / scale;
}

class Prover {
public:
  Prover(const Schedule &schedule, uint64_t period, const VerifyOptions &options)
      : schedule_(schedule), period_(period), options_(options),
        hasCallTimeBlocks_(schedule.hasCallTimeBlocks()) {
    options_.maxFailures = 1;
    range_ = schedule.sizeClass;
    last_ = std::min(range_.max, std::max(range_.elements, largestSize(schedule)));
    begin_ = range_.min;
  }

  std::optional<ProvedDomain> run() {
    uint64_t n = range_.elements;
    VerifyReport report = reportAt(n);
    if (!report.undecided.empty() && report.failures.empty())
      return ProvedDomain{{n, n, n}, report.undecided};
    if (!report.proved())
      return std::nullopt;
    for (uint64_t r = 0; r < period_; ++r)
      addNearest(r);
    SizeClass result = range_;
    result.min = begin_;
    result.max = last_ == std::min(range_.max, largestSize(schedule_)) ? range_.max : last_;
    return ProvedDomain{result, ""};
  }

private:
  VerifyReport reportAt(uint64_t n) const {
    if (hasCallTimeBlocks_)
      return verifyAllLengths(schedule_, n, options_);
    Sizes sizes;
    sizes.elements = n;
    return verify(schedule_, {sizes}, options_);
  }

  /// The hash of the decisions that the proof at n makes; nothing if it fails.
  std::optional<uint64_t> decisionsAt(uint64_t n) const {
    Decisions decisions;
    if (!reportAt(n).proved())
      return std::nullopt;
    return decisions.hash();
  }

  /// Proves at n + r, or else at n + r - period, and from there at the other sizes of this
  /// remainder that are left.
  void addNearest(uint64_t r) {
    uint64_t n = range_.elements;
    if (r <= last_ - n && extend(n + r))
      return;
    uint64_t below = period_ - r;
    if (n >= begin_ && below <= n - begin_)
      extend(n - below);
  }

  /// False: the proof at `from` fails; then [begin_, last_] is cut off there, and the caller must
  /// try the other side of range_.elements.
  bool extend(uint64_t from) {
    std::optional<uint64_t> decisions = decisionsAt(from);
    if (!decisions) {
      cutOff(from);
      return false;
    }
    uint64_t most = (last_ - from) / period_;
    if (uint64_t up = stepsProved(from, *decisions, most, true); up < most)
      last_ = std::min(last_, from + (up + 1) * period_ - 1);
    most = (from - begin_) / period_;
    if (uint64_t down = stepsProved(from, *decisions, most, false); down < most)
      begin_ = std::max(begin_, from - (down + 1) * period_ + 1);
    return true;
  }

  void cutOff(uint64_t at) {
    if (at > range_.elements)
      last_ = at - 1;
    else
      begin_ = at + 1;
  }

  /// The number of periods, `most` at most, over which all sizes are proved. After a size that
  /// decides otherwise the proof starts again there, kMaxProofs times at most.
  uint64_t stepsProved(uint64_t from, uint64_t decisions, uint64_t most, bool isUp) const {
    auto at = [&](uint64_t steps) {
      return isUp ? from + steps * period_ : from - steps * period_;
    };
    uint64_t steps = 0;
    for (uint32_t anew = 0; anew < kMaxProofs; ++anew) {
      auto isAlike = [&](uint64_t more) { return decisionsAt(at(more)) == decisions; };
      steps = lastAlike(steps, most, isAlike);
      std::optional<uint64_t> next = steps < most ? decisionsAt(at(steps + 1)) : std::nullopt;
      if (!next)
        return steps;
      decisions = *next;
      ++steps;
    }
    return steps - 1;
  }

  /// Bisects for the last of `fine`, ... `most` up to which isAlike holds.
  template <typename IsAlike>
  static uint64_t lastAlike(uint64_t fine, uint64_t most, IsAlike isAlike) {
    if (fine == most || isAlike(most))
      return most;
    for (uint64_t wrong = most; wrong - fine > 1;) {
      uint64_t middle = fine + (wrong - fine) / 2;
      (isAlike(middle) ? fine : wrong) = middle;
    }
    return fine;
  }

  const Schedule &schedule_;
  uint64_t period_;
  VerifyOptions options_;
  bool hasCallTimeBlocks_;
  SizeClass range_;
  uint64_t begin_ = 0, last_ = 0; ///< the sizes that are left
};

} // namespace

std::optional<ProvedDomain> provedSizes(const Schedule &schedule, const VerifyOptions &options,
                                        uint64_t mostOps) {
  uint64_t period = periodOf(schedule);
  if (period == 0 || period * schedule.numOps() > mostOps) {
    Schedule alone = schedule;
    uint64_t n = schedule.sizeClass.elements;
    alone.sizeClass = {n, n, n};
    return Prover(alone, 1, options).run();
  }
  return Prover(schedule, period, options).run();
}

} // namespace colldsl::proof
