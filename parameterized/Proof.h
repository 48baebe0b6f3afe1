/// The proofs of a collective for every number of ranks.
///
/// The five proofs of verifier/Verifier.h are shown for all P that `where` allows, all roots, all sizes and all
/// values of the parameters at once, by formulas that z3 decides. What is not shown may hold
/// nevertheless. Data of messages is proved by induction over the order that the deadlock proof
/// finds: what a receive brings is assumed, and each send is proved to send it.
#pragma once

#include "program/Program.h"

#include <chrono>
#include <string>
#include <vector>

namespace colldsl {

struct AllRanksProof {
  bool isProved = false;
  /// What the proof is restricted to, "operators that commute"; empty: nothing.
  std::string restrictedTo;
  /// The trees that the text declares and the proof uses: that each is a tree is checked whenever one
  /// is made.
  std::vector<std::string> trees;
  /// The first condition that was not shown, or the limit that was reached.
  std::string reason;
  SourceLoc loc; ///< of the reason, in the text
  double seconds = 0;
  unsigned queries = 0;
};

/// Threads: any; each call has its own solver. Takes no longer than `limit`, by a query or so.
AllRanksProof proveForAllRanks(const Program &program, DeclId collective,
                               std::chrono::milliseconds limit);

} // namespace colldsl
