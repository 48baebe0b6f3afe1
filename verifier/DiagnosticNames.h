/// Ops and bytes as diagnostics name them: `send y[0..8] to 1`, `y[8..16]`, `x[0..8]@2`. Ranges are
/// in elements, counted from the start of the buffer, or of the block that is named.
#pragma once

#include "verifier/Placement.h"

#include <string>

namespace colldsl::proof {

class DiagnosticNames {
public:
  DiagnosticNames(const Model &model, const Placement &placement)
      : model_(model), placement_(placement) {}

  std::string op(Vertex v) const;
  /// Variant of op() with its rank and, if known, its line: `rank 1's recv y[0..8] from 0 (line
  /// 7)`.
  std::string opOfRank(Vertex v) const;
  std::string slice(Rank rank, const Slice &slice) const;
  /// Bytes of a root, under the name of the root.
  std::string bytes(Rank rank, BufferId root, uint64_t begin, uint64_t end) const;
  /// Bytes of a root at entry, under the name of the parameter that holds something there.
  std::string entry(Rank rank, BufferId root, uint64_t begin, uint64_t end) const;
  const std::string &bufferName(Rank rank, BufferId buffer) const;

private:
  std::string slices(Rank rank, std::span<const Slice> all) const;
  std::string payload(Vertex v, std::span<const Slice> all) const;
  std::string range(Rank rank, BufferId buffer, uint64_t begin, uint64_t end) const;

  const Model &model_;
  const Placement &placement_;
};

std::string rankWord(Rank rank);
std::string peerWord(Rank rank);

/// The fault of a slice in words: "leaves its buffer y". Empty for Fault::None.
std::string faultWords(Fault fault, const std::string &buffer);

/// "1 op", "3 ops".
std::string counted(uint64_t count, const char *noun);

/// Joins up to `most` items with ", "; says how many it left out.
std::string listed(const std::vector<std::string> &items, size_t most = 16);

} // namespace colldsl::proof
