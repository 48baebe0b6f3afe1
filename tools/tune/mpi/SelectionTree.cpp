#include "tools/tune/mpi/SelectionTree.h"

#include "ir/Numbers.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <bit>
#include <climits>

namespace colldsl::tools {
namespace {

constexpr const char *kAlways = "comm_size=any";
constexpr const char *kIntra = "comm_type=intra";

bool isLeaf(const SelectionTree &tree) {
  return tree.empty() || llvm::StringRef(tree.begin().key()).starts_with("algorithm=") ||
         llvm::StringRef(tree.begin().key()).starts_with("composition=");
}

/// True if a condition on the number of ranks holds; nothing: the condition is on something else,
/// such as the placement of ranks.
std::optional<bool> holds(llvm::StringRef condition, uint32_t ranks) {
  if (condition == kAlways)
    return true;
  if (condition == "comm_size=pow2")
    return std::has_single_bit(ranks);
  bool orEqual = condition.consume_front("comm_size<=");
  if (!orEqual && !condition.consume_front("comm_size<"))
    return std::nullopt;
  std::optional<uint32_t> bound = parseWhole<uint32_t>(condition);
  return bound && (orEqual ? ranks <= *bound : ranks < *bound);
}

/// The tree for a number of ranks, without conditions on that number. Below conditions on messages,
/// MPICH 4.0 reads "comm_size<8" as "comm_size<=8", so that no such condition may be there.
SelectionTree forRanks(const SelectionTree &tree, uint32_t ranks) {
  if (isLeaf(tree))
    return tree;
  SelectionTree left = SelectionTree::object();
  for (const auto &[condition, below] : tree.items()) {
    std::optional<bool> is = holds(condition, ranks);
    if (is == false)
      continue;
    SelectionTree pruned = forRanks(below, ranks);
    if (!is) {
      left[condition] = std::move(pruned);
      continue;
    }
    if (left.empty())
      return pruned;
    left[kAlways] = std::move(pruned);
    break;
  }
  return left;
}

/// Appends the conditions of the tree to a level.
void append(SelectionTree &level, const SelectionTree &tree) {
  if (isLeaf(tree)) {
    level[kAlways] = tree;
    return;
  }
  for (const auto &[condition, below] : tree.items())
    if (!level.contains(condition)) // cannot be reached
      level[condition] = below;
}

SelectionTree guarded(llvm::ArrayRef<std::string> conditions, const SelectionTree &inner,
                      const SelectionTree &otherwise) {
  if (conditions.empty())
    return inner;
  SelectionTree level = SelectionTree::object();
  level[conditions[0]] = guarded(conditions.drop_front(), inner, otherwise);
  append(level, otherwise);
  return level;
}

SelectionTree bySize(const TreeRules &rules, const SelectionTree &otherwise) {
  SelectionTree level = SelectionTree::object();
  for (const TreeRule &rule : rules.rules) {
    SelectionTree chosen = rule.leaf ? *rule.leaf : otherwise;
    if (rule.leaf && !rule.unless.empty())
      chosen = {{rule.unless, otherwise}, {kAlways, *rule.leaf}};
    bool isLast = rule.upTo > INT_MAX; // MPICH reads an int
    if (isLast && level.empty())
      return chosen;
    level[rules.size + (isLast ? "=any" : "<=" + std::to_string(rule.upTo))] = chosen;
    if (isLast)
      break;
  }
  return level;
}

} // namespace

Result<SelectionTree> parseTree(const std::string &text) {
  SelectionTree tree = SelectionTree::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object())
    return Status::error("a selection tree is no JSON object: '" + text.substr(0, 40) + "'");
  return tree;
}

const SelectionTree *collectiveIn(const SelectionTree &tree, const std::string &collective) {
  auto found = tree.find("collective=" + collective);
  return found == tree.end() ? nullptr : &*found;
}

void insertRules(SelectionTree &tree, const std::vector<TreeRules> &rules) {
  SelectionTree &collective = tree.at("collective=" + rules.front().collective);
  SelectionTree &before = collective.contains(kIntra) ? collective.at(kIntra) : collective;
  SelectionTree all = SelectionTree::object();
  uint32_t ranks = 0;
  for (const TreeRules &r : rules) {
    if (r.ranks > ranks + 1)
      all["comm_size<=" + std::to_string(r.ranks - 1)] = before;
    SelectionTree own = forRanks(before, r.ranks);
    all["comm_size<=" + std::to_string(r.ranks)] = guarded(r.conditions, bySize(r, own), own);
    ranks = r.ranks;
  }
  all[kAlways] = before;
  before = std::move(all);
}

} // namespace colldsl::tools
