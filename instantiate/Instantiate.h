/// From the checked program to DAGs: for one rank (cost proportional to that rank's
/// own ops), or for all ranks of a job with everything checked that needs them all.
#pragma once

#include "instantiate/ArgumentValue.h"
#include "ir/Schedule.h"
#include "program/Program.h"
#include "topology/LeaderOrder.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace colldsl {

/// Bounds on what a program may make, each named in the message it causes.
struct InstantiateLimits {
  uint64_t maxSteps = 10'000'000;        ///< loop iterations, calls and list elements, per rank
  uint64_t maxOps = 16'000'000;          ///< ops per rank
  uint64_t maxTotalOps = 256'000'000;    ///< ops of all ranks
  uint64_t maxDeps = 64'000'000;         ///< dependencies per rank
  uint64_t maxTotalDeps = 1'024'000'000; ///< dependencies of all ranks
  uint32_t maxCallDepth = 200;           ///< calls within calls
  uint32_t maxRanks = 1u << 22;          ///< instantiated together
  /// Set to true, it keeps further ranks from being made. Null: all are made.
  const std::atomic<bool> *stop = nullptr;
};

/// The treatment of invariants of loops in the body of the request's collective; those of
/// collectives that it calls are left to these.
enum class Invariants : uint8_t {
  None,     ///< nothing: ops and dependencies are as without them
  Recorded, ///< they are in Contract::invariants
  Copied,   ///< also, and about an `out` buffer of their own each, to which an op copies the target
};

struct InstantiateRequest {
  DeclId collective = kNoDecl;
  uint32_t ranks = 1;
  uint64_t elements = 0;                ///< the size symbol, n
  ElementType type = ElementType::I32;  ///< the type variable, T
  uint64_t elementBytes = 0;            ///< of all elements; 0: as their types have it
  const Topology *topology = nullptr;   ///< null: all on one node
  const LeaderOrder *leaders = nullptr; ///< null: the lowest ranks lead
  std::vector<ExprId> arguments;        ///< per parameter; missing or kNoExpr: its default
  std::vector<ArgumentValue> values;    ///< per parameter; missing or nothing: its argument
  std::vector<std::pair<std::string, uint64_t>> sizes; ///< of further size symbols
  bool inPlace = false;                                ///< the collective's `aliases` forms
  bool contract = false;                               ///< evaluate `ensures` too
  Invariants invariants = Invariants::None;
  InstantiateLimits limits;
};

/// Instantiates rank by rank, reusing its memory. Not thread-safe; the program, the
/// topology and the request's expressions must outlive it.
class Instantiator {
public:
  Instantiator(const Program &program, InstantiateRequest request);
  ~Instantiator();
  Instantiator(Instantiator &&) noexcept;

  /// Fills `dag` (cleared first). Message ids are hashes, see MessageId.
  Status instantiate(Rank rank, Dag &dag);

  /// The sizes for which the DAGs of the ranks instantiated so far hold.
  SizeClass sizeClass() const;
  /// True if a rank instantiated so far looked at the places of ranks.
  bool usedTopology() const;
  /// Buffer names; see Buffer::name.
  const std::vector<std::string> &names() const;

private:
  friend Result<Schedule> instantiateAll(const Program &, const InstantiateRequest &);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Evaluates an expression over a collective's parameters (a default, an argument or a candidate)
/// as rank 0 does when the request's collective begins. Returns a number as in ArgumentValue; for a
/// tree its root. An error: some parameter has no value, or a wrong one.
Result<int64_t> evaluateAtEntry(const Program &program, const InstantiateRequest &request,
                                ExprId id);

/// All ranks, with small message tags, trees checked (one root, spanning, both views
/// agree) and the calls of each group compared.
Result<Schedule> instantiateAll(const Program &program, const InstantiateRequest &request);

} // namespace colldsl
