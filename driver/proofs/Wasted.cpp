#include "driver/proofs/Wasted.h"

#include "driver/Lists.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>
#include <tuple>

namespace colldsl::driver {
namespace {

/// The text of a warning; empty: there is none.
std::string words(const proof::Waste::Place &place) {
  if (place.spare == place.ops)
    return "the temporary '" + place.temporary + "' is copied to '" + place.parameter +
           "', which could take its place";
  if (place.useless < place.ops)
    return "";
  const char *verb = place.kind == OpKind::Recv   ? "receives"
                     : place.kind == OpKind::Copy ? "copies"
                                                  : "combines";
  if (place.repeating == place.ops)
    return std::string("what this ") + verb + " is there already";
  return std::string("no postcondition depends on what this ") + verb;
}

/// The places of all proofs. Of several parameters that could take the place of a temporary, the
/// first one is named.
std::vector<proof::Waste::Place> placesOf(const Summary &summary) {
  std::map<std::tuple<uint16_t, uint32_t, uint16_t>, proof::Waste::Place> all;
  for (const ProofOutcome &outcome : summary.outcomes)
    for (const proof::Waste::Place &place : outcome.waste.places) {
      proof::Waste::Place &sum = all[{place.loc.file, place.loc.line, place.loc.column}];
      sum.loc = place.loc;
      sum.kind = place.kind;
      sum.ops += place.ops;
      sum.useless += place.useless;
      sum.repeating += place.repeating;
      sum.spare += place.spare;
      if (place.spare > 0) {
        sum.temporary = place.temporary;
        sum.parameter = place.parameter;
      }
    }
  std::vector<proof::Waste::Place> places;
  std::set<std::string> temporaries;
  for (const auto &[_, place] : all) {
    bool isSpare = place.spare == place.ops;
    if (!isSpare || temporaries.insert(place.temporary).second)
      places.push_back(place);
  }
  return places;
}

/// The first proof with useless last rounds; null: some proof with messages needs all its rounds.
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
  bool hasPeers = llvm::any_of(summary.tasks, [](const ProofTask &t) { return t.shape.ranks > 1; });
  if (!summary.ok() || summary.target.schedule || !hasPeers) // a single rank needs little
    return warnings;
  std::set<uint16_t> files = source.mainFiles();
  for (const proof::Waste::Place &place : placesOf(summary))
    if (std::string text = words(place); !text.empty() && files.contains(place.loc.file))
      warnings.push_back({Severity::Warning, place.loc, text, {}, {}});
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

} // namespace colldsl::driver
