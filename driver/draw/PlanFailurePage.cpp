#include "driver/draw/PlanFailurePage.h"

#include "driver/Lists.h"
#include "driver/draw/MakeShown.h"
#include "driver/files/WriteFile.h"
#include "driver/source/RenderInFiles.h"
#include "mscclpp/PlanLayout.h"
#include "mscclpp/PlanSchedule.h"

namespace colldsl::driver {
namespace {

using namespace show;

proof::Proof proofOf(llvm::StringRef message) {
  if (message.starts_with("race"))
    return proof::Proof::Races;
  return message.starts_with("result") ? proof::Proof::Contract : proof::Proof::Matching;
}

/// The line of a text, trimmed.
std::string lineOf(llvm::StringRef text, uint32_t line) {
  for (uint32_t i = 1; i < line; ++i)
    text = text.split('\n').second;
  return text.split('\n').first.trim().str();
}

ShownFailure shownFailure(const mscclpp::Refusal &refusal, const mscclpp::Events &events,
                          const mscclpp::PlanSchedule &made) {
  ShownFailure shown;
  shown.what.proof = proofOf(refusal.message);
  llvm::StringRef message = refusal.message;
  message.consume_front("race: ");
  message.consume_front("matching: ");
  shown.what.message = message.str();
  for (mscclpp::EventId id : refusal.events) {
    const mscclpp::Event &event = events.all[id];
    SourceLoc loc =
        made.ops[id] == kNoOp ? SourceLoc() : made.schedule.ranks[event.gpu].op(made.ops[id]).loc;
    shown.what.steps.push_back({Rank{event.gpu}, made.ops[id], loc, mscclpp::describe(event)});
    shown.places.push_back(placeWord(loc, made.schedule.files));
  }
  for (const std::string &note : refusal.notes)
    shown.what.message += "; " + note;
  return shown;
}

/// The bytes of a chunk near the usual size that has the cells of the proof.
uint64_t chunkBytesOf(const mscclpp::Plan &plan, const mscclpp::CellCounts &cells) {
  std::optional<uint64_t> bytes = mscclpp::PlanLayout::nearestBytes(plan, kUsualBytes);
  Result<mscclpp::PlanLayout> layout = mscclpp::PlanLayout::of(plan, bytes.value_or(0));
  uint64_t chunk = layout ? layout->chunkBytes() : 0;
  return std::max<uint64_t>(chunk, uint64_t{cells.perChunk} * plan.alignment);
}

} // namespace

Status writePlanFailurePage(const std::string &file, const mscclpp::Plan &plan,
                            const mscclpp::Verdict &verdict, const std::string &planFile,
                            llvm::StringRef text, const show::SvgChoice *svg) {
  Result<mscclpp::Memory> memory = mscclpp::Memory::of(plan, verdict.cells);
  if (!memory)
    return memory.status();
  Result<mscclpp::Events> events = buildEvents(plan, *memory, verdict.launches);
  if (!events)
    return Status::error("there are no steps to draw: " + events.message());
  uint64_t chunk = chunkBytesOf(plan, verdict.cells);
  Result<mscclpp::PlanSchedule> made =
      scheduleOf(plan, *memory, *events, chunk, planFile, mscclpp::Signals::OfData);
  if (!made)
    return made.status();
  Document document;
  document.view = "failure";
  document.title = made->schedule.name + ", " + counted(plan.numGpus(), "gpu") + ", " +
                   std::to_string(verdict.launches) + " launches: refused";
  for (const mscclpp::Refusal &refusal : verdict.refusals)
    document.failures.push_back(shownFailure(refusal, *events, *made));
  auto schedule = std::make_shared<const Schedule>(std::move(made->schedule));
  std::vector<Sizes> sizes(schedule->numRanks());
  document.maxEvents = schedule->numOps() * 2;
  document.schedules.push_back(shownSchedule(
      schedule->name, schedule, std::move(sizes), chunk * plan.chunks(0, mscclpp::Buffer::Input),
      [text](const SourceLoc &loc) { return lineOf(text, loc.line); }));
  document.schedules.front().topology =
      std::make_shared<Topology>(Topology::flat(schedule->numRanks()));
  return writeFile(file, [&](llvm::raw_ostream &out) {
    if (svg)
      return writeSvg(document, *svg, out);
    writeHtml(document, out);
    return Status();
  });
}

} // namespace colldsl::driver
