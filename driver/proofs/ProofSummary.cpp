#include "driver/proofs/ProofSummary.h"

#include "driver/Lists.h"
#include "driver/proofs/Machines.h"
#include "ir/Numbers.h"
#include "ir/Ranges.h"
#include "program/CountedSize.h"
#include "program/Operands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>
#include <tuple>

namespace colldsl::driver {
namespace {

using Kind = ProofOutcome::Kind;

constexpr const char *kDefault = "default";

/// The values if they are few; else the names of trees and graphs, "kary"; else their number.
std::string valuesWord(const std::vector<std::string> &values) {
  constexpr size_t kMax = 6;
  if (values.size() <= kMax)
    return llvm::join(values, "|");
  std::vector<std::string> names;
  for (llvm::StringRef value : values)
    if (std::string name = value.take_until([](char c) { return c == '('; }).str();
        !llvm::is_contained(names, name))
      names.push_back(name);
  return names.size() <= kMax ? llvm::join(names, "|") : std::to_string(values.size()) + " values";
}

} // namespace

size_t Summary::count(Kind kind) const {
  return llvm::count_if(outcomes, [&](const ProofOutcome &o) { return o.kind == kind; });
}

bool Summary::hasFailed(size_t task) const {
  return outcomes[task].kind == Kind::Refused || outcomes[task].kind == Kind::Invalid;
}

size_t Summary::failed() const { return count(Kind::Refused) + count(Kind::Invalid); }

std::vector<size_t> Summary::counterexamples() const {
  std::vector<std::pair<uint64_t, std::string>> failures;
  std::vector<size_t> failed;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (hasFailed(i)) {
      failures.emplace_back(tasks[i].bytes, outcomes[i].pattern);
      failed.push_back(i);
    }
  std::vector<size_t> shown = counterexamples(failures);
  for (size_t &i : shown)
    i = failed[i];
  return shown;
}

std::vector<size_t>
Summary::counterexamples(const std::vector<std::pair<uint64_t, std::string>> &failures) {
  std::set<std::string> ofSomeBytes;
  for (const auto &[bytes, pattern] : failures)
    if (bytes > 0)
      ofSomeBytes.insert(pattern);
  std::vector<size_t> shown;
  for (size_t i = 0; i < failures.size(); ++i)
    if (failures[i].first > 0 || !ofSomeBytes.contains(failures[i].second))
      shown.push_back(i);
  return shown;
}

bool Summary::isCompared(SourceLoc promise) const {
  return llvm::any_of(
      outcomes, [&](const ProofOutcome &o) { return llvm::is_contained(o.compared, promise); });
}

void Summary::addVacuous(SourceLoc promise, bool isCost) {
  vacuous.push_back(Diagnostic::error(promise, std::string(spelling(proof::Proof::Contract)) +
                                                   ": this promises nothing: no rank " +
                                                   (isCost ? "has this bound" : "compares a byte") +
                                                   " in " + counted(proofs(), "proof")));
}

void Summary::findPromisesOfNothing(const Program &program) {
  if (failed() > 0 || proofs() == 0)
    return;
  if (target.schedule)
    return findPromisesOfNothing(*target.schedule);
  for (uint32_t root : program.decl(target.collective).ensures) {
    const EnsureNode &node = program.statementOf(root);
    bool isCost = node.kind == EnsureKind::Cost;
    if (node.kind != EnsureKind::Synchronizes && !isCompared(node.loc) && (isAsWritten || !isCost))
      addVacuous(node.loc, isCost);
  }
  if (!isAsWritten)
    return;
  forEachInvariant(program, program.decl(target.collective).body, [&](uint32_t root) {
    if (SourceLoc loc = program.statementOf(root).loc; !isCompared(loc))
      addVacuous(loc);
  });
}

void Summary::findPromisesOfNothing(const Schedule &schedule) {
  mayBeVacuous |= schedule.synchronizes;
  std::vector<SourceLoc> seen;
  for (const Dag &dag : schedule.ranks)
    for (const Ensure &ensure : dag.contract.ensures)
      if (ensure.operandCount > 0 && (seen.empty() || seen.back() != ensure.loc))
        seen.push_back(ensure.loc);
  auto place = [](const SourceLoc &l) { return std::tuple(l.file, l.line, l.column); };
  llvm::sort(seen, [&](const SourceLoc &a, const SourceLoc &b) { return place(a) < place(b); });
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (SourceLoc promise : seen)
    if (isCompared(promise))
      mayBeVacuous = true;
    else
      addVacuous(promise);
}

bool Summary::hasContract(const Program &program) const {
  if (!target.schedule)
    return !program.decl(target.collective).ensures.empty();
  const Schedule &schedule = *target.schedule;
  return schedule.hasContract &&
         (schedule.synchronizes || llvm::any_of(schedule.ranks, [](const Dag &dag) {
            return !dag.contract.ensures.empty();
          }));
}

std::string Summary::words(const Program &program) const {
  std::string what = range(program);
  if (promisesNothing())
    return "refused, " + counted(vacuous.size(), "promise") + " of nothing (" + what + ")";
  if (failed() > 0)
    return "refused, " + std::to_string(failed()) + " of " + counted(proofs(), "proof") + " (" +
           what + ")";
  if (tasks.empty())
    return "nothing was proved (no rank is such a root)";
  if (proofs() == 0)
    return "nothing was proved: `where` excludes all (" + what + ")";
  return "proved for " + what + ": " + counted(proofs(), "proof");
}

/// "; clobbers x": parameters with parts that have an arbitrary content at exit.
std::string Summary::clobbers() const {
  std::set<std::string> names;
  for (const Dag &dag : target.schedule ? target.schedule->ranks : std::vector<Dag>())
    for (const Ensure &ensure : dag.contract.ensures)
      if (ensure.operandCount == 0)
        names.insert(target.schedule->nameOf(dag.bufferOf(ensure.target)));
  return names.empty() ? "" : "; clobbers " + llvm::join(names, ", ");
}

std::string Summary::range(const Program &program) const {
  std::string text =
      rangeOfRanks() + rangeOfSizes(program) + rangeOfForms() + rangeOfLengths() + clobbers();
  if (!target.schedule)
    text += rangeOfValues(program);
  text += rangeOfMachines();
  if (!hasContract(program))
    text += "; without a contract";
  if (!vacuous.empty() && !promisesNothing())
    text += "; nothing to compare for " + counted(vacuous.size(), "promise");
  if (size_t excluded = count(Kind::Excluded); excluded > 0 && proofs() > 0)
    text += "; `where` excludes " + std::to_string(excluded);
  return text;
}

std::string Summary::rangeOfRanks() const {
  std::set<uint32_t> ranks;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (isNamed(i))
      ranks.insert(tasks[i].shape.ranks);
  return "ranks " + rangesWord({ranks.begin(), ranks.end()});
}

/// "; 0 B, 4 B" for n, "; m: 0 B, 4 B" for another size symbol; empty if there is none.
std::string Summary::rangeOfSizes(const Program &program) const {
  std::set<uint64_t> sizes;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (isNamed(i) && tasks[i].hasSize)
      sizes.insert(tasks[i].bytes);
  if (sizes.empty())
    return "";
  std::vector<std::string> words;
  for (uint64_t bytes : sizes)
    words.push_back(bytesWord(bytes));
  std::string name = target.schedule ? "n" : countedSize(program, program.decl(target.collective));
  return "; " + (name == "n" ? "" : name + ": ") + llvm::join(words, ", ");
}

std::string Summary::rangeOfLengths() const {
  using Lengths = LengthProofs::Lengths;
  bool isAny = false;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (isProof(i) && outcomes[i].lengths == Lengths::Some)
      return std::string("; ") + kSomeLengths;
    isAny |= isProof(i) && outcomes[i].lengths == Lengths::All;
  }
  return isAny ? "; any lengths of blocks" : "";
}

