// Example: "ensures at rank == root: y == reduce(op, for r in 0..ranks: x@r)" states "on each rank
// where `rank == root`: `y` at exit is `x` at entry on rank `r`, combined by `op` over each `r` in
// `0..ranks`; ...".
#include "lsp/ClauseText.h"

#include "ir/Cost.h"
#include "lsp/LanguageWords.h"
#include "lsp/Structure.h"
#include "lsp/SymbolText.h"

#include <algorithm>
#include <array>

namespace colldsl::lsp {
namespace {

constexpr std::string_view kCostSummaries[] = {
#define COLLDSL_COST(Name, spelling, unit, summary) summary,
#include "ir/Costs.def"
};

/// A run of consecutive tokens of a clause.
class Words {
public:
  explicit Words(std::span<const Token> tokens) : tokens_(tokens) {}

  bool empty() const { return tokens_.empty(); }
  size_t size() const { return tokens_.size(); }
  std::string_view operator[](size_t i) const { return i < size() ? tokens_[i].text : ""; }
  Words from(size_t i) const { return Words(tokens_.subspan(std::min(i, size()))); }
  Words to(size_t i) const { return Words(tokens_.first(std::min(i, size()))); }

  /// The first occurrence of a sign outside of brackets and of `? :`; size() if there is none.
  size_t find(std::string_view wanted) const {
    int depth = 0;
    for (size_t i = 0; i < size(); ++i) {
      std::string_view sign = tokens_[i].text;
      bool isColonOfChoice = sign == ":" && depth > 0;
      if (sign == wanted && depth == 0)
        return i;
      if (sign == "(" || sign == "[" || sign == "?")
        ++depth;
      else if (sign == ")" || sign == "]" || isColonOfChoice)
        --depth;
    }
    return size();
  }

  std::string code() const { return "`" + oneLine(tokens_) + "`"; }

private:
  std::span<const Token> tokens_;
};

/// "for r in R [if D]": "each `r` in `R` for which `D`". Empty: it is no iteration yet.
std::string iteration(Words words) {
  size_t condition = words.find("if");
  Words range = words.to(condition).from(3);
  if (words[2] != "in" || range.empty())
    return "";
  std::string text = "each " + words.from(1).to(1).code() + " in " + range.code();
  return condition == words.size() ? text : text + " for which " + words.from(condition + 1).code();
}

/// "SLICE[@r]": "`SLICE` at entry on rank `r`".
std::string entryValue(Words words) {
  size_t at = words.find("@");
  return words.to(at).code() + " at entry on " +
         (at == words.size() ? "the same rank" : "rank " + words.from(at + 1).code());
}

/// Behind "reduce(": "op, for r in R [if D]: SLICE@r)". Empty: it is not complete.
std::string reduction(Words words) {
  size_t end = words.find(")"), comma = words.find(",");
  Words operands = words.to(end).from(comma + 1);
  size_t colon = operands.find(":");
  std::string over = iteration(operands.to(colon)), op = words.to(comma).code();
  if (end == words.size() || over.empty() || colon + 1 >= operands.size())
    return "";
  return entryValue(operands.from(colon + 1)) + ", combined by " + op + " over " + over +
         "; each counts once, in this order if " + op + " does not commute";
}

std::string equation(Words left, Words right) {
  bool isReduction = right[0] == "reduce" && right[1] == "(";
  std::string value = isReduction ? reduction(right.from(2)) : entryValue(right);
  return value.empty() ? "" : left.code() + " at exit is " + value;
}

/// Empty: it is no postcondition yet.
std::string postcondition(Words words) {
  size_t colon = words.find(":"), equal = words.find("==");
  if (colon + 1 < words.size() && (words[0] == "for" || words[0] == "at")) {
    bool isFor = words[0] == "for";
    std::string inner = postcondition(words.from(colon + 1));
    std::string over = isFor ? iteration(words.to(colon)) : words.to(colon).from(1).code();
    if (inner.empty() || over.empty())
      return "";
    return (isFor ? "for " : "on each rank where ") + over + ": " + inner;
  }
  if (words.size() == 1 && words[0] == "synchronizes")
    return "no rank finishes before all have started";
  if (equal > 0 && equal + 1 < words.size())
    return equation(words.to(equal), words.from(equal + 1));
  std::optional<Cost> cost = parseCost(words[0]);
  if (cost && words[1] == "<=" && words.size() > 2)
    return words.to(1).code() + " is at most " + words.from(2).code() + ": " +
           std::string(kCostSummaries[static_cast<size_t>(*cost)]);
  return "";
}

std::string statement(Words words) {
  if (words[0] == "ensures")
    return postcondition(words.from(1));
  if (words.size() < 2)
    return "";
  if (words[0] == "where")
    return "callers guarantee that " + words.from(1).code() + " holds";
  return words.size() < 3
             ? ""
             : "callers may let " + words.to(1).code() + " lie in " + words.from(2).code();
}

} // namespace

std::string describeClause(std::string_view text, size_t keyword, bool markdown) {
  std::optional<Structure::Piece> piece = Structure(text).clauseAt(keyword);
  if (!piece)
    return "";
  std::string clause(text.substr(piece->begin, piece->end - piece->begin));
  Result<std::vector<Token>> tokens = scan(clause, 0, {});
  std::string description = fenced(clause, markdown);
  if (std::string states = tokens ? statement(Words(*tokens)) : ""; !states.empty())
    description += "\n\n" + states;
  for (const LanguageWord &row : languageWords())
    if (row.kind == LanguageWord::Kind::Keyword && !row.summary.empty() &&
        text.substr(keyword).starts_with(row.word))
      description += "\n\n`" + row.usage + "`: " + row.summary;
  return description;
}

} // namespace colldsl::lsp
