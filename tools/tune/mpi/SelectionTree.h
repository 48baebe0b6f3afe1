/// Selection trees of MPICH, in the structure of its JSON: conditions at inner nodes, an algorithm
/// or a composition at each leaf. The first condition of a level that holds counts. The last
/// condition of a level always holds, or the tree is incomplete. Source: MPICH 4.0 and 5.0, csel.c.
#pragma once

#include "ir/Result.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace colldsl::tools {

using SelectionTree = nlohmann::ordered_json;

/// A rule for calls of up to so many bytes, and more than those of the rule before.
struct TreeRule {
  uint64_t upTo = UINT64_MAX;
  std::optional<SelectionTree> leaf; ///< nothing: the present subtree stays
  std::string unless;                ///< it stays under this condition, too; empty: none
};

/// Rules that precede a tree's own choice, for one collective in communicators of so many ranks.
struct TreeRules {
  std::string collective;
  uint32_t ranks = 0;
  std::string size;                    ///< "avg_msg_size", or "total_msg_size"
  std::vector<std::string> conditions; ///< all of them hold, too
  std::vector<TreeRule> rules;         ///< ascending; the last one is without end
};

Result<SelectionTree> parseTree(const std::string &text);

/// Puts rules for one collective, by ascending ranks, into a tree that has the collective. They
/// apply to intra-communicators.
void insertRules(SelectionTree &tree, const std::vector<TreeRules> &rules);

/// The subtree of a collective; null: there is none.
const SelectionTree *collectiveIn(const SelectionTree &tree, const std::string &collective);

} // namespace colldsl::tools
