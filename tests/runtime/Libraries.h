/// A small library with everything in it, for tests.
#pragma once

#include "runtime/Library.h"

namespace colldsl {

LibraryContent smallLibrary();

} // namespace colldsl
