/// The kernels of device memory as PTX, text of NVIDIA's virtual machine, which drivers compile.
#pragma once

#include <string_view>

namespace colldsl::device {

/// Empty, if there was no compiler for it when the library was built.
std::string_view kernelText();

} // namespace colldsl::device
