/// The context that programs have of a device, by calls of the driver that the library does not
/// need.
#pragma once

#include "device/CudaDriver.h"

#include <string>

namespace colldsl::test {

/// Retains the primary context of the device of that number, for good; `name` becomes the device's.
Result<device::CuContext> primaryContext(const device::CudaDriver &driver, int number,
                                         std::string &name);

} // namespace colldsl::test
