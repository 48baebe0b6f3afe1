#include "tools/VerifyAllRanks.h"

#include "ir/Printable.h"
#include "parameterized/AllRanksProofs.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Color.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

using parameterized::AllRanksProof;

/// "proved for all P, for operators that commute".
std::string words(const AllRanksProof &proof) {
  if (!proof.isProved)
    return "not shown for all P";
  std::string text = "proved for all P";
  if (!proof.restrictedTo.empty())
    text += ", for " + proof.restrictedTo;
  if (!proof.leftOut.empty())
    text += ", but for " + llvm::join(proof.leftOut, " and ");
  return text;
}

llvm::json::Object toJson(const std::string &name, const AllRanksProof &proof,
                          const Program &program) {
  llvm::json::Array leftOut, structures;
  for (const std::string &promise : proof.leftOut)
    leftOut.push_back(promise);
  for (const std::string &structure : proof.structures)
    structures.push_back(jsonText(structure));
  llvm::json::Object object{{"name", jsonText(name)},
                            {"proved", proof.isProved},
                            {"restrictedTo", proof.restrictedTo},
                            {"leftOut", std::move(leftOut)},
                            {"checkedWhenMade", std::move(structures)},
                            {"reason", jsonText(proof.reason)}};
  if (!proof.isProved && proof.loc.line > 0)
    object["place"] =
        jsonText(program.files[proof.loc.file] + ":" + std::to_string(proof.loc.line));
  return object;
}

} // namespace

Exit verifyAllRanks(const driver::Source &source, llvm::ArrayRef<driver::Source::Target> targets,
                    uint64_t seconds, bool json) {
  const Program &program = source.program();
  parameterized::AllRanksProofs proofs(program, std::chrono::seconds(seconds));
  size_t proved = 0;
  std::set<std::string> structures;
  llvm::json::Array all;
  for (const driver::Source::Target &target : targets) {
    if (target.collective == kNoDecl) {
      errorStream() << "colldsl: error: '" << printable(target.name)
                    << "' is a schedule for one number of ranks: --all-ranks needs a collective\n";
      return Exit::Failure;
    }
    const AllRanksProof &proof = proofs.of(target.collective);
    proved += proof.isProved;
    structures.insert(proof.structures.begin(), proof.structures.end());
    if (json) {
      all.push_back(toJson(target.name, proof, program));
      continue;
    }
    if (!proof.isProved)
      source.report(Diagnostic::error(proof.loc, proof.reason), target);
    std::string verdict = printable(target.name + ": " + words(proof));
    if (hasColors(1))
      llvm::outs() << paintedVerdict(verdict) << "\n";
    else
      resultStream() << verdict << "\n";
    llvm::outs().flush();
  }
  bool ok = proved == targets.size();
  if (json) {
    printJson(llvm::json::Object{{"ok", ok}, {"proved", proved}, {"collectives", std::move(all)}});
    return ok ? Exit::Success : Exit::Failure;
  }
  if (!structures.empty())
    resultStream() << "that each of these is a tree or a graph is checked when it is made: "
                   << llvm::join(structures, ", ") << "\n";
  resultStream() << proved << " of " << counted(targets.size(), "collective")
                 << " proved for all P\n";
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
