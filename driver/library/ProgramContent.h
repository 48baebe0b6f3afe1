/// The program of a schedule library.
#pragma once

#include "driver/source/Source.h"
#include "program/library/Library.h"

namespace colldsl::driver {

/// Puts the compiled program with its sources into the library, which is for these collectives, and
/// the stamps that texts of the standard library bear.
/// Call it after everything that adds arguments to the program: rules, parameters of images.
void addProgram(const Source &source, const std::vector<Source::Target> &targets,
                LibraryContent &content);

} // namespace colldsl::driver
