#include "tests/random/PromisedParts.h"

namespace colldsl::generated {
namespace {

constexpr int64_t kMaxParts = 7;

struct Part {
  int64_t index, of;
  int64_t begin(int64_t n) const { return n * index / of; }
  int64_t end(int64_t n) const { return n * (index + 1) / of; }
};

std::vector<Part> allParts() {
  std::vector<Part> parts;
  for (int64_t of = 1; of <= kMaxParts; ++of)
    for (int64_t index = 0; index < of; ++index)
      parts.push_back({index, of});
  return parts;
}

SliceExpr partOf(const SliceExpr &slice, const Part &part) {
  return {SliceExpr::Kind::Part, kNoName, {slice}, {num(part.index), num(part.of)}};
}

/// The equation within conditions and loops; null: something else is promised.
Ensure *equationIn(Ensure &e) {
  switch (e.kind) {
  case Ensure::Kind::Equal:
  case Ensure::Kind::Reduce:
    return &e;
  case Ensure::Kind::For:
  case Ensure::Kind::At:
    return equationIn(e.inner[0]);
  case Ensure::Kind::Synchronizes:
    return nullptr;
  }
  return nullptr;
}

/// Whether it may be one of n elements: a buffer, or a block.
bool isLine(const SliceExpr &slice) {
  return slice.kind == SliceExpr::Kind::Var || slice.kind == SliceExpr::Kind::Block;
}

} // namespace

void promiseParts(Program &program, Random &random) {
  std::vector<Ensure> &ensures = program.main().ensures;
  if (ensures.empty() || !random.chance(25))
    return;
  Ensure again = random.anyOf(ensures);
  Ensure *equation = equationIn(again);
  if (!equation || !isLine(equation->target) || !isLine(equation->operand))
    return;
  auto n = program.n();
  Part target = random.anyOf(allParts());
  std::vector<Part> alike;
  for (const Part &part : allParts())
    if (part.begin(n) == target.begin(n) && part.end(n) == target.end(n))
      alike.push_back(part);
  equation->target = partOf(equation->target, target);
  equation->operand = partOf(equation->operand, random.anyOf(alike));
  ensures.insert(ensures.begin() + random.below(static_cast<int64_t>(ensures.size()) + 1), again);
}

} // namespace colldsl::generated
