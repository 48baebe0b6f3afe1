/// Selection trees of MPICH, as its JSON has them: conditions on the way, an algorithm or a
/// composition at each leaf. The first condition of a level that holds counts. A level ends in one
/// that always holds, or the tree is not complete. Source: MPICH 4.0 and 5.0, csel.c.
#pragma once

#include "ir/Result.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace colldsl::tools {

using SelectionTree = nlohmann::ordered_json;

/// For calls of up to so many bytes and more than those of the rule before.
struct TreeRule {
  uint64_t upTo = UINT64_MAX;
  std::optional<SelectionTree> leaf; ///< nothing: what the tree has already
  std::string unless;                ///< under this condition, too; empty: none
};

/// What comes before a tree's own choice, for one collective in communicators of some ranks.
struct TreeRules {
  std::string collective;
  uint32_t ranks = 0;
  std::string size;                    ///< "avg_msg_size", or "total_msg_size"
  std::vector<std::string> conditions; ///< all of them hold, too
  std::vector<TreeRule> rules;         ///< ascending; the last one is without end
};

Result<SelectionTree> parseTree(const std::string &text);

/// Puts rules for one collective, by ascending ranks, into a tree that has the collective. They are
/// for communicators that are no inter-communicators.
void insertRules(SelectionTree &tree, const std::vector<TreeRules> &rules);

/// The subtree of a collective; null: there is none.
const SelectionTree *collectiveIn(const SelectionTree &tree, const std::string &collective);

} // namespace colldsl::tools
