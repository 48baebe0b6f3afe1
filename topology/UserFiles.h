/// Files that belong to the user, not to a run.
#pragma once

#include "ir/Result.h"

#include <string>
#include <string_view>

namespace colldsl {

/// The folder colldsl in $`variable`, else in `underHome` of the user's home: by the rules of XDG's
/// base directories a variable that is no absolute path counts as none. Empty: there is no home.
/// Example: userFolder("XDG_CACHE_HOME", ".cache") is "$HOME/.cache/colldsl".
std::string userFolder(const char *variable, const char *underHome);

/// Makes the folder of the file and replaces the file as a whole: until then, and on failure, the
/// old file stays. An error names the file.
Status replaceFile(const std::string &path, std::string_view text);

} // namespace colldsl
