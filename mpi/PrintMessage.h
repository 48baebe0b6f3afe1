/// Messages of the backend to its user, on the standard error.
#pragma once

namespace colldsl::mpi {

/// Variant of printf() that masks its text (ir/Printable.h): messages contain names, files and
/// texts of others.
[[gnu::format(printf, 1, 2)]] void printMessage(const char *format, ...);

} // namespace colldsl::mpi
