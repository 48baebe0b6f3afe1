/// Options of all commands that make schedules: the collective, its parameters, the machine, the
/// limits.
#pragma once

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "ir/TextForm.h"
#include "tools/options/MachineOptions.h"
#include "tools/passes/PassSettings.h"

#include <list>
#include <optional>
#include <utility>

namespace colldsl::tools {

struct ScheduleOptions {
  struct Setting {
    std::string name;
    std::string value;
  };

  std::vector<std::string> names; ///< of collectives, in the order in which they were given
  ElementType type = ElementType::I32;
  std::optional<Reduction> reduction; ///< --op, for parameters that are reductions
  std::vector<Setting> settings;      ///< --set
  std::string topology = "flat";
  bool inPlace = false;
  bool usesProfile = false; ///< decisions of the machine profile choose for functions first
  bool simulates = false;   ///< a machine model has an effect without passes, too
  /// The schedule runs on this machine: --topology applies to schedules from files, too, and rules
  /// may see fewer cores than ranks.
  bool runs = false;
  bool retypes = false; ///< schedules from files are made for another type, too
  bool contract = true; ///< schedules carry their postconditions, to be proved or shown
  bool noWarn = true;   ///< about names and operations without use in the given files
  MachineOptions machine;
  PassSettings passes;
  CompileOptions compile;
  TextLimits text;
  InstantiateLimits instantiate;

  /// This object outlives the parse.
  void addTo(Options &options);
  void addElements(Options &options); ///< --op and --type alone
  void addInclude(Options &options);  ///< --include alone
  void addNoWarn(Options &options);   ///< --no-warn, without which there are warnings then

private:
  /// Adds the options of limits, with the present values as defaults.
  void addLimits(Options &options);
  llvm::StringRef withDefault(llvm::StringRef help, uint64_t value);

  std::list<std::string> helps_; ///< texts of options
};

} // namespace colldsl::tools
