/// The memory orders that stand in the sources of the protocol over shared memory, each weakened in
/// turn.
#pragma once

#include "tests/explorer/weak/WeakExplorer.h"

#include <string>
#include <vector>

namespace colldsl::test::weak {

struct WeakOrder {
  Weakening weakening;
  std::string name; ///< "transports/Rendezvous.h:54 acq_rel -> acquire"
  std::string text; ///< of the lines
  /// Empty: it must be found. Else the reason for which nothing goes wrong, or for which it is not
  /// walked.
  std::string why;
  bool isWalked = true;
};

/// The sources of the protocol over shared memory, from the top of the tree.
std::vector<std::string> filesOfWeakOrders();

/// Those of one of the files, read from the source.
std::vector<WeakOrder> weakOrdersOf(const std::string &tree, const std::string &file);

/// Reasons in the list that stand for no order in the sources.
std::vector<std::string> unusedReasons(const std::string &tree);

} // namespace colldsl::test::weak
