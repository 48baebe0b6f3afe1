/// The proofs of a collective for every number of ranks.
///
/// The five proofs of verifier/Verifier.h are shown for all P that `where` allows, all roots, all sizes and all
/// values of the parameters at once, by formulas that z3 decides. What is not shown may hold
/// nevertheless. Data of messages is proved by induction over the order that the deadlock proof
/// finds: what a receive brings is assumed, and each send is proved to send it.
#pragma once

#include "program/Program.h"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace colldsl {

struct AllRanksProof {
  bool isProved = false;
  /// What the proof is restricted to, "operators that commute"; empty: nothing.
  std::string restrictedTo;
  /// The trees that the text declares and the proof uses: that each is a tree is checked whenever one
  /// is made.
  std::set<std::string> trees;
  /// The first condition that was not shown, or the limit that was reached.
  std::string reason;
  SourceLoc loc; ///< of the reason, in the text
  double seconds = 0;
  unsigned queries = 0;
};

/// Proofs of the collectives of a program; each is proved once, as itself or as a callee. Threads:
/// one; the program outlives it.
class AllRanksProofs {
public:
  /// No collective, with those that it calls, takes longer than `limit`, by a query or so.
  AllRanksProofs(const Program &program, std::chrono::milliseconds limit)
      : program_(program), limit_(limit) {}

  const AllRanksProof &of(DeclId collective);

private:
  AllRanksProof prove(DeclId collective);

  const Program &program_;
  std::chrono::milliseconds limit_;
  std::map<DeclId, AllRanksProof> known_; ///< those that are being proved have no reason yet
};

} // namespace colldsl
