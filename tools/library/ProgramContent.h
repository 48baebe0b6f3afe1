/// The program of a schedule library.
#pragma once

#include "program/library/Library.h"
#include "tools/input/Source.h"

namespace colldsl::tools {

/// Puts the compiled program with its sources into the library, which is for these collectives.
/// Call it after everything that adds arguments to the program: rules, parameters of images.
void addProgram(const Source &source, const std::vector<Source::Target> &targets,
                LibraryContent &content);

} // namespace colldsl::tools
