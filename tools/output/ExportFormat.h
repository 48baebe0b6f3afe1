/// The formats in which `export` and `compile --to` write schedules for other tools.
#pragma once

#include "formats/GoalText.h"
#include "tools/options/Options.h"
#include "tools/output/Convert.h"

namespace colldsl::tools {

enum class ExportFormat : uint8_t { Goal, GoalBinary, MscclXml, Chakra, Mscclpp };

/// "goal, goal-bin, msccl-xml, chakra or mscclpp"
llvm::StringRef exportFormatsInWords();
llvm::StringRef spelling(ExportFormat format);
/// The ending of a file's name, with its dot. Of Chakra it follows the number of a rank.
llvm::StringRef extension(ExportFormat format);

struct ExportSettings {
  std::optional<ExportFormat> to;
  GoalOptions goal;

  /// Adds --to and --local-as-calc.
  void addTo(Options &options, llvm::StringRef help);
  /// An error: --local-as-calc for a format that has copies.
  Status check() const;
};

/// The schedule in the format `settings.to`, in a file `name`, or of Chakra in a file per rank,
/// NAME.0.et. Each file was read back: GOAL and traces are the same in another form of GOAL; an
/// algorithm of MSCCL is proved with the contract of its collective, an execution plan for all
/// launches. An error says which op, or what else, the format has no word for.
Result<std::vector<OutputFile>>
exportFiles(const Schedule &schedule, const ExportSettings &settings, const std::string &name);

} // namespace colldsl::tools
