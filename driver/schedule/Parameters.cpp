#include "driver/schedule/Parameters.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/schedule/TrialValues.h"
#include "ir/Operators.h"
#include "program/CountedSize.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace colldsl::driver {
namespace {

bool isRoot(const Program &program, const Param &param) {
  return !param.isBuffer && param.type == ValueType::Rank && program.nameOf(param) == "root";
}

/// The names that --set accepts: parameters, and sizes other than n, which --bytes sets.
std::vector<llvm::StringRef> settableNames(const Program &program, const Decl &decl) {
  std::vector<llvm::StringRef> names;
  for (const Param &param : decl.params)
    if (!param.isBuffer)
      names.push_back(program.nameOf(param));
  for (uint32_t i = 0; i < decl.sizeNames.size(); ++i)
    if (i != countedSlot(decl))
      names.push_back(program.strings[decl.sizeNames[i]]);
  return names;
}

/// The text of a literal or of a parameter; "..." for other expressions.
std::string simpleWord(const Program &program, const Decl &decl, const Expr &e) {
  if (e.kind == ExprKind::IntLit)
    return std::to_string(e.value);
  for (const Param &param : decl.params)
    if (e.kind == ExprKind::LocalInt && !param.isBuffer && param.slot == e.slot)
      return program.nameOf(param);
  return "...";
}

/// The text of a candidate: "4096", "kary(root, 2)".
std::string candidateWord(const Program &program, const Decl &decl, const Expr &e) {
  if (e.kind != ExprKind::MakeTree && e.kind != ExprKind::MakeGraph)
    return simpleWord(program, decl, e);
  std::string text;
  for (uint32_t i = 0; i < index(e.b); ++i)
    if (ExprId operand{program.operands[index(e.a) + i]}; operand != kNoExpr)
      text += (text.empty() ? "" : ", ") + simpleWord(program, decl, program.expr(operand));
  return program.nameOf(program.decls[e.value]) + "(" + text + ")";
}

} // namespace

void Call::choose(const std::string &name, const std::string &value) {
  for (auto &[known, before] : chosen)
    if (known == name) {
      before = value;
      return;
    }
  chosen.emplace_back(name, value);
}

