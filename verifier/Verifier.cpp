#include "verifier/Verifier.h"

#include "verifier/Announcements.h"
#include "verifier/Bounds.h"
#include "verifier/Costs.h"
#include "verifier/Deadlock.h"
#include "verifier/Execution.h"
#include "verifier/Postconditions.h"
#include "verifier/Races.h"
#include "verifier/SpareTemporaries.h"
#include "verifier/Synchronizes.h"
#include "verifier/WriteScope.h"

#include <optional>

namespace colldsl {
namespace {

using namespace proof;

/// Runs the proofs in the order in which they rest on each other.
class Verification {
public:
  Verification(const Schedule &schedule, const std::vector<Sizes> &sizes,
               const VerifyOptions &options)
      : options_(options), model_(schedule, sizes), placement_(model_), names_(model_, placement_),
        failures_(model_, options.maxFailures, Grouping::Alike, options.stop) {
    report_.ops = model_.numVertices();
  }

  VerifyReport run() {
    prove();
    report_.leftOut = failures_.numLeftOut();
    report_.failures = failures_.take();
    if (failures_.isStopped())
      report_.failures.push_back({Proof::Matching, "the proof was stopped", {}});
    return std::move(report_);
  }

private:
  void prove() {
    checkBounds(model_, placement_, names_, failures_);
    if (!mayGoOn())
      return skip({Proof::Matching, Proof::Deadlock, Proof::Races, Proof::Contract});
    Messages messages = matchMessages(model_, placement_, names_, failures_);
    report_.messages = messages.count;
    if (!mayGoOn())
      return skip({Proof::Deadlock, Proof::Races, Proof::Contract, Proof::Writes});
    EventGraph graph(model_, messages, options_.channelSlots);
    PagedArray<Event> order = checkDeadlock(graph, options_.channelSlots, names_, failures_);
    numBefore_ = failures_.count(); // a cycle of buffers alone leaves an order to execute in
    if (!mayGoOn() || order.size() < graph.numEvents())
      return skip({Proof::Races, Proof::Contract, Proof::Writes});
    proveData(graph, order);
  }

  void proveData(const EventGraph &graph, std::span<const Event> order) {
    checkRaces(graph, placement_, order, names_, failures_);
    checkAnnouncements(graph, order, names_, failures_);
    if (!mayGoOn())
      return skip({Proof::Contract, Proof::Writes});
    bool hasContract = model_.schedule().hasContract;
    report_.contractChecked = hasContract;
    if (hasContract)
      checkWriteScope(model_, placement_, names_, failures_);
    if (hasContract && model_.schedule().synchronizes)
      checkSynchronizes(graph, order, failures_);
    checkCosts(graph, placement_, order, failures_);
    Values values;
    State state(model_, placement_, values);
    std::optional<Usefulness> usefulness;
    if (hasContract && options_.findsWaste && !model_.schedule().synchronizes)
      usefulness.emplace(graph);
    bool ran = execute(graph, placement_, order, names_, values, state, failures_,
                       usefulness ? &*usefulness : nullptr);
    if (!ran)
      return skip({Proof::Contract});
    if (hasContract)
      report_.compared = checkPostconditions(model_, placement_, state, values, names_, failures_,
                                             usefulness ? &*usefulness : nullptr);
    if (usefulness && failures_.empty())
      findWaste(*usefulness, order);
  }

  void findWaste(Usefulness &usefulness, std::span<const Event> order) {
    report_.waste = usefulness.waste(order);
    findSpareTemporaries(model_, placement_, report_.waste);
  }

  bool mayGoOn() const { return failures_.count() == numBefore_ && !failures_.isStopped(); }

  void skip(std::vector<Proof> proofs) {
    report_.skipped = std::move(proofs);
    report_.contractChecked = false;
  }

  VerifyOptions options_;
  Model model_;
  Placement placement_;
  DiagnosticNames names_;
  Failures failures_;
  size_t numBefore_ = 0; ///< failures that take nothing away from the proof at hand
  VerifyReport report_;
};

/// Whether the sizes are such that the schedule has a meaning at all.
std::string sizesFault(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  if (sizes.size() != 1 && sizes.size() != schedule.numRanks())
    return "the schedule has " + counted(schedule.numRanks(), "rank") + ", but sizes of " +
           std::to_string(sizes.size()) + " were given";
  for (const Sizes &s : sizes)
    if (!schedule.sizeClass.contains(s.elements))
      return "the schedule holds for sizes " + std::to_string(schedule.sizeClass.min) + " to " +
             std::to_string(schedule.sizeClass.max) + ", not for " + std::to_string(s.elements);
  return "";
}

} // namespace

VerifyReport verify(const Schedule &schedule, const std::vector<Sizes> &sizes,
                    const VerifyOptions &options) {
  if (std::string fault = sizesFault(schedule, sizes); !fault.empty()) {
    VerifyReport report;
    report.failures.push_back({Proof::Matching, fault, {}});
    report.skipped = {Proof::Deadlock, Proof::Races, Proof::Contract, Proof::Writes};
    return report;
  }
  return Verification(schedule, sizes, options).run();
}

} // namespace colldsl
