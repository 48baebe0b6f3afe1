#include "show/Document.h"

#include "show/FailureGraph.h"
#include "show/Page.h"

namespace colldsl::show {
namespace {

using llvm::json::Array;
using llvm::json::Object;

/// A contract with more operands than this is left out: tracing serves schedules that a reader can
/// survey.
constexpr uint64_t kMaxOperands = 1'000'000, kMaxTracedOps = 200'000;

int64_t number(uint64_t value) { return static_cast<int64_t>(value); }

Array placesJson(const ShownSchedule &shown, const std::vector<SourceLoc> &places) {
  Array all;
  for (const SourceLoc &loc : places) {
    bool isKnown = loc.known() && loc.file < shown.files.size();
    all.push_back(Object{{"file", isKnown ? llvm::json::fixUTF8(shown.files[loc.file]) : ""},
                         {"line", loc.line},
                         {"column", loc.column},
                         {"text", isKnown ? llvm::json::fixUTF8(shown.textAt(loc)) : ""}});
  }
  return all;
}

Array machineJson(const Topology &topology, const std::string &prefix, Columns &columns) {
  Array levels;
  for (const ShownLevel &level : shownLevels(topology)) {
    columns.addSteps(prefix + "level" + level.name, level.groupOf);
    levels.push_back(Object{{"name", level.name}, {"groups", level.groups}});
  }
  return levels;
}

Object failureJson(const ShownFailure &shown, const ShownSchedule &of) {
  const proof::Failure &failure = shown.what;
  Array steps;
  for (size_t i = 0; i < failure.steps.size(); ++i) {
    const proof::Failure::Step &step = failure.steps[i];
    steps.push_back(Object{{"rank", step.rank == kNoRank ? int64_t{-1} : index(step.rank)},
                           {"op", step.op == kNoOp ? int64_t{-1} : index(step.op)},
                           {"place", llvm::json::fixUTF8(shown.places[i])},
                           {"text", llvm::json::fixUTF8(step.text)}});
  }
  return Object{{"proof", std::string(spelling(failure.proof))},
                {"message", llvm::json::fixUTF8(failure.message)},
                {"steps", std::move(steps)},
                {"graph", failureGraph(*of.ops, failure).toJson()}};
}

class PageWriter {
public:
  explicit PageWriter(const Document &document) : document_(document) {}

  void write(llvm::raw_ostream &out) {
    Array schedules, runs;
    for (size_t i = 0; i < document_.schedules.size(); ++i)
      schedules.push_back(schedule(document_.schedules[i], "s" + std::to_string(i) + "."));
    for (size_t i = 0; i < document_.runs.size(); ++i)
      runs.push_back(run(document_.runs[i], "r" + std::to_string(i) + "."));
    Object all{{"title", llvm::json::fixUTF8(document_.title)},
               {"view", document_.view},
               {"maxEvents", number(document_.maxEvents)},
               {"schedules", std::move(schedules)},
               {"runs", std::move(runs)},
               {"failures", failures()}};
    Array skipped;
    for (proof::Proof proof : document_.skipped)
      skipped.push_back(std::string(spelling(proof)));
    all["skipped"] = std::move(skipped);
    if (document_.network.kind != sim::NetworkOptions::Kind::None)
      all["network"] = network();
    writePage(std::move(all), columns_, out);
  }

private:
  Array failures() const {
    Array all;
    for (const ShownFailure &failure : document_.failures)
      all.push_back(failureJson(failure, document_.schedules.front()));
    return all;
  }

  Object schedule(const ShownSchedule &shown, const std::string &prefix) {
    Object object{{"name", llvm::json::fixUTF8(shown.name)},
                  {"label", llvm::json::fixUTF8(shown.label)},
                  {"ranks", shown.ranks},
                  {"bytes", number(shown.bytes)},
                  {"ops", number(shown.numOps)},
                  {"messages", number(shown.messages)},
                  {"volume", number(shown.volume)},
                  {"hasOps", shown.ops.has_value()},
                  {"ranksPerCell", shown.matrix.ranksPerCell}};
    std::string whyNot = whyNotTraced(shown);
    object["whyNotTraced"] = whyNot;
    if (shown.topology)
      object["levels"] = machineJson(*shown.topology, prefix, columns_);
    if (shown.ops) {
      object["rounds"] = shown.ops->rounds;
      if (shown.ops->portRounds)
        object["portRounds"] = *shown.ops->portRounds;
      object["places"] = placesJson(shown, addOps(*shown.ops, prefix, columns_));
      Array names;
      for (const std::string &name : shown.schedule->names)
        names.push_back(llvm::json::fixUTF8(name));
      object["names"] = std::move(names);
    }
    if (whyNot.empty())
      addBytes(*shown.ops, shown.sizes, prefix, columns_);
    shown.matrix.addTo(prefix, columns_);
    return object;
  }

