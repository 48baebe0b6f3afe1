#include "tools/VerifyAllRanks.h"

#include "driver/proofs/SmallestCounterexample.h"
#include "ir/Printable.h"
#include "ir/Ranges.h"
#include "program/TextDigest.h"
#include "tools/FailedProofs.h"
#include "tools/OutOfMemory.h"
#include "tools/SmtFolder.h"
#include "tools/TextProofs.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Color.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace colldsl::tools {
namespace {

using parameterized::AllRanksProof;

/// The outcome for one collective.
struct Verdict {
  const AllRanksProof &proof;
  std::optional<driver::SmallestCounterexample> search; ///< if there was one

  const driver::Summary *refused() const {
    return search && search->refused ? &*search->refused : nullptr;
  }
};

/// "; no counterexample at 1..64 ranks".
std::string searchWords(const driver::SmallestCounterexample &search, uint64_t seconds) {
  std::string text = search.provedRanks.empty()
                         ? "; no number of ranks was tried"
                         : "; no counterexample at " + rangesWord(search.provedRanks) + " ranks";
  return text + (search.isOutOfTime ? " within " + std::to_string(seconds) + " s" : "");
}

/// "proved for all P, for operators that commute", or that it is refused, or neither.
std::string words(const Verdict &verdict, uint64_t seconds) {
  const AllRanksProof &proof = verdict.proof;
  if (const driver::Summary *refused = verdict.refused())
    return "refused at " + counted(refused->tasks.front().shape.ranks, "rank") +
           ", and at no fewer";
  return wordsOf(proof) + (verdict.search ? searchWords(*verdict.search, seconds) : "");
}

llvm::json::Object toJson(const driver::Source::Target &target, const Verdict &verdict,
                          const driver::Source &source) {
  const AllRanksProof &proof = verdict.proof;
  llvm::json::Array leftOut, structures;
  for (const std::string &promise : proof.leftOut)
    leftOut.push_back(promise);
  for (const std::string &structure : proof.structures)
    structures.push_back(jsonText(structure));
  uint64_t digest = textDigest(source.program(), target.collective);
  llvm::json::Object object{
      {"name", jsonText(target.name)},   {"digest", digestWord(digest)},
      {"proved", proof.isProved},        {"restrictedTo", proof.restrictedTo},
      {"leftOut", std::move(leftOut)},   {"checkedWhenMade", std::move(structures)},
      {"reason", jsonText(proof.reason)}};
  if (!proof.isProved && proof.loc.line > 0)
    object["place"] =
        jsonText(source.program().files[proof.loc.file] + ":" + std::to_string(proof.loc.line));
  if (verdict.search) {
    object["searched"] = rangesWord(verdict.search->provedRanks);
    object["outOfTime"] = verdict.search->isOutOfTime;
  }
  if (const driver::Summary *refused = verdict.refused())
    object["counterexample"] =
        failedProofJson(*refused, refused->counterexamples().front(), source);
  return object;
}

/// The search for a target that is not proved. A request that does not fit the collective is
/// reported, and there is no search.
std::optional<driver::SmallestCounterexample> search(driver::Source &source,
                                                     const driver::Source::Target &target,
                                                     const driver::ProofRequest &request,
                                                     const AllRanksSettings &settings) {
  Progress progress;
  driver::SearchLimits limits{settings.upTo, std::chrono::seconds(settings.seconds)};
  Result<driver::SmallestCounterexample> found = driver::findSmallestCounterexample(
      source, target, request, limits, progress.watch().progress);
  if (found)
    return found.take();
  source.report(found.status().diagnostic(), target);
  return std::nullopt;
}

void print(const Verdict &verdict, const driver::Source::Target &target,
           const driver::Source &source, uint64_t seconds) {
  if (const driver::Summary *refused = verdict.refused())
    printFailedProof(*refused, refused->counterexamples().front(), source);
  else if (!verdict.proof.isProved)
    source.report(Diagnostic::error(verdict.proof.loc, verdict.proof.reason), target);
  std::string line = printable(target.name + ": " + words(verdict, seconds));
  if (hasColors(1))
    llvm::outs() << paintedVerdict(line) << "\n";
  else
    resultStream() << line << "\n";
  llvm::outs().flush();
}

/// The folder for the proofs; null after a mistake, which is reported.
std::unique_ptr<SmtFolder> makeSmtFolder(const std::string &path, const Program &program,
                                         parameterized::AllRanksProofs &proofs) {
  Result<std::unique_ptr<SmtFolder>> made = SmtFolder::make(path);
  if (!made) {
    printError(wrap("--smt", made.status()).diagnostic());
    return nullptr;
  }
  SmtFolder *smt = made->get();
  proofs.setSink([smt, &program](DeclId id, const AllRanksProof &proof,
                                 const std::vector<parameterized::ProofStep> &steps) {
    smt->add(program.nameOf(program.decl(id)), proof, steps);
  });
  return std::move(*made);
}

/// The address space that this process may still take, in MiB.
uint64_t freeAddressSpace() {
  rlimit limit;
  long pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  if (std::unique_ptr<FILE, int (*)(FILE *)> file(fopen("/proc/self/statm", "r"), fclose); file)
    if (fscanf(file.get(), "%ld", &pages) != 1)
      pages = 0;
  uint64_t taken = static_cast<uint64_t>(pages) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, taken)) >> 20;
}

