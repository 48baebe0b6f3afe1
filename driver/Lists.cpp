#include "driver/Lists.h"

#include "ir/Numbers.h"
#include "ir/OptionList.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace colldsl::driver {
namespace {

// More numbers than this in one list are a typing error.
constexpr uint64_t kMaxListLength = 1 << 20;
constexpr uint64_t kMaxNs = uint64_t{1} << 50; // 13 days

Status notA(llvm::StringRef what, llvm::StringRef text) {
  return Status::error("'" + text.str() + "' is not " + what.str());
}

std::vector<llvm::StringRef> pieces(llvm::StringRef text) {
  std::vector<llvm::StringRef> result;
  for (std::string_view piece : splitList(text, ','))
    result.push_back(llvm::StringRef(piece).trim());
  return result;
}

/// A number with blanks around its unit.
Amount parseWithUnit(llvm::StringRef text, std::span<const UnitFactor> units) {
  auto [digits, unit] = splitUnit(text);
  return parseAmount({digits, llvm::StringRef(unit).trim()}, units);
}

} // namespace

Result<uint64_t> parseNumber(llvm::StringRef text, uint64_t min, uint64_t max) {
  std::optional<uint64_t> number = parseWhole<uint64_t>(text);
  auto digits = [](llvm::StringRef word) {
    return !word.empty() && llvm::all_of(word, llvm::isDigit);
  };
  if (!number && text.starts_with("-") && digits(text.drop_front()))
    return Status::error(text.str() + " is less than " + std::to_string(min));
  if (!number && digits(text))
    return Status::error(text.str() + " is more than " + std::to_string(max));
  if (!number)
    return notA("a number", text);
  if (*number < min)
    return Status::error(text.str() + " is less than " + std::to_string(min));
  if (*number > max)
    return Status::error(text.str() + " is more than " + std::to_string(max));
  return *number;
}

Result<uint32_t> parseNumber32(llvm::StringRef text, uint32_t min, uint32_t max) {
  Result<uint64_t> number = parseNumber(text, min, max);
  if (!number)
    return number.status();
  return static_cast<uint32_t>(*number);
}

Result<uint64_t> parseBytes(llvm::StringRef text) {
  Amount amount = parseWithUnit(text, kByteUnits);
  switch (amount.error) {
  case AmountError::None:
    break;
  case AmountError::NoNumber:
  case AmountError::NoUnit:
    return notA("a size; sizes are like 8, 64KiB, 1MiB, 2GiB, in units of 1024", text);
  case AmountError::TooLarge:
    return Status::error(text.str() + " is more than 64 bits hold");
  }
  return amount.value;
}

Result<std::vector<uint64_t>> parseBytesList(llvm::StringRef text) {
  std::vector<uint64_t> result;
  for (llvm::StringRef piece : pieces(text)) {
    Result<uint64_t> bytes = parseBytes(piece);
    if (!bytes)
      return bytes.status();
    result.push_back(*bytes);
  }
  return result;
}

Result<std::vector<uint32_t>> parseRanks(llvm::StringRef text, uint32_t min) {
  std::vector<uint32_t> result;
  for (llvm::StringRef piece : pieces(text)) {
    auto [first, last] = piece.split("..");
    bool isRange = first.size() != piece.size();
    bool isOtherRange = last.starts_with("=") || (piece.contains('-') && !piece.starts_with("-"));
    if (isOtherRange)
      return notA("a range; ranges are like 1..4, both ends included", piece);
    Result<uint64_t> from = parseNumber(first, min, UINT32_MAX - 1);
    Result<uint64_t> to = isRange ? parseNumber(last, min, UINT32_MAX - 1) : from;
    for (const Result<uint64_t> *end : {&from, &to})
      if (!*end)
        return end->status();
    if (*to < *from)
      return Status::error("the range '" + piece.str() + "' is empty");
    if (*to - *from + result.size() >= kMaxListLength)
      return Status::error("'" + text.str() + "' lists more than " +
                           std::to_string(kMaxListLength) + " numbers");
    for (uint64_t number = *from; number <= *to; ++number)
      result.push_back(static_cast<uint32_t>(number));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::string bytesWord(uint64_t bytes) {
  constexpr const char *kUnits[] = {" B", " KiB", " MiB", " GiB"};
  int unit = bytes == 0 ? 0 : std::min(std::countr_zero(bytes) / 10, 3);
  return std::to_string(bytes >> (10 * unit)) + kUnits[unit];
}

std::string listWord(const std::vector<uint64_t> &numbers) {
  std::string words;
  for (uint64_t number : numbers)
    words += (words.empty() ? "" : ",") + std::to_string(number);
  return words;
}

std::string counted(uint64_t count, llvm::StringRef word) {
  return std::to_string(count) + " " + word.str() + (count == 1 ? "" : "s");
}

Result<uint64_t> parseDurationNs(llvm::StringRef text, uint64_t plainUnitNs) {
  bool isPlain = splitUnit(text.trim()).unit.empty();
  if (std::optional<uint64_t> plain = parseWhole<uint64_t>(text.trim()); isPlain && plain) {
    if (plainUnitNs == 0)
      return Status::error("'" + text.str() + "' has no unit; times are like 20s, 500ms");
    if (*plain > kMaxNs / plainUnitNs)
      return Status::error(text.str() + " is more than 13 days");
    if (*plain > 0)
      return *plain * plainUnitNs;
  }
  Result<uint64_t> ns =
      isPlain ? Status::error("'" + text.str() + "' is no time; times are like 20s, 500ms")
              : parseTimeNs(text);
  if (ns && *ns == 0)
    return Status::error("'" + text.str() + "' is no time at all");
  return ns;
}

Result<uint64_t> parseTimeNs(llvm::StringRef text) {
  Amount amount = parseAmount(splitUnit(text.trim()), kTimeUnits);
  switch (amount.error) {
  case AmountError::None:
    if (amount.value <= kMaxNs)
      return amount.value;
    [[fallthrough]];
  case AmountError::TooLarge:
    return Status::error(text.str() + " is more than 2^50 ns");
  case AmountError::NoNumber:
  case AmountError::NoUnit:
    break;
  }
  return Status::error("'" + text.str() + "' is no time; times are like 250, 10us, 2ms");
}

std::string factorWord(double factor) { return llvm::formatv("{0:f2}", factor).str(); }

std::string timeWord(int64_t ns) {
  constexpr const char *kUnits[] = {"ns", "us", "ms", "s"};
  auto value = static_cast<double>(ns);
  size_t unit = 0;
  for (; unit < 3 && value >= 999.5; ++unit)
    value /= 1000;
  int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, kUnits[unit]);
  return text;
}

Status checkWhole(uint64_t bytes, uint64_t elementBytes, const std::string &collective) {
  if (bytes % elementBytes == 0)
    return {};
  return Status::error("--bytes " + std::to_string(bytes) + ": elements of '" + collective +
                       "' have " + counted(elementBytes, "byte"));
}

Status wrap(llvm::StringRef where, const Status &status) {
  if (status)
    return status;
  Diagnostic d = status.diagnostic();
  d.message = (where + ": " + d.message).str();
  return Status(std::move(d));
}

} // namespace colldsl::driver
