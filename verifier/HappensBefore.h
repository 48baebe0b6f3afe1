/// Answers, for any timing, if ops are done with their bytes before another op touches its own. An
/// op touches its bytes from its start to its finish. The ends of a message touch theirs for less
/// time:
///   send   is done with its bytes once its receive has finished, at the latest
///   recv   writes none before its send has started (EventGraph::writesWhatCame)
#pragma once

#include "verifier/EventGraph.h"

#include <initializer_list>

namespace colldsl::proof {

/// Borrows graph and order. Each question marks what it visits, so one thread at a time.
class HappensBefore {
public:
  /// order: topologicalOrder(graph, Rules::HappensBefore), complete.
  HappensBefore(const EventGraph &graph, const Placement &placement, std::span<const Event> order);

  /// Removes from `earlier`, ops of the same rank as `later`, without repetition, those that are
  /// done before `later` begins; the others stay, unordered. Costs the part of the graph between
  /// the ops, nearest first; next to nothing if a dep says it directly. Counts only messages that
  /// travel if all call-time blocks except those of length `nonEmpty` are empty (EmptyMessages.h).
  void removeOrdered(Vertex later, std::vector<Vertex> &earlier, LengthId nonEmpty = kFixedLength);

private:
  void prepare();
  template <typename Walk>
  void search(std::initializer_list<Event> from, std::vector<Vertex> &earlier, Walk walk);
  void removeDirect(Vertex later, std::vector<Vertex> &earlier);
  void removeLocal(Vertex later, std::vector<Vertex> &earlier);
  void removeAnywhere(Vertex later, std::vector<Vertex> &earlier, LengthId nonEmpty);
  void removeMarked(std::vector<Vertex> &earlier);
  bool mark(Event e);
  bool isMarked(Event e) const { return marks_[index(e)] == question_; }
  Vertex takeWanted(Event e);

  const EventGraph &graph_;
  const Placement &placement_;
  std::span<const Event> order_;
  // Allocated for the first question: most schedules of signals alone ask none
  std::vector<uint32_t> position_; // per event, in the order
  std::vector<uint32_t> marks_;    // per event: the last question that visited it
  std::vector<uint32_t> wanted_;   // per vertex: the last question that asked for it
  uint32_t question_ = 0;
  std::vector<Event> queue_;
};

} // namespace colldsl::proof