std::string Call::words() const {
  std::string text;
  for (const auto &[name, value] : chosen)
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

std::vector<uint32_t> eachRank(uint32_t ranks) {
  constexpr uint32_t kMaxOfAll = 8;
  std::set<uint32_t> chosen{0, std::min(1u, ranks - 1), ranks / 2, ranks - 1};
  for (uint32_t r = 0; ranks <= kMaxOfAll && r < ranks; ++r)
    chosen.insert(r);
  return {chosen.begin(), chosen.end()};
}

const ScheduleRequest::Setting *Parameters::setting(const std::string &name) const {
  auto last = std::find_if(request_.settings.rbegin(), request_.settings.rend(),
                           [&](const ScheduleRequest::Setting &s) { return s.name == name; });
  return last == request_.settings.rend() ? nullptr : &*last;
}

std::vector<std::string> Parameters::rootTexts(const Param &param, uint32_t ranks) const {
  const std::string &name = source_.program().nameOf(param);
  if (const ScheduleRequest::Setting *given = setting(name))
    return {given->value};
  std::vector<std::string> texts;
  for (uint32_t r = 0; variety_.everyRoot && r < ranks; ++r)
    texts.push_back(std::to_string(r));
  for (uint32_t r : variety_.roots)
    if (r < ranks)
      texts.push_back(std::to_string(r));
  bool hasNone = texts.empty() && !variety_.everyRoot && variety_.roots.empty();
  for (uint32_t r : hasNone &&variety_.vary ? eachRank(ranks) : std::vector<uint32_t>{})
    texts.push_back(std::to_string(r));
  if (hasNone && !variety_.vary)
    texts.push_back(param.defaultValue == kNoExpr && variety_.tryValues ? "0" : "");
  return texts;
}

/// The values to call with; an empty text stands for the default, or for no value.
std::vector<std::string> Parameters::texts(const Param &param, uint32_t ranks,
                                           const std::string &root) const {
  if (const ScheduleRequest::Setting *given = setting(source_.program().nameOf(param)))
    return {given->value};
  if (param.type == ValueType::Reduction && request_.reduction)
    return {std::string(spelling(*request_.reduction))};
  if (!variety_.tryValues)
    return {""};
  bool isReduction =
      param.type == ValueType::Reduction && isDefined(Reduction::MatMul, request_.elementType());
  if (param.defaultValue != kNoExpr)
    return isReduction ? std::vector<std::string>{"", "matmul"} : std::vector<std::string>{""};
  std::vector<std::string> tried = trialValues(param.type, ranks, root.empty() ? "0" : root);
  if (variety_.thorough && param.type == ValueType::IntList)
    tried.push_back(moreBlockLengths());
  if (isReduction)
    tried.push_back("matmul");
  return tried.empty() ? std::vector<std::string>{""} : tried;
}

Result<ExprId> Parameters::argument(DeclId id, const Param &param, const std::string &text) {
  std::string name = source_.program().nameOf(param);
  std::string key = std::to_string(index(id)) + " " + name + " " + text;
  if (auto known = known_.find(key); known != known_.end())
    return known->second;
  Result<ExprId> expr = source_.compilation().addArgument(id, name, text);
  if (expr)
    known_[key] = *expr;
  return expr;
}

Status Parameters::addSizes(const Decl &decl, uint64_t elements, Call &call) const {
  uint32_t n = countedSlot(decl);
  for (uint32_t i = 0; i < decl.sizeNames.size(); ++i) {
    const std::string &name = source_.program().strings[decl.sizeNames[i]];
    if (i == n)
      continue;
    if (const ScheduleRequest::Setting *given = setting(name)) {
      Result<uint64_t> number = parseNumber(given->value, 0, uint64_t{1} << 40);
      if (!number)
        return Status::error("--set " + name + ": a size is a number: " + number.message());
      call.sizes.emplace_back(name, *number);
    } else if (variety_.tryValues) {
      call.sizes.emplace_back(name, trialSize(elements));
      call.choose(name, std::to_string(trialSize(elements)));
    }
  }
  return {};
}

/// If values vary, a call for each size without a given value, with that size at 0.
std::vector<Call> Parameters::withoutElements(const Call &base) const {
  std::vector<Call> calls;
  for (size_t i = 0; variety_.vary && i < base.sizes.size(); ++i) {
    const std::string &name = base.sizes[i].first;
    if (setting(name) || base.sizes[i].second == 0)
      continue;
    Call call = base;
    call.sizes[i].second = 0;
    call.choose(name, "0");
    calls.push_back(std::move(call));
  }
  return calls;
}

/// Adds all combinations of the values of all parameters except the root.
Status Parameters::addCalls(DeclId id, uint32_t ranks, const std::string &root, bool varies,
                            const Call &base, std::vector<Call> &calls) {
  std::vector<Call> open{base};
  uint32_t params = static_cast<uint32_t>(source_.program().decl(id).params.size());
  for (uint32_t p = 0; p < params; ++p) {
    const Param param = source_.program().decl(id).params[p]; // a copy: the program grows below
    if (param.isBuffer)
      continue;
    Result<std::vector<Choice>> choices = valuesOf(id, param, ranks, root);
    if (!choices)
      return choices.status();
    std::vector<Call> next;
    for (const Choice &choice : *choices)
      for (Call call : open) {
        if (choice.value != kNoExpr) {
          call.arguments[p] = choice.value;
          call.choose(source_.program().nameOf(param), choice.words);
        }
        next.push_back(std::move(call));
      }
    open = std::move(next);
  }
  bool isFilled = request_.passes.pipeline.has(PassKind::Program); // passes choose the values
  if (varies && !isFilled)
    if (Status s = addVariations(id, ranks, open); !s)
      return s;
  calls.insert(calls.end(), open.begin(), open.end());
  return {};
}

/// The values of a parameter that are combined with those of the other parameters.
Result<std::vector<Parameters::Choice>>
Parameters::valuesOf(DeclId id, const Param &param, uint32_t ranks, const std::string &root) {
  const Program &program = source_.program();
  bool isGiven = setting(program.nameOf(param)) || param.defaultValue != kNoExpr;
  std::vector<Choice> choices;
  if (variety_.tryValues && !isGiven && !param.candidates.empty() && !isRoot(program, param)) {
    ExprId first = param.candidates[0].lo;
    choices.push_back({first, candidateWord(program, program.decl(id), program.expr(first))});
    return choices;
  }
  bool tellsRoot = isRoot(program, param);
  for (const std::string &text :
       tellsRoot ? std::vector<std::string>{root} : texts(param, ranks, root)) {
    Result<ExprId> value = text.empty() ? Result(kNoExpr) : argument(id, param, text);
    if (!value)
      return value.status();
    choices.push_back({*value, text});
  }
  if (variety_.vary && !isGiven && param.type == ValueType::Graph)
    for (const std::string &text : irregularGraphs(variety_.thorough)) // if nothing hides them
      if (Result<ExprId> value = argument(id, param, text))
        choices.push_back({*value, text});
  return choices;
}

/// Adds each call again, with another value of one parameter.
Status Parameters::addVariations(DeclId id, uint32_t ranks, std::vector<Call> &calls) {
  size_t given = calls.size();
  uint32_t params = static_cast<uint32_t>(source_.program().decl(id).params.size());
  for (uint32_t p = 0; p < params; ++p) {
    const Param param = source_.program().decl(id).params[p]; // a copy: the program grows below
    const std::string name = source_.program().nameOf(param);
    if (param.isBuffer || setting(name))
      continue;
    Result<std::vector<Choice>> choices = variationsOf(id, param, ranks);
    if (!choices)
      return choices.status();
    for (const Choice &choice : *choices)
      for (size_t i = 0; i < given; ++i) {
        Call call = calls[i];
        call.arguments[p] = choice.value;
        call.choose(name, choice.words);
        if (call.words() != calls[i].words())
          calls.push_back(std::move(call));
      }
  }
  return {};
}

/// Values to vary a parameter: the ends of its candidates, else all values of a small type.
Result<std::vector<Parameters::Choice>> Parameters::variationsOf(DeclId id, const Param &param,
                                                                 uint32_t ranks) {
  const Program &program = source_.program();
  auto wordOf = [&](ExprId value) {
    return value == kNoExpr ? "" : candidateWord(program, program.decl(id), program.expr(value));
  };
  std::vector<Choice> choices;
  for (const Candidate &candidate : param.candidates)
    for (ExprId end : {candidate.lo, candidate.hi})
      if (end != kNoExpr)
        choices.push_back({end, wordOf(end)});
  std::vector<std::string> texts;
  if (choices.empty() && param.type == ValueType::Bool)
    texts = {"false", "true"};
  if (choices.empty() && param.type == ValueType::Rank && !isRoot(program, param))
    for (uint32_t r : eachRank(ranks))
      texts.push_back(std::to_string(r));
  for (const std::string &text : texts) {
    Result<ExprId> value = argument(id, param, text);
    if (!value)
      return value.status();
    choices.push_back({*value, text});
  }
  std::string atDefault = wordOf(param.defaultValue);
  bool isSimple = atDefault.find("...") == std::string::npos;
  llvm::erase_if(choices,
                 [&](const Choice &c) { return isSimple && wordOf(c.value) == atDefault; });
  return choices;
}

Result<std::vector<Call>> Parameters::calls(const Source::Target &target, uint32_t ranks,
                                            uint64_t elements) {
  std::vector<Call> calls;
  if (target.schedule) {
    calls.emplace_back();
    return calls;
  }
  const Decl &decl = source_.program().decl(target.collective);
  Call base;
  base.arguments.assign(decl.params.size(), kNoExpr);
  for (auto [param, value] : target.arguments)
    base.arguments[param] = value;
  if (Status s = addSizes(decl, elements, base); !s)
    return s;
  std::vector<std::string> roots{""};
  for (const Param &param : decl.params)
    if (isRoot(source_.program(), param))
      roots = rootTexts(param, ranks);
  for (const std::string &root : roots) {
    bool isEnd = root == roots.front() || root == roots.back();
    bool varies = variety_.vary && (variety_.thorough || isEnd);
    if (Status s = addCalls(target.collective, ranks, root, varies, base, calls); !s)
      return s;
  }
  for (const Call &call : withoutElements(base))
    if (Status s = addCalls(target.collective, ranks, roots.front(), false, call, calls); !s)
      return s;
  return calls;
}

namespace {

/// True if the name is that of n in the target's collective.
bool isN(const std::string &name, const Source &source, const Source::Target &target) {
  if (target.schedule)
    return false;
  const Program &program = source.program();
  return countedSize(program, program.decl(target.collective)) == name;
}

} // namespace

bool usedAllSettings(const Source &source, const std::vector<Source::Target> &targets,
                     const ScheduleRequest &request) {
  std::vector<llvm::StringRef> names;
  for (const Source::Target &target : targets)
    if (!target.schedule)
      for (llvm::StringRef name :
           settableNames(source.program(), source.program().decl(target.collective)))
        names.push_back(name);
  for (const ScheduleRequest::Setting &setting : request.settings) {
    if (std::find(names.begin(), names.end(), llvm::StringRef(setting.name)) != names.end())
      continue;
    if (llvm::any_of(targets,
                     [&](const Source::Target &t) { return isN(setting.name, source, t); }))
      return source.session().sink().error("--set " + setting.name +
                                           ": this size is given by --bytes, as " + setting.name +
                                           " times the size of T");
    std::string hint = didYouMean(nearestWord(setting.name, names));
    return source.session().sink().error("--set " + setting.name +
                                         ": no collective here has such a parameter" +
                                         (hint.empty() ? "" : "; " + hint));
  }
  return true;
}

} // namespace colldsl::driver
