#include "passes/PassOptions.h"

#include "ir/Numbers.h"

namespace colldsl {
namespace {

std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

/// A number, with a unit of bytes behind it if wanted: 64KiB, 1MiB.
Result<uint64_t> parseBytes(std::string_view text) {
  Amount amount = parseAmount(splitUnit(text), kByteUnits);
  switch (amount.error) {
  case AmountError::None:
    break;
  case AmountError::NoNumber:
    return Status::error(quoted(text) + " is not a number");
  case AmountError::NoUnit:
  case AmountError::TooLarge:
    return Status::error(quoted(text) + " is not a number, or of an unknown unit");
  }
  return amount.value;
}

} // namespace

void PassOptions::add(std::string_view name, std::string_view values, std::string_view help,
                      std::function<Status(std::string_view)> take) {
  options_.push_back({name, values, help, std::move(take), {}});
}

void PassOptions::number(std::string_view name, std::string_view values, std::string_view help,
                         uint64_t &number, uint64_t min, uint64_t max) {
  add(name, values, help, [&number, min, max](std::string_view given) -> Status {
    Result<uint64_t> parsed = parseBytes(given);
    if (!parsed)
      return parsed.status();
    if (*parsed < min || *parsed > max)
      return Status::error(quoted(given) + " is not in " + std::to_string(min) + ".." +
                           (max == UINT64_MAX ? "" : std::to_string(max)));
    number = *parsed;
    return {};
  });
}

void PassOptions::numbers(std::string_view name, std::string_view values, std::string_view help,
                          std::vector<uint32_t> &list) {
  add(name, values, help, [&list](std::string_view given) -> Status {
    std::vector<uint32_t> parsed;
    while (!given.empty()) {
      size_t end = std::min(given.find_first_of("x:"), given.size());
      Result<uint64_t> one = parseBytes(given.substr(0, end));
      if (!one || *one > UINT32_MAX)
        return Status::error(quoted(given) + " is not a list of numbers with x between them");
      parsed.push_back(static_cast<uint32_t>(*one));
      given.remove_prefix(std::min(end + 1, given.size()));
    }
    list = std::move(parsed);
    return {};
  });
}

void PassOptions::text(std::string_view name, std::string_view values, std::string_view help,
                       std::string &text) {
  add(name, values, help, [&text](std::string_view given) {
    text = given;
    return Status();
  });
}

void PassOptions::flag(std::string_view name, std::string_view values, std::string_view help,
                       bool &flag) {
  add(name, values, help, [&flag](std::string_view given) -> Status {
    if (given != "true" && given != "false")
      return notOneOf(given, {"true", "false"});
    flag = given == "true";
    return {};
  });
  options_.back().words = {"true", "false"};
}

const PassOptions::Option *PassOptions::find(std::string_view name) const {
  for (const Option &option : options_)
    if (option.name == name)
      return &option;
  return nullptr;
}

Status PassOptions::notOneOf(std::string_view given, const std::vector<std::string_view> &words) {
  std::string text = quoted(given) + " is not ";
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  return Status::error(text);
}

} // namespace colldsl
