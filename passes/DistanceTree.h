/// Distance tree: a tree that enters each group of each level of the machine (cache, socket,
/// memory, board, node) once, so that the sum of all distances is the least there can be. The root
/// leads the groups that it is in, the first core leads the others. A leader sends to the leaders
/// of the groups next to its own, those farthest away first. Ties are broken by cores, not by
/// ranks: the same cores communicate, however ranks are bound.
///
/// example: 48 cores on 8 sockets of 2 boards: 40 edges within sockets, 6 between sockets of a
/// board, 1 between boards, depth 3
/// bound: P log P, where Kruskal over all pairs takes P^2 log P
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012,
/// algorithm 1
#pragma once

#include "passes/Pass.h"
#include "passes/PhysicalOrder.h"

namespace colldsl {

struct DistanceTree {
  enum class Shape : uint8_t { Flat, Binomial };
  Shape shape = Shape::Binomial;

  void describe(PassOptions &options);
};

/// Among the leaders of a level: `Flat`, the first one sends to all, which is the least depth in
/// groups; `Binomial`, those that have the data send to others.
GivenTree distanceTree(const Topology &topology, Rank root, DistanceTree::Shape shape);

Result<BindOutcome> bindDistanceTree(const BindContext &context, const DistanceTree &options);

} // namespace colldsl
