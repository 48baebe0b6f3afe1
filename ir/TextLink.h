/// Turns the statements of one rank into a DAG: labels become ops, `requires` lines
/// dependencies, messages get their numbers. Internal to ir.
#pragma once

#include "ir/Dag.h"
#include "ir/TextErrors.h"

#include <string_view>

namespace colldsl {

/// The statements of one rank in the order of the text. The Dag's ops have their
/// slices, but no deps; a message's count is in its id where the text gives it.
struct RankText {
  struct Label {
    std::string_view name; ///< views the text
    uint32_t op;           ///< kBrokenOp: its statement had an error
    TextPlace place;
  };
  struct DepText {
    std::string_view op;
    std::string_view on;
    DepKind kind;
    TextPlace place;
    TextPlace onPlace;
  };
  static constexpr uint32_t kBrokenOp = 0xffffffff;

  Dag dag;
  std::vector<TextPlace> opPlaces; ///< per op
  std::vector<bool> hasCount;      ///< per op: the text says which message it is
  std::vector<Label> labels;
  std::vector<DepText> deps;
};

/// Ops keep their order unless one requires a later one; then each op comes as early
/// as its dependencies and the ops before it allow. Errors: a label twice, a label that
/// does not exist, a cycle; the result is of no use then.
Dag linkRank(RankText &rank, ErrorList &errors);

} // namespace colldsl
