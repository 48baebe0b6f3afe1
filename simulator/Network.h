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
    None,    ///< messages do not meet on their way
    Torus,   ///< `dims` nodes; along the dimensions in order, each the shorter way round
    FatTree, ///< `dims` children per switch, from the lowest level up
  };
  Kind kind = Kind::None;
  std::vector<uint32_t> dims;
  uint64_t hopNs = 0; ///< from one end of a link to the other
  PerByte G;          ///< time on a link per byte
  uint32_t taper = 1; ///< fat tree: from level to level, how many times fewer links go up than
                      ///< nodes are below

  uint64_t numNodes() const;
};

/// "torus:8x8x4" or "fattree:16x8"; options follow, each after a comma: hop=NS (default 100), G=NS
/// (usualG), for fat trees taper=N (1).
Result<NetworkOptions> parseNetwork(std::string_view text, PerByte usualG);

/// The load of one link, in one direction.
struct LinkLoad {
  uint32_t from = 0, to = 0; ///< nodes and switches, see Network::Step
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t busyNs = 0;
};

class Network {
public:
  /// isRecorded: count the loads for loads().
  Network(const NetworkOptions &options, bool isRecorded);

  /// Nodes and switches have numbers; nodes come first.
  struct Step {
    uint32_t next;    ///< the other end of the link
    uint64_t arrival; ///< of the message's first byte there
  };
  /// Takes the next link towards `to` for a message whose head is at `at`, once it is free.
  /// at != to.
  Step forward(uint32_t at, uint32_t to, uint64_t now, uint64_t bytes);

  const PerByte &G() const { return options_.G; }

  /// The loads of the links that carried messages, by their ends. Nodes have the numbers below
  /// numNodes(), switches the numbers behind, from the lowest level up.
  std::vector<LinkLoad> loads() const;

private:
  struct Link {
    uint32_t next;
    uint64_t index;
  };
  Link torusLink(uint32_t at, uint32_t to) const;
  Link treeLink(uint32_t at, uint32_t to) const;

  NetworkOptions options_;
  std::vector<uint64_t> stride_; ///< torus, per dimension: from a node to its neighbour; tree,
                                 ///< per level: nodes below each subtree
  std::vector<uint64_t> ways_;   ///< tree, per level: links up from each subtree
  std::vector<uint64_t> positionBegin_, linkBegin_; ///< tree, per level
  std::vector<uint64_t> freeAt_;                    ///< per link
  std::vector<LinkLoad> loads_;                     ///< per link; empty: not recorded
};

} // namespace colldsl::sim
