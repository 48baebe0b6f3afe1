/// The options of a pass, as text: `--passes name{option=value}` sets them, help prints them and
/// docs/passes.md lists them.
#pragma once

#include "ir/Result.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace colldsl {

/// Filled by `describe(PassOptions &)` of each options struct, which outlives it.
class PassOptions {
public:
  struct Option {
    std::string_view name;
    std::string_view values; ///< the form of the value behind '='
    std::string_view help;
    std::function<Status(std::string_view)> take;
    std::vector<std::string_view> words; ///< the allowed values, if they are listed
  };

  void number(std::string_view name, std::string_view values, std::string_view help,
              uint64_t &number, uint64_t min = 0, uint64_t max = UINT64_MAX);
  void numbers(std::string_view name, std::string_view values, std::string_view help,
               std::vector<uint32_t> &list);
  void text(std::string_view name, std::string_view values, std::string_view help,
            std::string &text);
  void flag(std::string_view name, std::string_view values, std::string_view help, bool &flag);

  /// `words` are the values in the order of the enum's numbers.
  template <typename Enum>
  void choice(std::string_view name, std::string_view values, std::string_view help, Enum &chosen,
              std::initializer_list<std::string_view> words) {
    add(name, values, help,
        [&chosen, list = std::vector<std::string_view>(words)](std::string_view given) -> Status {
          for (size_t i = 0; i < list.size(); ++i)
            if (list[i] == given) {
              chosen = static_cast<Enum>(i);
              return {};
            }
          return notOneOf(given, list);
        });
    options_.back().words = words;
  }

  const Option *find(std::string_view name) const;
  const std::vector<Option> &all() const { return options_; }

private:
  void add(std::string_view name, std::string_view values, std::string_view help,
           std::function<Status(std::string_view)> take);
  static Status notOneOf(std::string_view given, const std::vector<std::string_view> &words);

  std::vector<Option> options_;
};

} // namespace colldsl
