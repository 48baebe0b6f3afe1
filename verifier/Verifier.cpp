#include "verifier/Verifier.h"

#include "ir/Ranges.h"
#include "verifier/Checks.h"
#include "verifier/EmptyMessages.h"
#include "verifier/Execution.h"

#include <algorithm>
#include <optional>

namespace colldsl::proof {
namespace {

/// Runs the proofs in the order in which they rest on each other.
class Verification {
public:
  Verification(const Schedule &schedule, const std::vector<Sizes> &sizes,
               const VerifyOptions &options, const BlockLengths *lengths = nullptr)
      : options_(options), model_(schedule, sizes, lengths), placement_(model_),
        names_(model_, placement_),
        failures_(model_, options.maxFailures, Grouping::Alike, options.stop),
        check_(model_, placement_, names_, failures_) {
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
    checkBounds(check_);
    if (!mayGoOn())
      return skip({Proof::Matching, Proof::Deadlock, Proof::Races, Proof::Contract});
    checkElements(check_, options_.ownOperators);
    if (!mayGoOn())
      return skip({Proof::Matching, Proof::Deadlock, Proof::Races, Proof::Writes});
    if (model_.lengths() && dividesBlocks())
      return;
    Messages messages = matchMessages(model_, placement_, names_, failures_);
    report_.messages = messages.count;
    if (!mayGoOn())
      return skip({Proof::Deadlock, Proof::Races, Proof::Contract, Proof::Writes});
    EventGraph graph(model_, messages, options_.channelSlots);
    PagedArray<Event> order = checkDeadlock(graph, options_.channelSlots, names_, failures_);
    numBefore_ = failures_.count(); // a cycle of buffers only leaves an order to execute in
    if (!mayGoOn() || order.size() < graph.numEvents())
      return skip({Proof::Races, Proof::Contract, Proof::Writes});
    if (!model_.lengths())
      return proveData(graph, graph, order);
    Messages sent = thoseAlwaysSent(model_, placement_, messages);
    proveData(graph, EventGraph(model_, sent, options_.channelSlots), order);
  }

  /// True if a slice is part of a block whose length the call chooses: at other lengths it names
  /// other bytes, so the proof would not hold for all. The symbolic run finds parts of blocks of
  /// capacity.
  bool dividesBlocks() {
    auto isPart = [](const Slice &slice) {
      return slice.block != kNoBlock && !isWholeBlock(slice);
    };
    for (uint32_t r = 0; r < model_.numRanks() && report_.undecided.empty(); ++r) {
      Rank rank{r};
      const Dag &dag = model_.dag(rank);
      auto look = [&](Rank owner, const Slice &slice, bool isContract) {
        bool isOpen = isContract || model_.dag(owner).bufferOf(slice).layout == Layout::CallTime;
        if (isOpen && isPart(slice) && model_.lengthOf(owner, slice) != kFixedLength)
          report_.undecided = rankWord(owner) + ": " + names_.slice(owner, slice) + " is divided";
      };
      for (const Slice &slice : dag.slices)
        look(rank, slice, false);
      for (const Ensure &ensure : dag.contract.ensures)
        look(rank, ensure.target, true);
      for (const Invariant &invariant : dag.contract.invariants)
        look(rank, invariant.stated.target, true);
      for (const EntryValue &operand : dag.contract.operands)
        if (index(operand.rank) < model_.numRanks())
          look(operand.rank, operand.slice, true);
    }
    return !report_.undecided.empty();
  }

  /// `certain`: only the messages that travel whatever the lengths of blocks are.
  void proveData(const EventGraph &graph, const EventGraph &certain, std::span<const Event> order) {
    checkRaces(check_, graph, order);
    checkAnnouncements(graph, certain, order, names_, failures_);
    if (!mayGoOn())
      return skip({Proof::Contract, Proof::Writes});
    bool hasContract = model_.schedule().hasContract;
    report_.contractChecked = hasContract;
    if (hasContract)
      checkWriteScope(check_);
    if (hasContract && model_.schedule().synchronizes)
      checkSynchronizes(certain, order, failures_);
    checkCosts(graph, placement_, order, failures_);
    Values values;
    State state(model_, placement_, values);
    if (hasInvariants())
      state.keepChanges();
    std::optional<Usefulness> usefulness;
    if (hasContract && options_.findsWaste && !model_.schedule().synchronizes)
      usefulness.emplace(graph);
    bool ran = execute(graph, placement_, order, names_, values, state, failures_,
                       usefulness ? &*usefulness : nullptr);
    if (!ran)
      return skip({Proof::Contract});
    if (hasContract) {
      std::vector<SourceLoc> invariants;
      if (hasInvariants()) // first, as they fail where a mistake begins
        invariants = checkInvariants(check_, state, values);
      report_.compared =
          checkPostconditions(check_, state, values, usefulness ? &*usefulness : nullptr);
      addBounds(report_.compared);
      report_.compared.insert(report_.compared.end(), invariants.begin(), invariants.end());
      checkBlockTails(check_, state);
    }
    for (const std::string &why :
         {bytesWithoutBound(), roundsOfSomeLengths(graph, certain), state.undecided()})
      if (report_.undecided.empty())
        report_.undecided = why;
    if (usefulness && failures_.empty())
      findWaste(*usefulness, order);
  }

