/// The errors of a text, as tests compare them.
#pragma once

#include "ir/Concat.h"
#include "ir/Result.h"

#include <array>
#include <span>

namespace colldsl {

inline void describeOne(std::string &out, const Diagnostic &d, std::string_view fileName) {
  constexpr std::array words = {"error: ", "warning: ", "note: "};
  out += concat(fileName, ":", d.loc.line, ":", d.loc.column, ": ",
                words[static_cast<size_t>(d.severity)], d.message, "\n");
  if (!d.hint.empty())
    out += concat(fileName, ":", d.loc.line, ":", d.loc.column, ": note: ", d.hint, "\n");
  for (const Diagnostic &note : d.notes)
    describeOne(out, note, fileName);
}

/// The errors as lines of text, `file:line:column: error: message`, notes and hints
/// behind each; ends with a newline.
inline std::string describeErrors(std::span<const Diagnostic> errors, std::string_view fileName) {
  std::string out;
  for (const Diagnostic &error : errors)
    describeOne(out, error, fileName);
  return out;
}

} // namespace colldsl
