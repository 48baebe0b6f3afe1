/// All ranks' DAGs of one collective (or of one GOAL file), with what they share.
#pragma once

#include "ir/Cost.h"
#include "ir/Dag.h"
#include "ir/Result.h"

#include <string>
#include <vector>

namespace colldsl {

class Schedule {
public:
  std::string name;       ///< of the collective, or of the file it came from
  std::vector<Dag> ranks; ///< index == rank
  SizeClass sizeClass;
  std::vector<std::string> names; ///< of buffers, see Buffer::name
  std::vector<std::string> files; ///< see SourceLoc::file
  bool hasContract = false;       ///< each Dag::contract is filled in
  bool synchronizes = false;      ///< promises: no rank finishes before all have started
  bool isPlainGoal = false;   ///< read from GOAL: a simulator matches by rank and tag, as ops run
  bool deterministic = false; ///< promises: the same combine tree per element on every rank
  /// Made by a program that looked at where ranks sit. Not part of text forms and images.
  bool usesTopology = false;
  /// Bounds that the collective promises, by rank, at sizeClass.elements. They hold for the DAGs of
  /// its text: passes on DAGs drop them, and text forms and images have none.
  std::vector<CostBound> costs;

  uint32_t numRanks() const { return static_cast<uint32_t>(ranks.size()); }
  uint64_t numOps() const;
  /// True if some buffer has blocks whose lengths come with the call.
  bool hasCallTimeBlocks() const;
  const std::string &nameOf(const Buffer &buffer) const { return names[buffer.name]; }
};

/// Gives every message the smallest free tag of its pair of ranks, in the order of
/// the sender's ops, and both of its ends the same id. Ends that meet no partner
/// get tags of their own, so that they still meet none.
void renumberMessages(Schedule &schedule);

} // namespace colldsl
