#include "tools/sim/SimulationSummary.h"

#include "driver/Lists.h"
#include "driver/source/RenderInFiles.h"
#include "tools/options/Table.h"
#include "tools/run/CallTimes.h"
#include "tools/sim/TrafficTable.h"

#include <algorithm>

namespace colldsl::tools {

using namespace driver;

namespace {

constexpr size_t kMaxSteps = 60; ///< of a path, to print
constexpr unsigned kPercents[] = {0, 50, 90, 99, 100};

/// The smallest time that at least this share of the ranks does not exceed.
uint64_t percentile(const std::vector<uint64_t> &sorted, unsigned percent) {
  return sorted[(std::max<size_t>(1, sorted.size() * percent) - 1) / 100];
}

std::string nsWord(uint64_t ns) { return std::to_string(ns); }

void printPath(const SimulatedRun &run, llvm::raw_ostream &out) {
  out << "critical path of rank " << run.path.back().rank << ", the slowest:\n";
  Table table({"step", "rank", "begin ns", "end ns", "waited for", "what", "where"});
  size_t hidden = run.path.size() > kMaxSteps ? run.path.size() - kMaxSteps : 0;
  for (size_t i = 0; i < run.path.size(); ++i) {
    const sim::PathStep &step = run.path[i];
    if (hidden > 0 && i == kMaxSteps / 2) {
      i += hidden - 1;
      table.addRow({"...", "", "", "", "", counted(hidden, "step") + " more", ""});
      continue;
    }
    std::string_view cause = spelling(step.cause);
    table.addRow({std::to_string(i + 1), std::to_string(step.rank), nsWord(step.begin),
                  nsWord(step.end), std::string(cause), stepWord(step),
                  placeWord(step.what.loc, run.workload->files)});
  }
  table.print(out);
}

llvm::json::Object stepJson(const sim::PathStep &step, const std::vector<std::string> &files) {
  llvm::json::Object object{
      {"rank", step.rank},
      {"kind", step.isMessage ? "message" : llvm::StringRef(spelling(step.what.kind))},
      {"begin", step.begin},
      {"end", step.end},
      {"cause", llvm::StringRef(spelling(step.cause))},
  };
  if (step.op != kNoOp)
    object["op"] = index(step.op);
  if (step.isMessage || isMessage(step.what.kind))
    object["bytes"] = step.bytes;
  if (step.isMessage)
    object["peer"] = step.peer;
  else if (isMessage(step.what.kind) && step.what.peer != kNoRank)
    object["peer"] = index(step.what.peer);
  if (std::string place = placeWord(step.what.loc, files); !place.empty())
    object["place"] = jsonText(place);
  return object;
}

} // namespace

std::string stepWord(const sim::PathStep &step) {
  if (step.isMessage)
    return "message from rank " + std::to_string(step.peer);
  std::string word(spelling(step.what.kind));
  if (isMessage(step.what.kind))
    word +=
        std::string(sendsMessage(step.what.kind) ? " to " : " from ") +
        (step.what.peer == kNoRank ? "any rank" : "rank " + std::to_string(index(step.what.peer)));
  return word;
}

void printSummary(const SimulatedRun &run, llvm::raw_ostream &out) {
  const sim::Outcome &o = *run.outcome;
  out << run.name << ": " << counted(run.workload->numRanks(), "rank") << ", "
      << counted(o.ops, "op") << ", " << counted(o.messages, "message") << ", "
      << counted(o.events, "event") << "\n";
  out << "makespan: " << o.makespan << " ns (" << timeWord(static_cast<int64_t>(o.makespan))
      << ")\n";
  std::vector<uint64_t> sorted = o.finish;
  std::sort(sorted.begin(), sorted.end());
  out << "ranks finish at:";
  for (unsigned percent : kPercents)
    out << (percent == 0     ? " min "
            : percent == 100 ? ", max "
                             : ", p" + std::to_string(percent) + " ")
        << percentile(sorted, percent);
  out << " ns\n";
  out << "proof: "
      << (run.isProved          ? "proved for these ranks and sizes"
          : run.isExecutionPlan ? "not tried, see colldsl verify"
                                : "not tried, see --verify")
      << "\n";
  if (run.topology->numGroups(Level::Node) > 1)
    printTraffic(run.workload->traffic, *run.topology, out);
  if (!run.path.empty())
    printPath(run, out);
}

llvm::json::Object summaryJson(const SimulatedRun &run) {
  const sim::Outcome &o = *run.outcome;
  std::vector<uint64_t> sorted = o.finish;
  std::sort(sorted.begin(), sorted.end());
  llvm::json::Object percentiles;
  for (unsigned percent : kPercents)
    percentiles["p" + std::to_string(percent)] = percentile(sorted, percent);
  llvm::json::Object object{
      {"name", jsonText(run.name)},
      {"ranks", run.workload->numRanks()},
      {"bytes", run.bytes},
      {"proved", run.isProved},
      {"makespan", o.makespan},
      {"events", o.events},
      {"ops", o.ops},
      {"messages", o.messages},
      {"percentiles", std::move(percentiles)},
      {"traffic", trafficJson(run.workload->traffic, *run.topology)},
      {"finish", llvm::json::Array(o.finish)},
  };
  if (!run.path.empty()) {
    llvm::json::Array steps;
    for (const sim::PathStep &step : run.path)
      steps.push_back(stepJson(step, run.workload->files));
    object["criticalPath"] = std::move(steps);
  }
  return object;
}

} // namespace colldsl::tools