std::string Summary::rangeOfForms() const {
  bool isInPlace = false, isNot = false;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (isNamed(i))
      (tasks[i].shape.inPlace ? isInPlace : isNot) = true;
  return isInPlace ? (isNot ? "; in place and not" : "; in place") : "";
}

/// "; topology=flat|node:P; leaders=lowest|highest"; empty if the schedules depend on no machine.
std::string Summary::rangeOfMachines() const {
  std::vector<std::string> families;
  std::set<ProofTask::Lead> leads;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!isNamed(i))
      continue;
    leads.insert(tasks[i].lead);
    std::string family =
        tasks[i].topology.empty() ? "" : familyOf(tasks[i].topology, tasks[i].shape.ranks);
    if (!family.empty() && !llvm::is_contained(families, family))
      families.push_back(family);
  }
  std::string text = families.empty() ? "" : "; topology=" + llvm::join(families, "|");
  if (leads.contains(ProofTask::Lead::Highest))
    return text + "; leaders=lowest|highest";
  return leads.contains(ProofTask::Lead::Lowest) ? text + "; leaders=lowest" : text;
}

/// The values of the parameters in their order, then of sizes other than n.
std::string Summary::rangeOfValues(const Program &program) const {
  const Decl &decl = program.decl(target.collective);
  std::string text;
  std::vector<std::string> atDefault;
  auto add = [&](const std::string &name, bool isRank) {
    std::vector<std::string> values = valuesOf(name);
    if (values == std::vector<std::string>{kDefault})
      atDefault.push_back(name);
    else if (!values.empty())
      text += "; " + name + "=" + (isRank ? ranksWords(name) : valuesWord(values));
  };
  for (const Param &param : decl.params)
    if (!param.isBuffer)
      add(program.nameOf(param), param.type == ValueType::Rank);
  std::string others = llvm::join(atDefault, ", ");
  if (!others.empty())
    text += "; " + others + (atDefault.size() == 1 ? " at its default" : " at their defaults");
  for (uint32_t name : decl.sizeNames)
    if (std::vector<std::string> values = valuesOf(program.strings[name]);
        values != std::vector<std::string>{kDefault} && !values.empty())
      text += "; " + program.strings[name] + "=" + valuesWord(values);
  return text;
}

