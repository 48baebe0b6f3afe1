/// Messages of the backend to its user, on the standard error.
#pragma once

namespace colldsl::mpi {

/// As printf(), masked (ir/Printable.h): messages contain names, files and texts of others.
[[gnu::format(printf, 1, 2)]] void printMessage(const char *format, ...);

} // namespace colldsl::mpi
