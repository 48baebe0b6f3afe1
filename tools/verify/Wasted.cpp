#include "tools/verify/Wasted.h"

#include "tools/options/Lists.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>
#include <tuple>

namespace colldsl::tools {
namespace {

std::string words(const Waste::Place &place) {
  bool repeats = place.repeating == place.ops;
  switch (place.kind) {
  case OpKind::Recv:
    return repeats ? "what this receives is there already"
                   : "no postcondition depends on what this receives";
  case OpKind::Copy:
    return repeats ? "what this copies is there already"
                   : "no postcondition depends on what this copies";
  case OpKind::Combine:
    return "no postcondition depends on what this combines";
  case OpKind::Send:
  case OpKind::Signal:
  case OpKind::Wait:
  case OpKind::Calc:
    break;
  }
  return "";
}

/// The places of all proofs.
std::vector<Waste::Place> placesOf(const Summary &summary) {
  std::map<std::tuple<uint16_t, uint32_t, uint16_t>, Waste::Place> all;
  for (const ProofOutcome &outcome : summary.outcomes)
    for (const Waste::Place &place : outcome.waste.places) {
      Waste::Place &sum = all[{place.loc.file, place.loc.line, place.loc.column}];
      sum.loc = place.loc;
      sum.kind = place.kind;
      sum.ops += place.ops;
      sum.useless += place.useless;
      sum.repeating += place.repeating;
    }
  std::vector<Waste::Place> places;
  for (const auto &[_, place] : all)
    places.push_back(place);
  return places;
}

/// In each proof with messages their last rounds have no use: the first of them.
const ProofOutcome *withRoundsTooMany(const Summary &summary) {
  const ProofOutcome *first = nullptr;
  for (const ProofOutcome &outcome : summary.outcomes) {
    if (outcome.waste.depth == 0)
      continue;
    if (outcome.waste.usefulDepth >= outcome.waste.depth)
      return nullptr;
    first = first ? first : &outcome;
  }
  return first;
}

} // namespace

std::vector<Diagnostic> warningsOfWaste(const Summary &summary, const Source &source) {
  std::vector<Diagnostic> warnings;
  if (!summary.ok() || summary.target.schedule)
    return warnings;
  std::set<uint16_t> files = source.mainFiles();
  for (const Waste::Place &place : placesOf(summary))
    if (place.useless == place.ops && files.contains(place.loc.file))
      warnings.push_back({Severity::Warning, place.loc, words(place), {}, {}});
  const Decl &decl = source.program().decl(summary.target.collective);
  const ProofOutcome *longer =
      warnings.empty() && files.contains(decl.loc.file) ? withRoundsTooMany(summary) : nullptr;
  if (longer) {
    const ProofTask &task = summary.tasks[static_cast<size_t>(longer - summary.outcomes.data())];
    warnings.push_back({Severity::Warning,
                        decl.loc,
                        "'" + source.program().nameOf(decl) +
                            "' has rounds of messages that no postcondition needs: " +
                            counted(longer->waste.depth, "round") + " where " +
                            std::to_string(longer->waste.usefulDepth) + " would do, at " +
                            task.words(),
                        {},
                        {}});
  }
  return warnings;
}

} // namespace colldsl::tools
