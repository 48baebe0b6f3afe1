#include "select/Rule.h"

#include "ir/Concat.h"
#include "ir/Ranges.h"

#include <algorithm>
#include <limits>

namespace colldsl {
namespace {

/// Empty: the value is in the range.
template <typename T> std::string outside(T value, T least, T most, const char *what) {
  if (least <= value && value <= most)
    return "";
  uint64_t last = most == std::numeric_limits<T>::max() ? UINT64_MAX : most;
  return concat(value, " ", what, " are not ", rangeWord(least, last));
}

std::string typesOf(const SelectionRule &rule) {
  std::string types;
  for (unsigned t = 0; t < kElementTypes; ++t)
    if (rule.types >> t & 1)
      types += concat(types.empty() ? "" : ",", spelling(static_cast<ElementType>(t)));
  return types;
}

bool hasType(const SelectionRule &rule, ElementType type) {
  return (rule.types >> static_cast<unsigned>(type) & 1) != 0;
}

} // namespace

bool fits(const SelectionRule &rule, const Situation &s) {
  return rule.function == s.function && rule.minRanks <= s.ranks && s.ranks <= rule.maxRanks &&
         rule.minBytes <= s.bytes && s.bytes <= rule.maxBytes && rule.minTotal <= s.total() &&
         s.total() <= rule.maxTotal && rule.minNodes <= s.nodes && s.nodes <= rule.maxNodes &&
         rule.minPerNode <= s.perNode && s.perNode <= rule.maxPerNode && hasType(rule, s.type) &&
         (s.commutative || !rule.needsCommutative) &&
         (s.oversubscribed || !rule.needsOversubscribed) && (s.multicast || !rule.needsMulticast) &&
         (s.tcp || !rule.needsTcp);
}

std::string whyNot(const SelectionRule &rule, const Situation &s) {
  std::string why;
  auto add = [&](const std::string &reason) {
    why += reason.empty() ? "" : concat(why.empty() ? "" : "; ", reason);
  };
  add(outside(s.ranks, rule.minRanks, rule.maxRanks, "ranks"));
  add(outside(s.bytes, rule.minBytes, rule.maxBytes, "bytes"));
  add(outside(s.total(), rule.minTotal, rule.maxTotal, "bytes of all ranks"));
  add(outside(s.nodes, rule.minNodes, rule.maxNodes, "nodes"));
  add(outside(s.perNode, rule.minPerNode, rule.maxPerNode, "ranks per node"));
  if (!hasType(rule, s.type))
    add(concat(spelling(s.type), " is not among ", typesOf(rule)));
  if (rule.needsCommutative && !s.commutative)
    add("the operator does not commute");
  if (rule.needsOversubscribed && !s.oversubscribed)
    add("there are no fewer cores than ranks");
  if (rule.needsMulticast && !s.multicast)
    add("the network has no multicast");
  if (rule.needsTcp && !s.tcp)
    add("the network is not reached by TCP or UDP");
  return why;
}

} // namespace colldsl
