/// A small library with everything in it, and what is wrong with others, for tests.
#pragma once

#include "program/library/Library.h"

namespace colldsl {

LibraryContent smallLibrary();

/// What is wrong with a library, whichever part says so; empty: nothing.
std::string problemOf(std::span<const std::byte> bytes);

} // namespace colldsl