  Object run(const ShownRun &shown, const std::string &prefix) {
    const ShownSchedule &of = document_.schedules[shown.schedule];
    Object object{{"schedule", number(shown.schedule)},
                  {"kind", shown.isMeasured ? "measured" : "simulated"},
                  {"label", llvm::json::fixUTF8(shown.label)},
                  {"completion", number(shown.completion)}};
    if (shown.times)
      addTimes(*shown.times, *of.ops, prefix, columns_);
    if (shown.grid) {
      object["grid"] = shown.grid->describe();
      shown.grid->addTo(prefix, columns_);
      object["path"] = pathJson(shown, of);
    }
    addLinks(shown, prefix);
    return object;
  }

  static Array pathJson(const ShownRun &run, const ShownSchedule &of) {
    Array steps;
    for (const sim::PathStep &step : run.path) {
      if (!step.isMessage && receivesMessage(step.what.kind))
        continue; // the step before, its message, took the time
      std::vector<SourceLoc> place{step.what.loc};
      Array places = placesJson(of, place);
      steps.push_back(Object{{"rank", step.rank},
                             {"op", step.op == kNoOp ? -1 : number(index(step.op))},
                             {"isMessage", step.isMessage},
                             {"peer", step.isMessage ? step.peer : index(step.what.peer)},
                             {"kind", static_cast<int64_t>(step.what.kind)},
                             {"begin", number(step.begin)},
                             {"end", number(step.end)},
                             {"cause", static_cast<int64_t>(step.cause)},
                             {"place", std::move(places.front())}});
    }
    return steps;
  }

  void addLinks(const ShownRun &run, const std::string &prefix) {
    using sim::LinkLoad;
    columns_.addSteps(prefix + "linkFrom", Columns::of(run.links, &LinkLoad::from));
    columns_.addSteps(prefix + "linkTo", Columns::of(run.links, &LinkLoad::to));
    columns_.add(prefix + "linkMessages", Columns::of(run.links, &LinkLoad::messages));
    columns_.add(prefix + "linkBytes", Columns::of(run.links, &LinkLoad::bytes));
    columns_.add(prefix + "linkBusy", Columns::of(run.links, &LinkLoad::busyNs));
  }

  Object network() const {
    Array dims;
    for (uint32_t dim : document_.network.dims)
      dims.push_back(dim);
    return Object{{"kind", std::string(kindName(document_.network.kind))},
                  {"dims", std::move(dims)},
                  {"nodes", number(document_.network.numNodes())}};
  }

  const Document &document_;
  Columns columns_;
};

} // namespace

std::string whyNotTraced(const ShownSchedule &shown) {
  if (!shown.ops)
    return "the schedule has too many ops to show each";
  if (shown.schedule->isPlainGoal || !shown.schedule->hasContract)
    return "the schedule has no contract: its source names no buffers, or promises nothing";
  if (shown.ops->isCyclic)
    return "the schedule does not run to its end";
  if (shown.ops->size() > kMaxTracedOps)
    return "the schedule has more than " + std::to_string(kMaxTracedOps) + " ops";
  uint64_t operands = 0;
  for (const Dag &dag : shown.schedule->ranks)
    operands += dag.contract.operands.size();
  return operands > kMaxOperands
             ? "the contract has more than " + std::to_string(kMaxOperands) + " operands"
             : "";
}

std::vector<ShownLevel> shownLevels(const Topology &topology) {
  std::vector<ShownLevel> levels;
  for (Level level : kLevels) {
    uint32_t groups = topology.numGroups(level);
    if (groups <= 1 || groups == topology.numRanks())
      continue;
    std::vector<uint32_t> groupOf;
    for (uint32_t r = 0; r < topology.numRanks(); ++r)
      groupOf.push_back(topology.groupOf(level, Rank{r}));
    if (levels.empty() || groupOf != levels.back().groupOf)
      levels.push_back({std::string(spelling(level)), groups, std::move(groupOf)});
  }
  return levels;
}

Status checkView(const Document &document) {
  const ShownSchedule &first = document.schedules.front();
  const std::string &view = document.view;
  std::string whyNot;
  if (view == "dag" && !first.ops)
    whyNot = "the schedule has more ops and messages than --max-events";
  else if (view == "provenance")
    whyNot = whyNotTraced(first);
  else if (view == "links" && document.network.kind == sim::NetworkOptions::Kind::None)
    whyNot = "it shows the load of a --network, which is not given";
  else if (view == "compare" && document.runs.size() < 2)
    whyNot = "there is one run alone";
  else if (view == "space-time" && document.runs.empty())
    whyNot = "the schedule does not run to its end";
  return whyNot.empty() ? Status() : Status::error("--view " + view + ": " + whyNot);
}

void writeHtml(const Document &document, llvm::raw_ostream &out) {
  PageWriter(document).write(out);
}

} // namespace colldsl::show
