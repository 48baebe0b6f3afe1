/// Finds the ops of a schedule that do something for its contract. The symbolic run fills it;
/// warnings use it.
///
/// An op is useful if a promised byte, or a useful op, reads a byte that it wrote and changed. A
/// send is useful if its receive is. Signals and waits order other ops, and are useful. Example:
/// copy x to y; copy x to y. The second copy writes what y holds already, so it is useless.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Verifier.h"

namespace colldsl::proof {

class Usefulness {
public:
  /// Borrows the graph.
  explicit Usefulness(const EventGraph &graph)
      : graph_(graph), changes_(graph.model().numVertices()), reads_(graph.model().numVertices()),
        replaces_(graph.model().numVertices()), isReached_(graph.model().numVertices()) {}

  /// `reader` takes bytes of `writer`; kNoVertex: they were there at entry.
  void addRead(Vertex reader, Vertex writer) { add(reads_, reader, writer); }
  /// `writer` overwrites a value of `before`; isSame: with an equal one.
  void addWrite(Vertex writer, Vertex before, bool isSame) {
    changes_[index(writer)] = changes_[index(writer)] || !isSame;
    add(replaces_, writer, before);
  }
  void addPromised(Vertex writer) { reach(writer); }

  /// Call it once everything was added. order: the events in an order of happens-before.
  Waste waste(std::span<const Event> order);

private:
  using Edges = std::vector<std::vector<Vertex>>; // each target once in a row

  static void add(Edges &edges, Vertex from, Vertex to) {
    std::vector<Vertex> &known = edges[index(from)];
    if (exists(to) && (known.empty() || known.back() != to))
      known.push_back(to);
  }
  void reach(Vertex v) {
    if (exists(v) && !isReached_[index(v)]) {
      isReached_[index(v)] = true;
      open_.push_back(v);
    }
  }
  void spread();
  bool isUseful(Vertex v) const { return isReached_[index(v)] && changes_[index(v)]; }
  /// True for an op that moves data, if it moves at least one byte. A receive counts for its send.
  bool counts(Vertex v) const;
  void addPlaces(Waste &waste) const;
  void addDepths(Waste &waste, std::span<const Event> order) const;

  const EventGraph &graph_;
  std::vector<bool> changes_; // some byte
  Edges reads_, replaces_;
  std::vector<bool> isReached_;
  std::vector<Vertex> open_; // reached, and not followed
};

} // namespace colldsl::proof