/// z3 ends the process where an allocation fails, so its own limit, at which it only gives up, has
/// to come first.
void limitSolver(uint32_t mebibytes) {
  constexpr uint64_t kLeast = 96; // z3 itself, a small proof, and the tables of this program
  uint64_t free = freeAddressSpace();
  if (free < kLeast)
    endForLackOfMemory();
  parameterized::limitSolverMemory(static_cast<uint32_t>(std::min<uint64_t>(mebibytes, free / 2)));
}

} // namespace

Exit verifyAllRanks(driver::Source &source, llvm::ArrayRef<driver::Source::Target> targets,
                    const driver::ProofRequest &request, const AllRanksSettings &settings,
                    bool json) {
  limitSolver(settings.mebibytes);
  parameterized::AllRanksProofs proofs(source.program(), std::chrono::seconds(settings.seconds));
  std::unique_ptr<SmtFolder> smt;
  if (!settings.smtFolder.empty() &&
      !(smt = makeSmtFolder(settings.smtFolder, source.program(), proofs)))
    return Exit::Failure;
  size_t proved = 0, refused = 0;
  std::set<std::string> structures;
  llvm::json::Array all;
  for (const driver::Source::Target &target : targets) {
    if (target.collective == kNoDecl) {
      errorStream() << "colldsl: error: '" << printable(target.name)
                    << "' is a schedule for one number of ranks: --all-ranks needs a collective\n";
      return Exit::Failure;
    }
    Verdict verdict{proofs.of(target.collective), std::nullopt};
    if (!verdict.proof.isProved && settings.upTo > 0)
      verdict.search = search(source, target, request, settings);
    proved += verdict.proof.isProved;
    refused += verdict.refused() != nullptr;
    structures.insert(verdict.proof.structures.begin(), verdict.proof.structures.end());
    if (json)
      all.push_back(toJson(target, verdict, source));
    else
      print(verdict, target, source, settings.seconds);
  }
  bool ok = proved == targets.size(), isWritten = smt && proved > 0;
  if (isWritten)
    if (Status written = smt->finish(); !written) {
      printError(wrap("--smt", written).diagnostic());
      ok = isWritten = false;
    }
  if (json) {
    llvm::json::Object report{{"ok", ok}, {"proved", proved}, {"collectives", std::move(all)}};
    if (isWritten)
      report["smt"] =
          llvm::json::Object{{"folder", jsonText(settings.smtFolder)}, {"files", smt->files()}};
    printJson(std::move(report));
    return ok ? Exit::Success : Exit::Failure;
  }
  if (!structures.empty())
    resultStream() << "that each of these is a tree or a graph is checked when it is made: "
                   << llvm::join(structures, ", ") << "\n";
  resultStream() << proved << " of " << counted(targets.size(), "collective") << " proved for all P"
                 << (refused > 0 ? ", " + std::to_string(refused) + " refused" : "") << "\n";
  if (isWritten)
    resultStream() << counted(smt->files(), "file") << " in " << printable(settings.smtFolder)
                   << ", listed in index.txt\n";
  else if (smt && proved == 0)
    errorStream() << "colldsl: note: nothing is proved, " << printable(settings.smtFolder)
                  << " was not written\n";
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
