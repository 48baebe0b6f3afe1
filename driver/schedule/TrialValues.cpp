#include "driver/schedule/TrialValues.h"

namespace colldsl::driver {
namespace {

/// A ring and, if the number of ranks allows it, a torus of two dimensions.
/// Example: 12 ranks: torus([12]), torus([3, 4]).
std::vector<std::string> toruses(uint32_t ranks) {
  std::vector<std::string> texts{"torus([ranks])"};
  uint32_t rows = 1;
  for (uint32_t i = 2; uint64_t{i} * i <= ranks; ++i)
    if (ranks % i == 0)
      rows = i;
  if (rows > 1)
    texts.push_back("torus([" + std::to_string(rows) + ", " + std::to_string(ranks / rows) + "])");
  return texts;
}

} // namespace

std::vector<std::string> trialValues(ValueType type, uint32_t ranks, const std::string &root) {
  switch (type) {
  case ValueType::Int:
    return {"1"};
  case ValueType::Bool:
    return {"false", "true"};
  case ValueType::Rank:
    return {"0"};
  case ValueType::Bytes:
    return {"64KiB"};
  case ValueType::Time:
    return {"100ns"};
  case ValueType::Reduction:
    return {"sum"};
  case ValueType::IntList: // lengths of blocks, zeros among them
    return {"[for r in 0..ranks: (3 * r + 2) % 5]"};
  case ValueType::Tree:
    return {"binomial(" + root + ")"};
  case ValueType::Graph:
    return toruses(ranks);
  case ValueType::String:
  case ValueType::Edge:
  case ValueType::Group:
  case ValueType::Slice:
  case ValueType::Range:
  case ValueType::Edges:
  case ValueType::Slices:
    return {};
  }
  return {};
}

std::vector<std::string> irregularGraphs(bool more) {
  std::vector<std::string> texts{"grid([ranks])", "irregular()"};
  if (more)
    texts.push_back("irregular(2)");
  return texts;
}

std::string moreBlockLengths() {
  return "[for r in 0..ranks: (r * 7919 + 13) % 101 * ((r * 31 + 7) % 3)]";
}

uint64_t trialSize(uint64_t elements) { return elements / 2 + 1; }

} // namespace colldsl::driver
