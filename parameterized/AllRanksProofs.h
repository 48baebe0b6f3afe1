/// The proofs of a collective for every number of ranks.
///
/// The five proofs of verifier/Verifier.h are shown at once for all P that `where` allows, all
/// roots, all sizes and all values of the parameters, by formulas that z3 decides. A form that is
/// not shown may hold nevertheless.
///
///  1. Messages: Messages.h pairs the sends of all ranks with the receives.
///  2. Deadlock: Order.h finds a time for every operation, later than all that it waits for.
///  3. Data: Body.h executes the body at any rank. What a receive brings is assumed; each send is
///     proved to send what its receive assumes, which is an induction over these times.
///  4. Promises and writes follow from what buffers hold in the end.
/// Operations of a rank that touch common bytes wait for each other by the rules of the language,
/// so that there are no races to exclude.
#pragma once

#include "parameterized/CalleeProof.h"
#include "program/Program.h"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace colldsl::parameterized {

struct AllRanksProof {
  bool isProved = false;
  /// The calls that the proof is restricted to, "operators that commute"; empty: all.
  std::string restrictedTo;
  /// Promises that the proof leaves out: 'deterministic', bounds of costs.
  std::vector<std::string> leftOut;
  /// The trees and graphs that the text declares and the proof uses. The
  /// instantiation checks each for its number of ranks; the proof rests on that.
  std::set<std::string> structures;
  /// The first condition that was not shown, or the limit that was reached.
  std::string reason;
  SourceLoc loc; ///< of the reason, in the text
  /// The ranks of which each rank has heard in the end, if the collective moves no data.
  std::set<Heard> heard;
  double seconds = 0;
  unsigned queries = 0;
};

/// A query of a proof.
struct ProofStep {
  std::string title;  ///< a line: where, and the mistake that the query refutes
  std::string script; ///< in SMT-LIB 2: there is no model
};

/// Name and version of the solver.
std::string solverName();

/// Limits the memory of all solvers of this process, 4095 MiB at most. A query beyond it ends its
/// proof, which is then not shown.
void limitSolverMemory(uint32_t mebibytes);

/// Proofs of the collectives of a program; each is proved once, as itself or as a callee. Threads:
/// one; the program outlives it.
class AllRanksProofs {
public:
  /// No collective takes longer than `limit`, by a query or so, callees excluded.
  AllRanksProofs(const Program &program, std::chrono::milliseconds limit)
      : program_(program), limit_(limit) {}

  const AllRanksProof &of(DeclId collective);

  /// Receives the queries of each proof that is found from now on, in the order in which it used
  /// their answers; callees come before their callers. Queries of failed attempts are left out.
  using Sink = std::function<void(DeclId, const AllRanksProof &, const std::vector<ProofStep> &)>;
  void setSink(Sink sink) { sink_ = std::move(sink); }

private:
  AllRanksProof prove(DeclId collective);
  CalleeProof requireProof(DeclId callee, SourceLoc loc, AllRanksProof &caller);

  const Program &program_;
  std::chrono::milliseconds limit_;
  Sink sink_;
  std::map<DeclId, AllRanksProof> known_; ///< those that are being proved have no reason yet
};

} // namespace colldsl::parameterized
