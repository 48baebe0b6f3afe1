// `where`: what a collective requires of its parameters, and the values that break it.
#include "instantiate/Interpreter.h"

#include "program/Operands.h"

#include <algorithm>

namespace colldsl {
namespace {

std::string inWords(ValueType type, int64_t value) {
  if (value == kNone)
    return "none";
  if (type == ValueType::Bool)
    return value != 0 ? "true" : "false";
  if (type == ValueType::Reduction)
    return std::string(spelling(static_cast<Reduction>(value)));
  return std::to_string(value);
}

/// True for types whose values have a short word. Values of other types are handles.
bool isNumber(ValueType type) {
  constexpr ValueType kNumbers[] = {ValueType::Int,   ValueType::Bool, ValueType::Rank,
                                    ValueType::Bytes, ValueType::Time, ValueType::Reduction};
  return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
}

} // namespace

/// "py is 2, ranks is 5": the parameters that an expression uses, each name once. Names of loops
/// are left out: they have many values.
std::string Interpreter::valuesOf(const Decl &decl, ExprId root) {
  std::vector<std::string> words;
  auto add = [&](std::string_view name, const std::string &value) {
    std::string word = std::string(name) + " is " + value;
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(std::move(word));
  };
  auto addParam = [&](uint32_t slot) {
    for (const Param &param : decl.params)
      if (!param.isBuffer && param.slot == slot && isNumber(param.type))
        add(program_.nameOf(param), inWords(param.type, intSlot(slot)));
  };
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const Expr &e = program_.expr(open.back());
    open.pop_back();
    if (e.kind == ExprKind::LocalInt)
      addParam(e.slot);
    else if (e.kind == ExprKind::NumRanks)
      add("ranks", std::to_string(frame_->group->size));
    else if (e.kind == ExprKind::MyRank)
      add("rank", std::to_string(frame_->group->me));
    else if (e.kind == ExprKind::SizeSymbol)
      add(text(decl.sizeNames[e.slot]), std::to_string(intOf(sizeSlot(e.slot), e.loc)));
    size_t first = open.size();
    forEachOperand(program_, e, [&](ExprId operand) { open.push_back(operand); });
    std::reverse(open.begin() + static_cast<ptrdiff_t>(first), open.end());
  }
  std::string all;
  for (const std::string &word : words)
    all += (all.empty() ? "" : ", ") + word;
  return all;
}

void Interpreter::checkRequirements(const Decl &decl, SourceLoc loc) {
  for (ExprId requirement : decl.requirements) {
    if (failed_)
      return;
    bool holds = eval(requirement) != 0;
    if (failed_ || holds)
      continue;
    std::string values = valuesOf(decl, requirement);
    Diagnostic d = Diagnostic::error(loc, "this use of '" + program_.nameOf(decl) +
                                              "' breaks what it requires");
    d.notes.push_back(Diagnostic::note(program_.expr(requirement).loc,
                                       "required here" + (values.empty() ? "" : ": " + values)));
    fail(std::move(d));
  }
}

} // namespace colldsl
