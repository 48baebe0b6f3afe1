#include "compiler/Literals.h"

#include "compiler/Spelling.h"
#include "ir/Numbers.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace colldsl {
namespace {

using ast::Unit;
using llvm::StringRef;

struct KnownUnit {
  Unit unit;
  uint64_t factor;
};

Result<KnownUnit> parseUnit(std::string_view text, SourceLoc loc) {
  if (text.empty())
    return KnownUnit{Unit::None, 1};
  std::vector<StringRef> words;
  for (auto [unit, known] : {std::pair(Unit::Bytes, std::span<const UnitFactor>(kByteUnits)),
                             std::pair(Unit::Time, std::span<const UnitFactor>(kTimeUnits))})
    for (const UnitFactor &one : known) {
      if (one.unit == text)
        return KnownUnit{unit, one.factor};
      words.emplace_back(one.unit);
    }
  std::string hint = didYouMean(nearestWord(text, words));
  return Diagnostic::error(loc, "unknown unit '" + std::string(text) + "' of a number",
                           hint.empty() ? "units are B KiB MiB GiB ns us ms s" : hint);
}

} // namespace

Result<NumberValue> parseNumber(StringRef text, SourceLoc loc) {
  NumberAndUnit parts = splitUnit(text);
  Result<KnownUnit> unit = parseUnit(parts.unit, loc);
  if (!unit)
    return unit.status();
  std::optional<int64_t> number = parseWhole<int64_t>(parts.digits);
  int64_t value = 0;
  if (!number || __builtin_mul_overflow(*number, unit->factor, &value))
    return Diagnostic::error(loc, ("'" + text + "' does not fit 63 bits").str());
  return NumberValue{value, unit->unit};
}

Result<std::string> parseString(StringRef quoted, SourceLoc loc) {
  StringRef text = quoted.drop_front().drop_back();
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    char escaped = text[++i];
    if (escaped == '"' || escaped == '\\')
      value += escaped;
    else if (escaped == 'n')
      value += '\n';
    else if (escaped == 't')
      value += '\t';
    else
      return Diagnostic::error(
          loc, (llvm::Twine("unknown escape '\\") + llvm::Twine(escaped) + "' in a string").str(),
          "escapes are \\\" \\\\ \\n \\t");
  }
  return value;
}

std::string docCommentAbove(llvm::StringRef before) {
  std::vector<StringRef> lines;
  StringRef above = before.rsplit('\n').first;
  while (above.size() < before.size()) {
    before = above;
    StringRef line = before.substr(before.rfind('\n') + 1).trim();
    bool isDoc = line.consume_front("///") && !line.starts_with("/");
    if (!isDoc)
      break;
    line.consume_front(" ");
    lines.push_back(line);
    above = before.rsplit('\n').first;
  }
  std::reverse(lines.begin(), lines.end());
  return llvm::join(lines, "\n");
}

} // namespace colldsl
