#include "driver/Lists.h"
#include "driver/choice/Functions.h"
#include "driver/draw/FailurePage.h"
#include "driver/explain/Explanations.h"
#include "driver/files/WriteFile.h"
#include "driver/proofs/ProveTarget.h"
#include "driver/proofs/Wasted.h"
#include "driver/requests/PageRequest.h"
#include "driver/source/Effects.h"
#include "driver/source/ReadRight.h"
#include "ir/Printable.h"
#include "tools/Commands.h"
#include "tools/FailedProofs.h"
#include "tools/PlanFile.h"
#include "tools/VerifyAllRanks.h"
#include "tools/VerifyPlans.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Color.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace colldsl::tools {
namespace {

struct VerifySettings {
  ProofRequest proofs;
  bool stdlib = false;
  bool json = false;
  bool allRanks = false;
  AllRanksSettings forAllRanks;
  uint32_t shown = 1; ///< counterexamples per collective
  std::string page;   ///< of the first counterexample
  bool isSvg = false; ///< the page is a picture
  PageRequest choice; ///< of what the picture shows

  void addTo(Options &options);
  Status checkAllRanks(const Options &options) const;
  Status checkPlans(const Options &options) const;
};

void VerifySettings::addTo(Options &options) {
  options.section("what to prove");
  options.addFlag("--stdlib", "every collective of the standard library", stdlib);
  options.addFlag("--all-ranks", "one proof for every number of ranks, root, size and parameter",
                  allRanks);
  proofs.addTo(options);
  options.section("how");
  options.addNumber("--within", "SECONDS",
                    "for each proof by --all-ranks, and again for the search of a\n"
                    "counterexample where there is none (default: 60)",
                    forAllRanks.seconds, 1, 86400);
  options.addNumber("--up-to", "N",
                    "the largest number of ranks of that search, which begins at 1\n"
                    "(default: 64; 0: no search, as with --stdlib)",
                    forAllRanks.upTo);
  options.addNumber("--memory", "MIB", "of the solver of --all-ranks (default: 2048)",
                    forAllRanks.mebibytes, 1, 4095);
  options.addText("--smt", "DIR",
                  "write the queries of the proofs by --all-ranks into a new folder, as\n"
                  "SMT-LIB 2 for other solvers",
                  forAllRanks.smtFolder);
  options.addNumber("--counterexamples", "N", "that are printed per collective (default: 1)",
                    shown);
  options.addSideOutput(
      "--show", "FILE",
      "write the first counterexample as a page for a browser, and print its name", page) =
      completionOfFiles({".html", ".svg"});
  options.addFlag("--svg", "write it as a picture for papers instead", isSvg);
  choice.addChoiceTo(options);
  options.addFlag("--json", "print one JSON object", json);
}

/// A proof for all ranks leaves nothing to choose.
Status VerifySettings::checkAllRanks(const Options &options) const {
  if (!allRanks)
    return options.refuseGiven({"--within", "--up-to", "--memory", "--smt"},
                               "it is for --all-ranks");
  if (stdlib)
    if (Status s = options.refuseGiven({"--up-to"}, "with --stdlib there is no search"); !s)
      return s;
  return options.refuseGiven({"--ranks", "--bytes", "--topology", "--roots", "--in-place",
                              "--thorough", "--set", "--op", "--type", "--channel-slots", "--seed",
                              "--max-failures", "--counterexamples", "--show", "--svg"},
                             "--all-ranks proves a collective for all there are");
}

/// A plan has its ranks, sizes and buffers, and is proved for all launches.
Status VerifySettings::checkPlans(const Options &options) const {
  if (!llvm::all_of(options.operands(), isExecutionPlan) || !proofs.schedule.names.empty())
    return Status::error("execution plans are proved alone: name nothing else");
  return options.refuseAllBut({"--counterexamples", "--json", "--show", "--svg"},
                              "an execution plan leaves it no choice");
}

/// Source::otherCollective() of what was refused.
std::string otherCollective(const Summary &summary, const Source &source) {
  return summary.failed() > 0 ? source.otherCollective(summary.target) : "";
}

void print(const Summary &summary, const Source &source, uint32_t shown) {
  std::vector<size_t> failed = summary.counterexamples();
  for (size_t i : llvm::ArrayRef(failed).take_front(shown))
    printFailedProof(summary, i, source);
  if (std::string other = otherCollective(summary, source); !other.empty())
    errorStream() << "note: " << other << "\n";
  if (summary.promisesNothing()) {
    std::vector<Diagnostic> vacuous = summary.vacuous;
    addExplanationNote(vacuous);
    errorStream() << source.render(vacuous, summary.target);
  }
  errorStream() << source.render(warningsOfWaste(summary, source), summary.target);
  std::string verdict = summary.target.name + ": " + summary.words(source.program());
  if (hasColors(1))
    llvm::outs() << paintedVerdict(printable(verdict)) << "\n";
  else
    resultStream() << verdict << "\n";
  llvm::outs().flush();
}

llvm::json::Object toJson(const Summary &summary, const Source &source) {
  llvm::json::Array failures;
  for (size_t i : summary.counterexamples())
    failures.push_back(failedProofJson(summary, i, source));
  return llvm::json::Object{
      {"name", jsonText(summary.target.name)},
      {"ok", summary.ok()},
      {"proofs", summary.proofs()},
      {"refused", summary.failed()},
      {"excluded", summary.count(ProofOutcome::Kind::Excluded)},
      {"for", jsonText(summary.range(source.program()))},
      {"failures", std::move(failures)},
      {"otherCollective", jsonText(otherCollective(summary, source))},
      {"promisesOfNothing", jsonText(source.render(summary.vacuous, summary.target))},
      {"warnings", jsonText(source.render(warningsOfWaste(summary, source), summary.target))},
  };
}

/// Writes the page of the first counterexample that print() shows and that has a schedule. Returns
/// true if the page was written, nothing if there is no such counterexample; reports mistakes.
std::optional<bool> showFirst(const Summary &summary, const Source &source, const Proofs &proofs,
                              const VerifySettings &settings) {
  for (size_t i : summary.counterexamples()) {
    if (summary.outcomes[i].kind != ProofOutcome::Kind::Refused)
      continue;
    Status written =
        writeFailurePage(settings.page, source, summary.target, proofs, summary.tasks[i],
                         settings.isSvg ? &settings.choice.svg : nullptr);
    if (!written)
      return printError(wrap("--show", written).diagnostic());
    if (!settings.json)
      resultStream() << settings.page << "\n";
    return true;
  }
  return std::nullopt;
}

/// True if one of the collectives that an operand stands for was proved. Otherwise their summaries
/// have the reason.
bool hasProof(const std::vector<std::string> &names, const std::set<std::string> &proved) {
  return llvm::any_of(names, [&](const std::string &name) { return proved.contains(name); });
}

/// `named`: per operand the collectives that it stands for. `hasMistakes`: other operands could not
/// be read.
Exit proveAll(Source &source, const std::vector<Source::Target> &targets,
              const std::vector<std::vector<std::string>> &named, bool hasMistakes,
              const VerifySettings &settings) {
  Proofs proofs(source, settings.proofs);
  size_t count = 0, refused = 0;
  std::set<std::string> proved; ///< collectives with a proof
  bool ok = true;
  std::optional<bool> shown; ///< the page
  llvm::json::Array collectives;
  for (const Source::Target &target : targets) {
    Result<Summary> summary = [&] {
      Progress progress;
      return proveTarget(proofs, source, target, progress.watch());
    }();
    if (!summary) {
      source.report(summary.status().diagnostic(), target);
      return Exit::Failure;
    }
    count += summary->proofs();
    refused += summary->failed();
    ok &= summary->ok();
    if (summary->proofs() > 0)
      proved.insert(target.name);
    if (settings.json)
      collectives.push_back(toJson(*summary, source));
    else
      print(*summary, source, settings.shown);
    if (!settings.page.empty() && !shown)
      shown = showFirst(*summary, source, proofs, settings);
  }
  if (!settings.page.empty() && !shown && !settings.json)
    errorStream() << "colldsl: note: "
                  << (refused > 0 ? "what failed has no schedule to draw, "
                                  : "no schedule was refused, ")
                  << settings.page << " was not written\n";
  ok &= shown.value_or(true);
  ok &= count > 0; // nothing is no proof
  for (const std::vector<std::string> &names : named)
    ok &= hasProof(names, proved);
  ok &= !hasMistakes;
  if (settings.json)
    printJson(llvm::json::Object{{"ok", ok},
                                 {"proofs", count},
                                 {"refused", refused},
                                 {"collectives", std::move(collectives)}});
  else
    resultStream() << counted(count, "proof")
                   << (refused ? ", " + std::to_string(refused) + " refused" : "") << "\n";
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace

Exit verifyCommand(Arguments arguments) {
  VerifySettings settings;
  Options options("verify", "[FILE|COLLECTIVE]... [OPTION...]",
                  "Proves that schedules meet, cannot deadlock or race, and keep their contract,\n"
                  "or shows a counterexample. A FILE is source text (.coll), the text form or\n"
                  "GOAL, an image or a schedule library, `-` standard input, or an execution plan\n"
                  "of MSCCL++ (.json); a COLLECTIVE is one of the standard library, or a function\n"
                  "such as bcast: all that its rules name.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  bool named = !options.operands().empty() || !settings.proofs.schedule.names.empty();
  if (settings.stdlib && named)
    return options.refuse("--stdlib stands for all that is to be proved: name nothing else");
  if (Status s = settings.choice.check(options, settings.isSvg, "failure"); !s)
    return options.refuse(s.message());
  if (settings.isSvg && settings.page.empty())
    return options.refuse("--svg: name the file with --show");
  if (!settings.stdlib && !named)
    return options.refuse("nothing to prove: name a file, a collective, or --stdlib");
  if (Status s = settings.checkAllRanks(options); !s)
    return options.refuse(s.message());
  if (llvm::any_of(options.operands(), isExecutionPlan)) {
    if (Status s = settings.checkPlans(options); !s)
      return options.refuse(s.message());
    return verifyPlans(options.operands(), {settings.shown, settings.json, settings.page,
                                            settings.isSvg, settings.choice.svg});
  }
  RightOperands right = readRight(session(), options.operands(), settings.proofs.schedule);
  const std::unique_ptr<Source> &source = right.source;
  if (!source)
    return Exit::Failure;
  settings.proofs.verify.findsWaste =
      !settings.proofs.schedule.noWarn && !source->mainFile().empty();
  std::vector<Source::Target> targets =
      settings.stdlib ? source->stdlib() : source->choose(settings.proofs.schedule);
  std::vector<std::vector<std::string>> names;
  for (const Source::Target &target : settings.stdlib ? std::vector<Source::Target>() : targets) {
    std::vector<Source::Target> each{target};
    expandFunctions(*source, each);
    names.emplace_back();
    for (const Source::Target &collective : each)
      names.back().push_back(collective.name);
  }
  expandFunctions(*source, targets);
  if (settings.stdlib && settings.proofs.onlyInPlace)
    std::erase_if(targets, [&](const auto &target) { return !hasAliases(*source, target); });
  if (settings.allRanks) {
    settings.forAllRanks.upTo = settings.stdlib ? 0 : settings.forAllRanks.upTo;
    return targets.empty() || right.hasMistakes
               ? Exit::Failure
               : verifyAllRanks(*source, targets, settings.proofs, settings.forAllRanks,
                                settings.json);
  }
  bool fine = !targets.empty() && usedAllSettings(*source, targets, settings.proofs.schedule) &&
              usesAllGiven(options, *source, targets, settings.proofs.schedule, Purpose::Make);
  if (fine && !hasOpenBlocks(*source, targets))
    if (Status s = options.refuseGiven({"--seed"}, "no buffer has blocks [*] or [<= m]"); !s)
      return printError(s.diagnostic()), Exit::Failure;
  return fine ? proveAll(*source, targets, names, right.hasMistakes, settings) : Exit::Failure;
}

} // namespace colldsl::tools
