#include "driver/source/FormatText.h"

#include "compiler/Format.h"
#include "compiler/Parser.h"

namespace colldsl::driver {

std::optional<std::string> formatText(std::string_view text, const ParseLimits &limits,
                                      std::vector<Diagnostic> &errors) {
  ParseResult parsed = parseFile(text, 0, limits);
  errors = std::move(parsed.errors);
  if (!parsed.ast)
    return std::nullopt;
  Result<std::string> formatted = formatSource(text, 0, limits);
  if (formatted)
    return formatted.take();
  errors.push_back(formatted.status().diagnostic());
  return std::nullopt;
}

} // namespace colldsl::driver
