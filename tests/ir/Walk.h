/// Uses all that an image offers, as an executor would.
#pragma once

#include "ir/Image.h"

#include <string>

namespace colldsl {

/// Empty, or what a user of the view could have tripped over.
std::string walk(const Image &image);

} // namespace colldsl
