#include "verifier/Alike.h"
#include "verifier/DiagnosticNames.h"
#include "verifier/Verifier.h"

#include <array>

namespace colldsl::proof {
namespace {

constexpr std::array<std::string_view, 5> kProofSpellings = {"matching", "deadlock", "races",
                                                             "contract", "writes"};

std::string proofList(const std::vector<Proof> &proofs) {
  std::vector<std::string> names;
  for (Proof proof : proofs)
    names.emplace_back(spelling(proof));
  return listed(names);
}

std::string place(const SourceLoc &loc, const Schedule &schedule) {
  if (!loc.known())
    return "";
  std::string file = loc.file < schedule.files.size() ? schedule.files[loc.file] : "?";
  return file + ":" + std::to_string(loc.line) + ":" + std::to_string(loc.column) + ": ";
}

std::string stepLine(const Failure::Step &step, const Schedule &schedule) {
  std::string line = "    " + place(step.loc, schedule) + rankWord(step.rank);
  if (step.op != kNoOp)
    line += ", op " + std::to_string(index(step.op));
  return line + ": " + step.text + "\n";
}

std::string proofsDone(const VerifyReport &report) {
  std::vector<Proof> done{Proof::Matching, Proof::Deadlock, Proof::Races};
  if (report.contractChecked)
    done.push_back(Proof::Contract);
  done.push_back(Proof::Writes);
  return proofList(done);
}

} // namespace

std::string_view spelling(Proof proof) { return kProofSpellings[static_cast<size_t>(proof)]; }

std::string describe(const VerifyReport &report, const Schedule &schedule) {
  std::string text = schedule.name.empty() ? "" : schedule.name + ": ";
  text += report.proved() ? "proved" : report.failures.empty() ? "undecided" : "refused";
  text += " (" + counted(schedule.numRanks(), "rank") + ", " + counted(report.ops, "op") + ", " +
          counted(report.messages, "message");
  if (report.failures.empty() && !report.proved())
    return text + "): not all lengths of blocks can be proved: " + report.undecided + "\n";
  if (report.proved())
    return text + "): " + proofsDone(report) +
           (report.contractChecked ? "" : "; there is no contract") + "\n";
  text += ")\n";
  for (const Failure &failure : report.failures) {
    std::string alike = alikeWords(failure);
    text += "  " + std::string(spelling(failure.proof)) + ": " + failure.message +
            (alike.empty() ? "" : ", " + alike) + "\n";
    for (const Failure::Step &step : failure.steps)
      text += stepLine(step, schedule);
  }
  if (report.leftOut > 0)
    text += "  and " + counted(report.leftOut, "other failure") + "\n";
  if (!report.skipped.empty())
    text += "  not tried: " + proofList(report.skipped) + "\n";
  return text;
}

} // namespace colldsl::proof
