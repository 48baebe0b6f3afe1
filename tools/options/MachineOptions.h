/// The options for the machine that passes choose for, and the one that is simulated.
#pragma once

#include "passes/CostModel.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

class MachineOptions {
public:
  /// This object outlives the parse, which combines the options into cost().
  void addTo(Options &options);
  /// Adds -L -o -g -G -O -S too, for commands in which these letters mean nothing else.
  void addLettersTo(Options &options);

  const CostModel &cost() const { return cost_; }
  bool isModelGiven() const { return !model_.empty(); }

private:
  Status load();
  Result<MachineModel> readModel() const;

  std::string model_;
  std::string network_;
  LogGop flat_;
  std::string firstFlat_; ///< the first letter that was given
  CostModel cost_;
};

/// The whole text of a file.
Result<std::string> readText(llvm::StringRef file);
/// "where: " before the message of the status.
Status wrap(llvm::StringRef where, const Status &status);

} // namespace colldsl::tools
