/// Machine models as a part of a JSON file.
#pragma once

#include "topology/JsonReader.h"
#include "topology/MachineModel.h"

namespace colldsl {

/// An error says which member is wrong.
Result<MachineModel> readModel(const Json &json, const JsonPlace &place);
/// What readModel() reads back to the same model.
Json jsonOf(const MachineModel &model);

} // namespace colldsl