/// The values of a parameter in the proofs, each once, in the order of the tasks.
std::vector<std::string> Summary::valuesOf(const std::string &name) const {
  std::vector<std::string> values;
  std::set<std::string> known;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!isNamed(i))
      continue;
    std::string value = kDefault;
    for (const auto &[chosen, text] : tasks[i].call.chosen)
      if (chosen == name)
        value = text;
    if (known.insert(value).second)
      values.push_back(value);
  }
  return values;
}

/// "all", "all up to 8 ranks, then 0|1|P/2|P - 1", or the values themselves.
std::string Summary::ranksWords(const std::string &name) const {
  std::map<uint32_t, std::set<uint32_t>> tried; // per number of ranks
  for (size_t i = 0; i < tasks.size(); ++i)
    for (const auto &[chosen, text] : tasks[i].call.chosen)
      if (auto rank = parseWhole<uint32_t>(text); rank && isNamed(i) && chosen == name)
        tried[tasks[i].shape.ranks].insert(*rank);
  auto areAll = [](const auto &t) { return t.second.size() == t.first; };
  auto areEach = [](const auto &t) {
    std::vector<uint32_t> each = eachRank(t.first);
    return t.second == std::set<uint32_t>(each.begin(), each.end());
  };
  bool tellsAll = !tried.empty();
  if (tellsAll && llvm::all_of(tried, areAll))
    return "all";
  if (tellsAll && llvm::all_of(tried, areEach))
    return llvm::none_of(tried, areAll) ? "0|1|P/2|P - 1" : "all up to 8 ranks, then 0|1|P/2|P - 1";
  return valuesWord(valuesOf(name));
}

} // namespace colldsl::driver
