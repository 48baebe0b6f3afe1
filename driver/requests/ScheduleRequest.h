/// The part that all requests for schedules have: the collective, its parameters, the machine, the
/// limits.
#pragma once

#include "compiler/Compile.h"
#include "driver/requests/MachineRequest.h"
#include "driver/requests/PassRequest.h"
#include "instantiate/Instantiate.h"
#include "ir/TextForm.h"

#include <optional>
#include <utility>

namespace colldsl::driver {

struct ScheduleRequest {
  struct Setting {
    std::string name;
    std::string value;
  };

  std::vector<std::string> names;     ///< of collectives, in the order in which they were given
  std::optional<ElementType> type;    ///< nothing: see elementType(); of an import, all types
  std::optional<Reduction> reduction; ///< --op, for parameters that are reductions
  std::vector<Setting> settings;      ///< --set
  std::string topology = "flat";
  bool inPlace = false;
  bool noWarn = true; ///< about names and operations without use in the given files
  MachineRequest machine;
  PassRequest passes;
  CompileOptions compile;
  TextLimits text;
  InstantiateLimits instantiate;
  Invariants invariants = Invariants::None; ///< others than None: of schedules without passes

  ElementType elementType() const { return type.value_or(ElementType::I32); }

  void addTo(Fields &fields);
  void addElements(Fields &fields); ///< --op and --type alone
  void addInclude(Fields &fields);  ///< --include alone
  void addNoWarn(Fields &fields);   ///< --no-warn

private:
  /// Adds the limits, with the present values as defaults.
  void addLimits(Fields &fields);
};

} // namespace colldsl::driver
