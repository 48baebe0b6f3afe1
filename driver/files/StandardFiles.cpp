#include "driver/files/StandardFiles.h"

#include "stdlib/StdlibFiles.h"

namespace colldsl::driver {

std::optional<std::string_view> standardText(std::string_view name) {
  for (const StdlibFile &file : stdlibFiles())
    if (file.name == name)
      return file.text;
  return std::nullopt;
}

bool isStandard(size_t number, std::string_view name) {
  auto files = stdlibFiles();
  return number < files.size() && files[number].name == name;
}

} // namespace colldsl::driver
