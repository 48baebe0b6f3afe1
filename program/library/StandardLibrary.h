/// The standard library, which is part of each program that links this target.
#pragma once

#include "program/library/Library.h"

namespace colldsl {

/// As `colldsl compile` wrote it, aligned to 64.
std::span<const std::byte> standardLibraryBytes();

/// Opens a view of those bytes. Its program, which is as trustworthy as the code around it, is not
/// checked again.
Result<std::unique_ptr<Library>> viewStandardLibrary();

} // namespace colldsl
