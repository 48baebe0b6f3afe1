/// The files of the standard library, as compilations have them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace colldsl::driver {

/// The text of a file of the standard library ("stdlib/trees.coll"), which lives as long as the
/// process; nothing: there is no such file.
std::optional<std::string_view> standardText(std::string_view name);

/// True if a file of a compilation, by its number and name, is one of the standard library, whose
/// files come first in each compilation.
bool isStandard(size_t number, std::string_view name);

} // namespace colldsl::driver
