#include "compiler/Literals.h"

#include "compiler/Spelling.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

namespace colldsl {
namespace {

using ast::Unit;
using llvm::StringRef;

struct UnitSpelling {
  StringRef text;
  Unit unit;
  int64_t factor;
};

constexpr std::array<UnitSpelling, 8> kUnits = {{
    {"B", Unit::Bytes, 1},
    {"KiB", Unit::Bytes, int64_t{1} << 10},
    {"MiB", Unit::Bytes, int64_t{1} << 20},
    {"GiB", Unit::Bytes, int64_t{1} << 30},
    {"ns", Unit::Time, 1},
    {"us", Unit::Time, 1'000},
    {"ms", Unit::Time, 1'000'000},
    {"s", Unit::Time, 1'000'000'000},
}};

Result<UnitSpelling> parseUnit(StringRef text, SourceLoc loc) {
  if (text.empty())
    return UnitSpelling{"", Unit::None, 1};
  for (const UnitSpelling &unit : kUnits)
    if (unit.text == text)
      return unit;
  std::vector<StringRef> words;
  for (const UnitSpelling &unit : kUnits)
    words.push_back(unit.text);
  std::string hint = didYouMean(nearestWord(text, words));
  return Diagnostic::error(loc, ("unknown unit '" + text + "' of a number").str(),
                           hint.empty() ? "units are B KiB MiB GiB ns us ms s" : hint);
}

} // namespace

Result<NumberValue> parseNumber(StringRef text, SourceLoc loc) {
  StringRef digits = text.take_while(llvm::isDigit);
  Result<UnitSpelling> unit = parseUnit(text.drop_front(digits.size()), loc);
  if (!unit)
    return unit.status();
  int64_t value = 0;
  if (digits.getAsInteger(10, value) || __builtin_mul_overflow(value, unit->factor, &value))
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
