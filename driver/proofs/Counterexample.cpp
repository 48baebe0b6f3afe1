#include "driver/proofs/Counterexample.h"

#include "driver/Lists.h"
#include "driver/explain/Explanations.h"
#include "verifier/Alike.h"

namespace colldsl::driver {
namespace {

std::string stepWords(const proof::Failure::Step &step) {
  std::string who = step.rank == kNoRank ? "" : "rank " + std::to_string(index(step.rank));
  if (step.op != kNoOp)
    who += ", op " + std::to_string(index(step.op));
  return who.empty() ? step.text : who + ": " + step.text;
}

Diagnostic diagnostic(const proof::Failure &failure) {
  SourceLoc first;
  for (const proof::Failure::Step &step : failure.steps)
    if (!first.known())
      first = step.loc;
  std::string alike = proof::alikeWords(failure);
  Diagnostic d =
      Diagnostic::error(first, std::string(spelling(failure.proof)) + ": " + failure.message +
                                   (alike.empty() ? "" : ", " + alike));
  for (const proof::Failure::Step &step : failure.steps)
    d.notes.push_back(Diagnostic::note(step.loc, stepWords(step)));
  return d;
}

} // namespace

std::vector<Diagnostic> counterexample(const proof::VerifyReport &report) {
  std::vector<Diagnostic> all;
  for (const proof::Failure &failure : report.failures)
    all.push_back(diagnostic(failure));
  if (report.leftOut > 0)
    all.push_back(Diagnostic::note({}, counted(report.leftOut, "other failure") +
                                           " not shown (--max-failures)"));
  std::string skipped;
  for (proof::Proof proof : report.skipped)
    skipped += (skipped.empty() ? "" : ", ") + std::string(spelling(proof));
  if (!skipped.empty())
    all.push_back(Diagnostic::note({}, "not tried: " + skipped));
  addExplanationNote(all);
  return all;
}

} // namespace colldsl::driver
