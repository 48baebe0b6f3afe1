/// The collectives of the library that are the algorithms of other programs.
#pragma once

#include "driver/fit/Measurement.h"
#include "program/Program.h"
#include "topology/MachineProfile.h"

#include <optional>

namespace colldsl::driver {

/// The collective of the program that is the measured algorithm, by its name in the data or because
/// the data name a collective; nothing: the program has none under a name that is known.
std::optional<TunedCollective> collectiveOf(const Measurement &measured, const Program &program);

/// True for the times of what an MPI chooses by itself.
bool isDefault(const Measurement &measured);

} // namespace colldsl::driver
