/// The content of a page or a picture: schedules, and runs of them, simulated or measured.
#pragma once

#include "show/Grid.h"
#include "show/Matrix.h"
#include "show/OpTimes.h"
#include "simulator/CriticalPath.h"
#include "topology/Topology.h"
#include "verifier/Verifier.h"

#include <functional>
#include <memory>
#include <optional>

namespace colldsl::show {

/// A schedule. It has no `ops` if these are too many to show each.
struct ShownSchedule {
  std::string label; ///< of the legend: "bcast_binomial, 8 ranks, 64 KiB"
  std::string name;
  uint32_t ranks = 0;
  uint64_t bytes = 0; ///< n times the size of T
  uint64_t numOps = 0, messages = 0, volume = 0;
  std::shared_ptr<const Schedule> schedule; ///< with `ops`
  std::vector<Sizes> sizes;                 ///< with `ops`
  std::optional<OpTable> ops;
  Matrix matrix;
  std::shared_ptr<const Topology> topology;
  std::vector<std::string> files;                       ///< see SourceLoc::file
  std::function<std::string(const SourceLoc &)> textAt; ///< the line of the source, or ""
};

/// A run of one of the schedules.
struct ShownRun {
  size_t schedule = 0;
  bool isMeasured = false;
  std::string label;
  uint64_t completion = 0; ///< ns
  /// Set if the schedule has `ops`; else `grid` and `path` are.
  std::optional<Times> times;
  std::optional<Grid> grid;
  std::vector<sim::PathStep> path;
  std::vector<sim::LinkLoad> links; ///< of a network
};

struct ShownFailure {
  proof::Failure what;
  std::vector<std::string> places; ///< per step: "ring.coll:7:3", or ""
};

struct Document {
  std::string title;
  std::string view = "space-time"; ///< opens first
  uint64_t maxEvents = 0;          ///< more ops and messages are shown as a grid
  std::vector<ShownSchedule> schedules;
  std::vector<ShownRun> runs;
  sim::NetworkOptions network;
  std::vector<ShownFailure> failures; ///< of a proof of the first schedule
  std::vector<proof::Proof> skipped;  ///< not tried because of them
};

/// An error, with the reason, if Document::view has nothing to show.
Status checkView(const Document &document);

/// The reason that a schedule's bytes cannot be traced; "" if they can.
std::string whyNotTraced(const ShownSchedule &shown);

/// Groups of ranks per level of the machine.
struct ShownLevel {
  std::string name;
  uint32_t groups = 0;
  std::vector<uint32_t> groupOf; ///< per rank
};
/// The levels, the outermost first, except those with a single group, with a group per rank, or
/// with the groups of the level above.
std::vector<ShownLevel> shownLevels(const Topology &topology);

/// Writes the page; docs/show.md describes its data.
void writeHtml(const Document &document, llvm::raw_ostream &out);

} // namespace colldsl::show
