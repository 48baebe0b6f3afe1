#include "tools/VerifyPlans.h"

#include "driver/draw/PlanFailurePage.h"
#include "driver/files/ReadInput.h"
#include "ir/Printable.h"
#include "mscclpp/Prove.h"
#include "tools/PlanFile.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Color.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace colldsl::tools {
namespace {

/// Proves the plan of a file, or tells why it is none that can be proved.
Result<mscclpp::Verdict> proveFile(const std::string &file, mscclpp::Plan &plan) {
  Result<mscclpp::Plan> read = readPlan(file);
  if (!read)
    return read.status();
  plan = read.take();
  return mscclpp::prove(plan);
}

std::string scope(const mscclpp::Plan &plan, const mscclpp::Verdict &verdict) {
  std::string text = plan.collective + (plan.inPlace ? " in place" : "") + " on " +
                     driver::counted(plan.numGpus(), "gpu") + ", launches k and k + 1" +
                     (verdict.launches > 2 ? " and k + 2" : "") + ", " + verdict.lengths;
  if (plan.minBytes > 0 || plan.maxBytes < ~0ULL)
    text += ", messages of " + std::to_string(plan.minBytes) + " to " +
            std::to_string(plan.maxBytes) + " bytes";
  return text;
}

std::string verdictWords(const mscclpp::Plan &plan, const mscclpp::Verdict &verdict) {
  std::string name = nameOf(plan);
  if (!verdict.refusals.empty())
    return name + ": refused: " + scope(plan, verdict);
  return name + ": proved for " + scope(plan, verdict) +
         (verdict.promisesNothing ? "; no result is promised" : "");
}

llvm::json::Object toJson(const std::string &file, const mscclpp::Plan &plan,
                          const mscclpp::Verdict &verdict) {
  llvm::json::Array failures;
  for (const mscclpp::Refusal &refusal : verdict.refusals) {
    llvm::json::Array notes;
    for (const std::string &note : refusal.notes)
      notes.push_back(jsonText(note));
    failures.push_back(
        llvm::json::Object{{"text", jsonText(refusal.message)}, {"notes", std::move(notes)}});
  }
  return llvm::json::Object{{"file", jsonText(file)},
                            {"name", jsonText(plan.name)},
                            {"ok", verdict.refusals.empty()},
                            {"for", jsonText(scope(plan, verdict))},
                            {"failures", std::move(failures)}};
}

} // namespace

void printRefusals(const std::string &file, const mscclpp::Verdict &verdict, uint32_t shown) {
  for (const mscclpp::Refusal &refusal : llvm::ArrayRef(verdict.refusals).take_front(shown)) {
    errorStream() << printable(file) << ": error: " << printable(refusal.message) << "\n";
    for (const std::string &note : refusal.notes)
      errorStream() << printable(file) << ": note: " << printable(note) << "\n";
  }
  if (verdict.refusals.size() > shown)
    errorStream() << printable(file) << ": note: " << verdict.refusals.size() - shown
                  << " more, --counterexamples N shows them\n";
}

namespace {

/// Writes the page of a refused plan, and prints its name. Reports mistakes.
bool showRefused(const std::string &file, const mscclpp::Plan &plan,
                 const mscclpp::Verdict &verdict, const PlanProofSettings &settings) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> text = readInput(file);
  Status written =
      text ? writePlanFailurePage(settings.page, plan, verdict, shownName(file),
                                  (*text)->getBuffer(), settings.isSvg ? &settings.svg : nullptr)
           : text.status();
  if (!written)
    return printError(wrap("--show", written).diagnostic());
  if (!settings.json)
    resultStream() << settings.page << "\n";
  return true;
}

} // namespace

Exit verifyPlans(llvm::ArrayRef<std::string> files, const PlanProofSettings &settings) {
  size_t refused = 0, proofs = 0;
  bool ok = true, isShown = settings.page.empty();
  llvm::json::Array plans;
  for (const std::string &file : files) {
    mscclpp::Plan plan;
    Result<mscclpp::Verdict> verdict = proveFile(file, plan);
    if (!verdict) {
      ok = printError(file + ": " + verdict.message());
      if (settings.json)
        plans.push_back(llvm::json::Object{
            {"file", jsonText(file)}, {"ok", false}, {"error", jsonText(verdict.message())}});
      continue;
    }
    ++proofs;
    refused += !verdict->refusals.empty();
    if (settings.json) {
      plans.push_back(toJson(file, plan, *verdict));
    } else {
      printRefusals(file, *verdict, settings.shown);
      std::string words = printable(verdictWords(plan, *verdict));
      if (hasColors(1))
        llvm::outs() << paintedVerdict(words) << "\n";
      else
        resultStream() << words << "\n";
      llvm::outs().flush();
    }
    if (!isShown && !verdict->refusals.empty()) {
      isShown = true;
      ok &= showRefused(file, plan, *verdict, settings);
    }
  }
  if (!isShown && !settings.json)
    errorStream() << "colldsl: note: no plan was refused, " << settings.page
                  << " was not written\n";
  ok &= refused == 0;
  if (settings.json)
    printJson(llvm::json::Object{
        {"ok", ok}, {"proofs", proofs}, {"refused", refused}, {"plans", std::move(plans)}});
  else
    resultStream() << driver::counted(proofs, "proof")
                   << (refused ? ", " + std::to_string(refused) + " refused" : "") << "\n";
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
