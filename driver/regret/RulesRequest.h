/// A request to judge rules, or to find some.
#pragma once

#include "compiler/Compile.h"
#include "driver/RequestFields.h"
#include "driver/regret/RuleCosts.h"

namespace colldsl::driver {

struct RulesRequest {
  std::string models = "cluster";                              ///< names or files, with commas
  std::string shapes = "2x1,4x1,5x3,8x4,13x1,16x1,16x16,32x8"; ///< nodes x ranks of a node
  std::string bytes = "8,128,2KiB,16KiB,128KiB,1MiB,8MiB";
  std::string functions;   ///< empty: all of the rules
  std::string against;     ///< files of other rules, with commas
  uint32_t leastNodes = 1; ///< a condition of all rules that are found
  double leastGain = 0.5;  ///< see FindSettings
  double limit = 1.5;      ///< regrets beyond it are counted

  void addTo(Fields &fields);
  /// The rules of the file; of the standard library if it is empty.
  static Result<std::vector<SelectionRule>> readRules(const std::string &file,
                                                      Compilation &library);
  /// The rules to compare with, by the names of their files.
  Result<std::vector<std::pair<std::string, std::vector<SelectionRule>>>>
  readOthers(Compilation &library) const;
  Result<RuleGrid> grid(const std::vector<SelectionRule> &rules) const;
};

} // namespace colldsl::driver
