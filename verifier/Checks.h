/// The checks of the proofs that Verifier.cpp runs, in its order. Each reports what it finds to
/// `failures`. `order`: the events in an order of happens-before, complete.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"
#include "verifier/State.h"
#include "verifier/StatementWords.h"
#include "verifier/Usefulness.h"

namespace colldsl::proof {

/// The parts that all checks share, and their ways to report. Borrows them.
class Check {
public:
  Check(const Model &model, const Placement &placement, const DiagnosticNames &names,
        Failures &failures)
      : model_(model), placement_(placement), names_(names), failures_(failures) {}

protected:
  /// Reports an op: `what` follows its name.
  void failAt(Proof proof, Vertex v, const std::string &what) {
    failures_.add({proof, names_.opOfRank(v) + what, {failures_.step(v, names_.op(v))}});
  }
  /// Reports a statement about `where`, which `what` follows.
  void failStatement(Proof proof, Rank rank, const Ensure &ensure, const std::string &where,
                     const std::string &what, StatementWords words = StatementWords()) {
    failures_.add({proof,
                   words.who(rank) + ": " + where + what,
                   {{rank, kNoOp, ensure.loc, words.step(where)}}});
  }

  const Model &model_;
  const Placement &placement_;
  const DiagnosticNames &names_;
  Failures &failures_;
};

/// Part of the fifth proof: no op names bytes outside its buffers, or buffers that are not there.
void checkBounds(const Check &check);

/// Before the fourth proof: elements have the operators that combine them, and postconditions
/// compare elements of one type. `ownOperators`: VerifyOptions.
void checkElements(const Check &check, bool ownOperators);

/// The second proof: the event graph has no cycle under any of three rules for sends. Checks, in
/// this order, until one fails: plain waiting, synchronous sends, finite channels. Returns the
/// events in an order of happens-before; empty if the graph has a cycle under plain waiting
/// already.
PagedArray<Event> checkDeadlock(const EventGraph &graph, uint32_t channelSlots,
                                const DiagnosticNames &names, Failures &failures);

/// The third proof: ops of a rank that touch common bytes, one of them writing, are ordered, and no
/// op is in conflict with itself.
void checkRaces(const Check &check, const EventGraph &graph, std::span<const Event> order);

/// Part of checkRaces(): ops whose own slices conflict, as in a list that writes a byte twice, or a
/// copy whose source and target overlap in part.
void checkSelfConflicts(const Check &check);

/// Part of the third proof: a message that is `announced` is written to a receiver that is ready.
/// The start of each announced receive comes before the start of its send, because other ops tell
/// the sender. certain: the graph of only those messages that travel whatever the lengths of blocks
/// are.
void checkAnnouncements(const EventGraph &graph, const EventGraph &certain,
                        std::span<const Event> order, const DiagnosticNames &names,
                        Failures &failures);

/// Part of the fifth proof: parameters are written only where an `ensures` speaks of them, and `in`
/// parameters never.
void checkWriteScope(const Check &check);

/// Part of the fourth proof: in a collective with `synchronizes` no rank finishes before all have
/// started. Sets of all ranks at once may take stepsPerEvent steps per event; beyond that the check
/// takes 64 ranks at a time.
void checkSynchronizes(const EventGraph &graph, std::span<const Event> order, Failures &failures,
                       uint64_t stepsPerEvent = 32);

/// Part of the fourth proof: the costs of ranks are within the bounds that the collective promises.
/// No cycle exists under SynchronousSends.
void checkCosts(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
                Failures &failures);

/// Bytes of a message's slices, with blocks of capacity in full; for a message without slices, the
/// size that it states. Slices may lie outside of their buffers.
uint64_t messageBytes(const Model &model, const Placement &placement, Vertex v);

/// The fourth proof: at the end of the symbolic run the buffers hold what each `ensures` promises.
/// Bytes that are promised but were never written fail the fifth. state: at exit. Returns the
/// places of the promises that had bytes to compare, each once. `usefulness`, unless it is null,
/// learns the writers of promised bytes.
std::vector<SourceLoc> checkPostconditions(const Check &check, const State &state, Values &values,
                                           Usefulness *usefulness);

/// Part of the fourth proof: before each iteration of a loop, and behind the last one, the ops that
/// the text issued before have left what its invariants state. state: at exit, with all changes
/// kept. Returns places as checkPostconditions() does.
std::vector<SourceLoc> checkInvariants(const Check &check, const State &state, Values &values);

/// Part of the fifth proof: no op writes a block of capacity beyond its final length. `state`: at
/// exit. In a proof of all lengths it learns which blocks are undecided.
void checkBlockTails(const Check &check, State &state);

/// Counts, in the places of `waste`, which has all places of copies, temporaries that only stand in
/// for a parameter: a copy takes a whole temporary to bytes of a parameter that no other op of the
/// rank touches. Then the ops that fill the temporary could fill the parameter, if the same holds
/// on all ranks that use it. Example: recv t from 1; copy t to y.
void findSpareTemporaries(const Model &model, const Placement &placement, Waste &waste);

} // namespace colldsl::proof
