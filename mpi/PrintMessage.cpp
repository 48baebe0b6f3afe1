#include "mpi/PrintMessage.h"

#include "ir/Printable.h"

#include <cstdarg>
#include <cstdio>

namespace colldsl::mpi {

void printMessage(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int bytes = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(bytes > 0 ? static_cast<size_t>(bytes) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  std::fputs(printable(text).c_str(), stderr);
}

} // namespace colldsl::mpi
