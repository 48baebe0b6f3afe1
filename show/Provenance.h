/// The contents of buffers after a round, and promises that are broken in the end. The verifier's
/// symbolic run, up to that round, computes them.
#pragma once

#include "show/Document.h"

namespace colldsl::show {

/// The origin of bytes: they were at `shift` behind their present place in a buffer of a rank, at
/// entry.
struct Origin {
  uint32_t rank = 0;
  uint32_t buffer = 0; ///< root
  int64_t shift = 0;
  auto operator<=>(const Origin &) const = default;
};

/// Bytes [begin, end) of a buffer.
struct HeldBytes {
  uint64_t begin = 0, end = 0;
  std::vector<Origin> origins; ///< combined; ascending; empty: nothing was written
  bool isNew = false;          ///< written in this round
};

struct BrokenPromise {
  uint32_t rank = 0;
  uint64_t begin = 0, end = 0; ///< of the buffer
};

class Provenance {
public:
  /// `shown` can be traced: whyNotTraced() returns "".
  explicit Provenance(const ShownSchedule &shown);
  ~Provenance();

  /// A parameter that is no part of another one.
  struct Parameter {
    std::string name;
    uint32_t buffer = 0;
    bool isResult = false;
  };
  /// The parameters of rank 0, which has all of them; results first.
  const std::vector<Parameter> &parameters() const { return parameters_; }
  uint64_t bytesOf(uint32_t rank, uint32_t buffer) const;

  /// The contents per rank, after the ops up to a round. An error: so many ops read unwritten bytes
  /// that the verifier's run ends before the round.
  Result<std::vector<std::vector<HeldBytes>>> held(uint32_t buffer, uint32_t round);
  /// The broken promises about a buffer at the end of the schedule.
  std::vector<BrokenPromise> broken(uint32_t buffer);

private:
  class Run;

  const ShownSchedule &shown_;
  std::unique_ptr<Run> run_;
  std::vector<Parameter> parameters_;
};

} // namespace colldsl::show
