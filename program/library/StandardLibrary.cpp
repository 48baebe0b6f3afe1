// The file is part of this object: nothing to find, nothing to install in the right place.
#include "program/library/StandardLibrary.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        ".hidden colldsl_standard_library\n"
        ".global colldsl_standard_library\n"
        "colldsl_standard_library:\n"
        ".incbin \"" COLLDSL_STANDARD_LIBRARY "\"\n"
        ".hidden colldsl_standard_library_end\n"
        ".global colldsl_standard_library_end\n"
        "colldsl_standard_library_end:\n"
        ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const std::byte colldsl_standard_library[];
extern "C" __attribute__((visibility("hidden"))) const std::byte colldsl_standard_library_end[];

namespace colldsl {

std::span<const std::byte> standardLibraryBytes() {
  return {colldsl_standard_library, colldsl_standard_library_end};
}

Result<std::unique_ptr<Library>> viewStandardLibrary() {
  return Library::view(standardLibraryBytes(), Library::Trust::AsCode);
}

} // namespace colldsl
