#include "tools/VerifyPlans.h"

#include "driver/files/ReadInput.h"
#include "ir/ForeignFormat.h"
#include "ir/Printable.h"
#include "mscclpp/Prove.h"
#include "mscclpp/Read.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Color.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

/// Proves the plan of a file, or tells why it is none that can be proved.
Result<mscclpp::Verdict> proveFile(const std::string &file, mscclpp::Plan &plan) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(file);
  if (!input)
    return input.status();
  llvm::StringRef text = (*input)->getBuffer();
  Result<mscclpp::Plan> read = mscclpp::read({text.data(), text.size()});
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
  std::string name = plan.name.empty() ? "plan" : plan.name;
  if (!verdict.refusals.empty())
    return name + ": refused: " + scope(plan, verdict);
  return name + ": proved for " + scope(plan, verdict) +
         (verdict.promisesNothing ? "; no result is promised" : "");
}

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

bool isExecutionPlan(const std::string &file) {
  constexpr uint64_t kLookedAt = 1 << 16;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(file, status) ||
      status.type() != llvm::sys::fs::file_type::regular_file)
    return false;
  auto begin = llvm::MemoryBuffer::getFileSlice(file, std::min(kLookedAt, status.getSize()), 0);
  return begin &&
         foreignFormat(std::string_view((*begin)->getBuffer()), Readable::Text) == kExecutionPlan;
}

Exit verifyPlans(llvm::ArrayRef<std::string> files, uint32_t shown, bool json) {
  size_t refused = 0, proofs = 0;
  bool ok = true;
  llvm::json::Array plans;
  for (const std::string &file : files) {
    mscclpp::Plan plan;
    Result<mscclpp::Verdict> verdict = proveFile(file, plan);
    if (!verdict) {
      ok = printError(file + ": " + verdict.message());
      continue;
    }
    ++proofs;
    refused += !verdict->refusals.empty();
    if (json) {
      plans.push_back(toJson(file, plan, *verdict));
      continue;
    }
    printRefusals(file, *verdict, shown);
    std::string words = printable(verdictWords(plan, *verdict));
    if (hasColors(1))
      llvm::outs() << paintedVerdict(words) << "\n";
    else
      resultStream() << words << "\n";
    llvm::outs().flush();
  }
  ok &= refused == 0;
  if (json)
    printJson(llvm::json::Object{
        {"ok", ok}, {"proofs", proofs}, {"refused", refused}, {"plans", std::move(plans)}});
  else
    resultStream() << driver::counted(proofs, "proof")
                   << (refused ? ", " + std::to_string(refused) + " refused" : "") << "\n";
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
