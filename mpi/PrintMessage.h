/// What the backend says to people, on the standard error.
#pragma once

namespace colldsl::mpi {

/// As printf(), masked (ir/Printable.h): names, files and texts of others are in messages.
[[gnu::format(printf, 1, 2)]] void printMessage(const char *format, ...);

} // namespace colldsl::mpi
