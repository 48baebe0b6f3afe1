/// Which ops of a schedule do something for its contract: filled by the symbolic run, used for
/// warnings.
///
/// An op is useful if a promised byte, or an op that is useful, reads a byte that it wrote and
/// changed. A send is useful if its receive is. Signals and waits order others, and are useful.
/// Example: copy x to y; copy x to y. The second one finds in y what it writes, so it is not.
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
  /// `writer` puts a value where `before` has put one, the same or another one.
  void addWrite(Vertex writer, Vertex before, bool isSame) {
    changes_[index(writer)] = changes_[index(writer)] || !isSame;
    add(replaces_, writer, before);
  }
  void addPromised(Vertex writer) { reach(writer); }

  /// When all is added. order: of happens-before.
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
  /// An op that moves data, and some.
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
