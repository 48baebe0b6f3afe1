#include "verifier/Alike.h"

#include "ir/Ranges.h"
#include "verifier/DiagnosticNames.h"

#include <algorithm>

namespace colldsl::proof {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Takes the texts of one failure.
class Pattern {
public:
  void add(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
      bool isPartOfName = i > 0 && (isLetter(text[i - 1]) || isDigit(text[i - 1]));
      if (!isDigit(text[i]) || isPartOfName) {
        pattern_ += text[i++];
        continue;
      }
      size_t end = i;
      while (end < text.size() && isDigit(text[end]))
        ++end;
      if (isRank(text.substr(0, i), text.substr(end)))
        addRank(text.substr(i, end - i));
      else
        addNumber();
      i = end + addUnit(text.substr(end));
    }
    pattern_ += '\n';
  }

  std::string take() { return std::move(pattern_); }

private:
  /// As DiagnosticNames writes ranks: "rank 1", "to 1", "from 1", "x@1".
  static bool isRank(std::string_view before, std::string_view after) {
    for (std::string_view word : {"rank ", "to ", "from ", "@"})
      if (before.ends_with(word))
        return !after.starts_with(" byte");
    return false;
  }

  void addRank(std::string_view rank) {
    auto known = std::find(ranks_.begin(), ranks_.end(), rank);
    pattern_ += "r" + std::to_string(known - ranks_.begin());
    if (known == ranks_.end())
      ranks_.emplace_back(rank);
  }

  /// Replaces a list such as "0, 1, 2" by one number, as its length depends on the number of ranks.
  void addNumber() {
    if (pattern_.ends_with("#, "))
      pattern_.resize(pattern_.size() - 2);
    else
      pattern_ += '#';
  }

  /// The word that is counted, in the singular. Returns how much of the text it is.
  size_t addUnit(std::string_view text) {
    size_t end = 1;
    while (end < text.size() && isLetter(text[end]))
      ++end;
    if (!text.starts_with(" ") || end == 1)
      return 0;
    std::string_view unit = text.substr(0, end);
    pattern_ += unit.ends_with("s") ? unit.substr(0, unit.size() - 1) : unit;
    return end;
  }

  std::string pattern_;
  std::vector<std::string> ranks_; // in the order in which they came
};

} // namespace

std::string patternOf(const Failure &failure, bool sharesText) {
  Pattern pattern;
  pattern.add(spelling(failure.proof));
  pattern.add(failure.message);
  std::string places;
  for (const Failure::Step &step : failure.steps) {
    pattern.add(step.text);
    if (sharesText)
      places += std::to_string(step.loc.file) + ":" + std::to_string(step.loc.line) + ":" +
                std::to_string(step.loc.column) + "\n";
  }
  return pattern.take() + places;
}

std::string alikeWords(const Failure &failure) {
  constexpr size_t kLongest = 60;
  const Failure::Alike &alike = failure.alike;
  if (alike.count == 0)
    return "";
  std::string ranks = rangesWord(alike.ranks);
  if (ranks.size() > kLongest)
    ranks = ranks.substr(0, ranks.rfind(',', kLongest) + 1) + "...";
  std::string count = alike.isAll ? "" : "at least ";
  bool isOncePerRank =
      alike.count == alike.ranks.size() &&
      !std::binary_search(alike.ranks.begin(), alike.ranks.end(), index(failure.rank()));
  if (isOncePerRank)
    return "and alike on " + count + counted(alike.count, "other rank") + " (" + ranks + ")";
  return "and alike in " + count + counted(alike.count, "other place") + ", on rank" +
         (alike.ranks.size() == 1 ? " " : "s ") + ranks;
}

} // namespace colldsl::proof
