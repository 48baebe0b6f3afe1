/// A network of links between nodes, each of which carries one message at a time.
#pragma once

#include "ir/Result.h"
#include "topology/MachineModel.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace colldsl::sim {

struct NetworkOptions {
  enum class Kind {
    None,      ///< messages do not meet on their way
    Torus,     ///< `dims` nodes; along the dimensions in order, each the shorter way round
    FatTree,   ///< `dims` children per switch, from the lowest level up
    Dragonfly, ///< `dims`: nodes per switch, switches per group, groups
  };
  Kind kind = Kind::None;
  std::vector<uint32_t> dims;
  uint64_t hopNs = 0; ///< from one end of a link to the other
  PerByte G;          ///< time on a link per byte
  uint32_t taper = 1; ///< fat tree: from level to level, how many times fewer links go up than
                      ///< nodes are below; dragonfly: times of G on a global link
  uint32_t globalLinks = 1; ///< dragonfly: between each two groups
  bool isAdaptive = false;  ///< fat tree, dragonfly: links that are free first are taken

  uint64_t numNodes() const;
  /// In both directions, which count as two.
  uint64_t numLinks() const;
  /// Time per byte on the slowest links.
  PerByte slowestG() const;
};

enum class NetworkSizes : bool {
  Given,
  MayFollow, ///< a torus may have none: its users add them
};

/// "torus", "fattree", "dragonfly"; empty: none.
std::string_view kindName(NetworkOptions::Kind kind);

/// "torus:8x8x4", "fattree:16x8" or "dragonfly:4x8x16"; options follow, each after a comma: hop=NS
/// (default 100), G=NS (usualG); for trees and dragonflies taper=N (1) and adaptive, for
/// dragonflies global=N (1).
Result<NetworkOptions> parseNetwork(std::string_view text, PerByte usualG,
                                    NetworkSizes sizes = NetworkSizes::Given);

/// The load of one link, in one direction.
struct LinkLoad {
  uint32_t from = 0, to = 0; ///< nodes and switches, see Network::loads()
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t busyNs = 0;
};

class Network {
public:
  /// isRecorded: count the loads for loads().
  Network(const NetworkOptions &options, bool isRecorded);

  /// The state of a message on its way is a place: a node, or a switch and the message's decisions
  /// that hold from there on. Nodes have the lowest numbers.
  struct Step {
    uint32_t next;    ///< the place at the other end of the link
    uint64_t arrival; ///< of the message's first byte there
  };
  /// Takes the next link towards the node `to` for a message whose head is at `at`, once it is
  /// free. at != to.
  Step forward(uint32_t at, uint32_t to, uint64_t now, uint64_t bytes);

  /// Time per byte on the slowest link from node to node.
  PerByte slowestG(uint32_t from, uint32_t to) const;

  /// The loads of the links that carried messages, by their ends. Nodes have the numbers below
  /// numNodes(), switches the numbers behind, from the lowest level up; of a dragonfly group by
  /// group.
  std::vector<LinkLoad> loads() const;

private:
  struct Link {
    uint32_t next; ///< a place
    uint64_t index;
  };
  void layOutTree();
  void layOutDragonfly();
  Link torusLink(uint32_t at, uint32_t to) const;
  Link treeLink(uint32_t at, uint32_t to, uint64_t now) const;
  /// The link that is free first among `count`, each `step` behind the one before; of several the
  /// first from `usual` on, all around. Those that are free at `now` are equal.
  uint64_t freeFirst(uint64_t first, uint64_t count, uint64_t step, uint64_t usual,
                     uint64_t now) const;

  // Dragonflies (NetworkDragonfly.cpp)
  Link dragonflyLink(uint32_t at, uint32_t to, uint64_t now);
  uint64_t localLink(uint64_t from, uint64_t to) const;
  uint64_t holderOf(uint64_t global) const;
  Link acrossGlobal(uint64_t global, uint64_t toGroup) const;
  /// The way out of a switch's group over a global link.
  struct Exit {
    uint64_t global = 0;  ///< the number of the link among the global ones
    uint64_t beginNs = 0; ///< when the message enters that link
    uint64_t waitNs = 0;  ///< until then, for links that are not free
  };
  Exit exitOver(uint64_t from, uint64_t global, uint64_t now) const;
  Exit bestExit(uint64_t from, uint64_t groupsOn, uint32_t to, uint64_t now) const;
  uint64_t globalFrom(uint64_t from, uint32_t to, bool mayDetour, uint64_t now);
  uint64_t groupOf(uint32_t node) const { return node / (switchNodes_ * groupSwitches_); }
  /// The node or switch of a place.
  uint32_t positionOf(uint32_t place) const;

  NetworkOptions options_;
  std::vector<uint64_t> stride_; ///< torus, per dimension: from a node to its neighbour; tree,
                                 ///< per level: nodes below each subtree
  std::vector<uint64_t> ways_;   ///< tree, per level: links up from each subtree
  std::vector<uint64_t> positionBegin_, linkBegin_; ///< tree, per level
  uint64_t nodes_;
  uint64_t switchNodes_ = 1, groupSwitches_ = 1, groups_ = 1; ///< dragonfly: its sizes
  uint64_t switches_ = 0;                                     ///< dragonfly: all of them
  uint64_t globalBegin_ = 0;     ///< the first global link; other networks have none
  PerByte globalG_;              ///< time on a global link per byte
  std::vector<uint32_t> turns_;  ///< dragonfly, per group: detours that were considered
  std::vector<uint64_t> freeAt_; ///< per link
  std::vector<LinkLoad> loads_;  ///< per link; empty: not recorded
};

} // namespace colldsl::sim