  bool hasInvariants() const {
    const std::vector<Dag> &ranks = model_.schedule().ranks;
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const Dag &dag) { return !dag.contract.invariants.empty(); });
  }

  void addBounds(std::vector<SourceLoc> &places) const {
    for (const CostBound &bound : model_.schedule().costs)
      if (std::find(places.begin(), places.end(), bound.loc) == places.end())
        places.push_back(bound.loc);
  }

  /// The reason why bounds of bytes hold for some lengths of blocks only; empty: they hold for all.
  std::string bytesWithoutBound() const {
    for (const CostBound &bound : model_.schedule().costs)
      if (bound.cost == Cost::Sent || bound.cost == Cost::Received)
        for (const Slice &slice : model_.dag(bound.rank).slices) {
          LengthId id = model_.lengthOf(bound.rank, slice);
          if (id != kFixedLength && model_.lengths()->most(id) == UINT64_MAX)
            return rankWord(bound.rank) + ": bytes have a bound, and " +
                   names_.slice(bound.rank, slice) + " may have any length";
        }
    return "";
  }

  /// Why bounds of rounds hold for some lengths of blocks alone; empty: they hold for all. A port
  /// that one message leaves free may go to another one than before, so that fewer messages may
  /// take more rounds.
  std::string roundsOfSomeLengths(const EventGraph &all, const EventGraph &certain) const {
    const std::vector<CostBound> &costs = model_.schedule().costs;
    auto bound = std::find_if(costs.begin(), costs.end(),
                              [](const CostBound &b) { return b.cost == Cost::Rounds; });
    if (!model_.lengths() || bound == costs.end())
      return "";
    for (Vertex v{0}; index(v) < model_.numVertices(); v = Vertex{index(v) + 1})
      if (exists(all.partnerOf(v)) != exists(certain.partnerOf(v)))
        return rankWord(bound->rank) + ": rounds have a bound, and " + names_.opOfRank(v) +
               " may have no bytes";
    return "";
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
  Check check_;
  size_t numBefore_ = 0; ///< failures that do not prevent the next proof
  VerifyReport report_;
};

/// The reason why the schedule does not apply to these sizes; empty: it does.
std::string sizesFault(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  if (sizes.size() != 1 && sizes.size() != schedule.numRanks())
    return "the schedule has " + counted(schedule.numRanks(), "rank") + ", but sizes of " +
           std::to_string(sizes.size()) + " were given";
  for (const Sizes &s : sizes)
    if (!schedule.sizeClass.contains(s.elements))
      return "the schedule holds for sizes " +
             rangeWord(schedule.sizeClass.min, schedule.sizeClass.max) + ", not for " +
             std::to_string(s.elements);
  return "";
}

/// The reason why a schedule without a contract is refused: it has promises, which would stay
/// unproved. Empty: it has none.
std::string contractFault(const Schedule &schedule) {
  if (schedule.hasContract)
    return "";
  auto ensures = [](const Dag &dag) { return !dag.contract.ensures.empty(); };
  const char *what = schedule.synchronizes    ? "'synchronizes'"
                     : schedule.deterministic ? "'deterministic'"
                     : std::any_of(schedule.ranks.begin(), schedule.ranks.end(), ensures)
                         ? "'ensures'"
                         : nullptr;
  return what ? std::string(what) + " belongs to a contract, and the schedule has none" : "";
}

VerifyReport refused(Proof proof, std::string why, std::vector<Proof> skipped) {
  VerifyReport report;
  report.failures.push_back({proof, std::move(why), {}});
  report.skipped = std::move(skipped);
  return report;
}

} // namespace

VerifyReport verify(const Schedule &schedule, const std::vector<Sizes> &sizes,
                    const VerifyOptions &options) {
  if (std::string fault = sizesFault(schedule, sizes); !fault.empty())
    return refused(Proof::Matching, std::move(fault),
                   {Proof::Deadlock, Proof::Races, Proof::Contract, Proof::Writes});
  if (std::string fault = contractFault(schedule); !fault.empty())
    return refused(Proof::Contract, std::move(fault),
                   {Proof::Matching, Proof::Deadlock, Proof::Races, Proof::Writes});
  return Verification(schedule, sizes, options).run();
}

VerifyReport verifyAllLengths(const Schedule &schedule, uint64_t elements,
                              const VerifyOptions &options) {
  Result<BlockLengths> lengths = BlockLengths::of(schedule, elements);
  if (!lengths) {
    const Diagnostic &error = lengths.status().diagnostic();
    VerifyReport report;
    report.failures.push_back({Proof::Contract, error.message, {{kNoRank, kNoOp, error.loc, ""}}});
    return report;
  }
  std::vector<Sizes> sizes = lengths->sizes(lengths->nonEmpty());
  if (std::string fault = sizesFault(schedule, sizes); !fault.empty())
    return verify(schedule, sizes, options);
  return Verification(schedule, sizes, options, &*lengths).run();
}

} // namespace colldsl::proof
