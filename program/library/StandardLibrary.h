/// The standard library, which is part of each program that links this target.
#pragma once

#include <cstddef>
#include <span>

namespace colldsl {

/// As `colldsl compile` wrote it, aligned to 64.
std::span<const std::byte> standardLibraryBytes();

} // namespace colldsl
