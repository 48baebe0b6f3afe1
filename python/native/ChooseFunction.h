/// The choice for a function, as `colldsl choose` tells it.
#pragma once

#include "python/native/AskedRequests.h"

#include "driver/requests/ChoiceRequest.h"

namespace colldsl::python {

/// `operands` as those of `colldsl choose`. Returns its JSON.
std::string choose(const std::vector<std::string> &operands,
                   const Asked<driver::ChoiceRequest> &asked);

} // namespace colldsl::python
