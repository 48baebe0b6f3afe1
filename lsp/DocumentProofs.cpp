#include "lsp/DocumentProofs.h"

#include "driver/draw/FailurePage.h"
#include "driver/files/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace colldsl::lsp {

using driver::ProofOutcome;
using driver::ProofTask;
using driver::Summary;

namespace {

/// A fresh copy of the compilation, for use by one thread.
Compilation copyOf(const Analysis &analysis) {
  std::vector<std::string_view> texts;
  for (size_t file = 0; file < analysis.program().files.size(); ++file)
    texts.push_back(analysis.compilation.sourceText(static_cast<uint16_t>(file)));
  return reopenProgram(analysis.program(), texts, analysis.compilation.mainDecls());
}

/// True if the outcome is due to a limit of this server, whose option the hint names, and not to a
/// fault of the collective. Infinite recursion is a fault.
bool isLimit(const ProofOutcome &outcome) {
  if (outcome.kind != ProofOutcome::Kind::Invalid || outcome.why.empty())
    return false;
  const std::string &hint = outcome.why.front().hint;
  return hint.find("--max-") != std::string::npos &&
         hint.find("--max-call-depth") == std::string::npos;
}

/// "P=3, n=1, in place, root=2".
std::string shapeWords(const ProofTask &task) {
  std::string words =
      "P=" + std::to_string(task.shape.ranks) + ", n=" + std::to_string(task.shape.elements);
  std::string how = task.callWords();
  return how.empty() ? words : words + ", " + how;
}

} // namespace

DocumentProofs::DocumentProofs(std::shared_ptr<const Analysis> analysis,
                               const driver::ProofRequest &request)
    : analysis_(std::move(analysis)), request_(request),
      source_(driver::Source::of(session_, copyOf(*analysis_), analysis_->path)),
      proofs_(std::make_unique<driver::Proofs>(*source_, request)) {
  const std::vector<std::string> &names = request.schedule.names; // empty: all
  for (DeclId id : source_->compilation().mainDecls()) {
    const Decl &decl = source_->program().decl(id);
    bool isNamed = names.empty() || llvm::is_contained(names, source_->program().nameOf(decl));
    if (decl.kind == DeclKind::Collective && isNamed)
      targets_.push_back(source_->collective(id));
  }
}

Verdict DocumentProofs::judge(Summary &summary, const std::string &why) const {
  if (why.empty())
    summary.findPromisesOfNothing(source_->program());
  if (summary.failed() > 0) {
    size_t first = summary.counterexamples().front();
    const ProofTask &task = summary.tasks[first];
    ProofOutcome &outcome = summary.outcomes[first];
    Verdict verdict{Verdict::Kind::Refused, "", outcome.why, std::nullopt};
    verdict.words = "fails at " + shapeWords(task) + ": " + outcome.why.front().message;
    if (outcome.kind == ProofOutcome::Kind::Refused)
      verdict.refused = task;
    return verdict;
  }
  if (summary.promisesNothing())
    return {Verdict::Kind::Refused, summary.words(source_->program()), summary.vacuous,
            std::nullopt};
  std::string words = summary.words(source_->program());
  if (summary.proofs() == 0)
    return {Verdict::Kind::Unproved, why.empty() ? words : "not proved: " + why, {}, std::nullopt};
  return {Verdict::Kind::Proved, why.empty() ? words : words + "; " + why, {}, std::nullopt};
}

std::string DocumentProofs::add(const ProofTask &task, Summary &summary) const {
  std::lock_guard lock(mutex_);
  ProofOutcome outcome = proofs_->prove(summary.target, task);
  if (isLimit(outcome))
    return "stopped at " + shapeWords(task) + ": " + outcome.why.front().message;
  summary.tasks.push_back(task);
  summary.outcomes.push_back(std::move(outcome));
  return "";
}

std::optional<Verdict> DocumentProofs::prove(const driver::Source::Target &target, uint32_t seconds,
                                             const std::atomic<bool> &stop) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  Result<std::vector<ProofTask>> tasks = [&] {
    std::lock_guard lock(mutex_);
    return proofs_->plan(target);
  }();
  if (!tasks)
    return Verdict{Verdict::Kind::Unproved, "not proved: " + tasks.message(), {}, std::nullopt};
  Summary summary;
  summary.target = target;
  summary.mayBeVacuous = !request_.schedule.settings.empty();
  std::string why;
  size_t completed = 0; // the tasks of numbers of ranks that have no others
  for (const ProofTask &task : *tasks) {
    if (!summary.tasks.empty() && task.shape.ranks != summary.tasks.back().shape.ranks) {
      completed = summary.tasks.size();
      if (summary.failed() > 0)
        break;
    }
    if (stop.load(std::memory_order_relaxed))
      return std::nullopt;
    why = std::chrono::steady_clock::now() < end
              ? add(task, summary)
              : "stopped after " + std::to_string(seconds) + " s";
    if (!why.empty())
      break;
  }
  if (!why.empty() && summary.failed() == 0) {
    summary.tasks.erase(summary.tasks.begin() + static_cast<ptrdiff_t>(completed),
                        summary.tasks.end());
    summary.outcomes.resize(completed);
  }
  return judge(summary, why);
}

Status DocumentProofs::writePage(const std::string &file, llvm::StringRef collective,
                                 const Verdict &verdict) const {
  std::lock_guard lock(mutex_);
  for (const driver::Source::Target &target : targets_)
    if (target.name == collective && verdict.refused)
      return driver::writeFailurePage(file, *source_, target, *proofs_, *verdict.refused);
  return Status::error("no schedule of '" + collective.str() +
                       "' was refused, so that there is "
                       "nothing to draw");
}

} // namespace colldsl::lsp
