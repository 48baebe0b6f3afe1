#include "mpi/CallSummary.h"

#include "ir/Concat.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "mpi/comm/WorldCollectives.h"

#include <cinttypes>
#include <sstream>
#include <vector>

namespace colldsl::mpi {
namespace {

using Algorithms = std::map<std::pair<CallKind, std::string>, Algorithm>;

/// A line per algorithm: its kind and numbers, then its name.
std::string textOf(const Algorithms &algorithms) {
  std::ostringstream text;
  for (const auto &[key, row] : algorithms)
    if (row.runs > 0)
      text << static_cast<int>(key.first) << ' ' << row.runs << ' ' << row.bytes << ' '
           << row.timedRuns << ' ' << row.nanoseconds << ' ' << key.second << '\n';
  return text.str();
}

/// The sums of such lines.
Algorithms sumsOf(const std::string &text) {
  Algorithms sums;
  std::istringstream lines(text);
  int kind = 0;
  Algorithm row;
  std::string name;
  while (lines >> kind >> row.runs >> row.bytes >> row.timedRuns >> row.nanoseconds >> name) {
    Algorithm &sum = sums[{static_cast<CallKind>(kind), name}];
    sum.runs += row.runs;
    sum.bytes += row.bytes;
    sum.timedRuns += row.timedRuns;
    sum.nanoseconds += row.nanoseconds;
  }
  return sums;
}

/// A line per kind: its number, the calls, and why.
std::string textOf(const std::map<CallKind, Summary::Unproved> &unproved) {
  std::ostringstream text;
  for (const auto &[kind, row] : unproved)
    text << static_cast<int>(kind) << ' ' << row.calls << ' ' << row.why << '\n';
  return text.str();
}

} // namespace

Summary Summary::all_;

void Summary::countUnproved(CallKind kind, const std::string &why) {
  Unproved &row = unproved_[kind];
  if (row.calls++ == 0)
    row.why = why.substr(0, why.find('\n'));
}

void Summary::print() const {
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  printUnserved();
  printKinds(rank);
  printUnproved();
  printAlgorithms(rank);
  printPrepared(rank);
}

void Summary::printUnserved() const {
  std::string all = gatherTexts(unserved_);
  if (!all.empty())
    printMessage("colldsl: nothing was served: %s\n", all.substr(0, all.find('\n')).c_str());
}

void Summary::printKinds(int rank) const {
  constexpr int kNumbers = 4;
  uint64_t mine[kCallKinds][kNumbers] = {}, sums[kCallKinds][kNumbers] = {};
  for (const auto &[key, row] : algorithms_) {
    mine[static_cast<size_t>(key.first)][0] += row.runs;
    mine[static_cast<size_t>(key.first)][2] += row.bytes;
  }
  for (size_t kind = 0; kind < kCallKinds; ++kind) {
    mine[kind][1] = passedOn(static_cast<CallKind>(kind));
    mine[kind][3] = passedOnForDevices(static_cast<CallKind>(kind));
  }
  real::Reduce(mine, sums, kNumbers * kCallKinds, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  for (size_t kind = 0; rank == 0 && kind < kCallKinds; ++kind) {
    const uint64_t *sum = sums[kind];
    if (sum[0] + sum[1] == 0)
      continue;
    std::string devices = sum[3] == 0 ? "" : concat(" (", sum[3], " for memory of devices)");
    printMessage("colldsl: %s: %" PRIu64 " served, %" PRIu64 " passed on%s, %" PRIu64
                 " bytes sent by those served\n",
                 kCallFacts[kind].name, sum[0], sum[1], devices.c_str(), sum[2]);
  }
}

void Summary::printUnproved() const {
  std::map<CallKind, Unproved> sums;
  std::istringstream lines(gatherTexts(textOf(unproved_)));
  int kind = 0;
  for (Unproved row; lines >> kind >> row.calls && std::getline(lines >> std::ws, row.why);) {
    Unproved &sum = sums[static_cast<CallKind>(kind)];
    sum.calls += row.calls;
    if (sum.why.empty())
      sum.why = row.why;
  }
  for (const auto &[of, sum] : sums)
    printMessage("colldsl: %s: %" PRIu64 " passed on, since nothing is proved for them: %s\n",
                 factsOf(of).name, sum.calls, sum.why.c_str());
}

// A program with too many different calls pays for a plan per call.
void Summary::printPrepared(int rank) const {
  uint64_t mine[] = {prepared_, resized_}, sums[] = {0, 0};
  real::Reduce(mine, sums, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && sums[0] > 0)
    printMessage("colldsl: plans: %" PRIu64 " made; %" PRIu64
                 " calls served by plans of other calls\n",
                 sums[0], sums[1]);
}

void Summary::printAlgorithms(int rank) const {
  for (const auto &[key, sum] : sumsOf(gatherTexts(textOf(algorithms_)))) {
    printMessage("colldsl: %s by %s: %" PRIu64 " runs, %" PRIu64 " bytes", factsOf(key.first).name,
                 key.second.c_str(), sum.runs, sum.bytes);
    if (sum.timedRuns > 0)
      printMessage("; %" PRIu64 " blocking ones of %.2f us on average", sum.timedRuns,
                   static_cast<double>(sum.nanoseconds) / static_cast<double>(sum.timedRuns) / 1e3);
    printMessage("\n");
  }
}

} // namespace colldsl::mpi
