/// Machine models as a part of a JSON file.
#pragma once

#include "topology/JsonReader.h"
#include "topology/MachineModel.h"

namespace colldsl {

/// Reads a model. An error names the member that is wrong.
Result<MachineModel> readModel(const Json &json, const JsonPlace &place);
/// JSON from which readModel() reads an equal model.
Json jsonOf(const MachineModel &model);

} // namespace colldsl
