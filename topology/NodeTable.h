/// The nodes of a machine by name, and the groups that they form above the node, from a file of
/// lines "node NAME LEVEL GROUP LEVEL GROUP ...", or from `scontrol show topology`.
/// docs/machines.md has both formats.
#pragma once

#include "topology/FileWords.h"
#include "topology/Topology.h"

#include <unordered_map>

namespace colldsl {

/// Nodes in the order of a file.
struct NodeList {
  std::vector<std::string> names;
  std::vector<OuterLevel> levels;
};

struct NodeOptions {
  std::string prefix;              ///< comes before each name in the file
  std::vector<std::string> levels; ///< the ones to use, outermost first; empty: all
};

class NodeTable {
public:
  static Result<NodeTable> read(const std::string &path, const NodeOptions &options);
  NodeTable(NodeTable &&) = default;
  NodeTable &operator=(NodeTable &&) = default;

  /// The number of a node, in the order of the file. A host name may have a domain that the file
  /// leaves out.
  std::optional<uint32_t> find(std::string_view host) const;
  const std::string &path() const { return path_; }
  const std::vector<std::string> &names() const { return nodes_.names; }
  const std::vector<OuterLevel> &levels() const { return nodes_.levels; } ///< outermost first

private:
  NodeTable() = default;
  Status choose(const std::vector<std::string> &levels);
  Status checkNesting(const OuterLevel &outer, const OuterLevel &inner) const;

  std::string path_;
  NodeList nodes_;
  std::unordered_map<std::string_view, uint32_t>
      numbers_; ///< of names(), which stay where they are
};

/// Adds nodes with unique names; for the readers of files.
class NodeNames {
public:
  NodeNames(NodeList &nodes, std::string prefix) : nodes_(nodes), prefix_(std::move(prefix)) {}

  /// Adds the nodes of a host list that stands in the word, from its character `begin` on.
  Status add(const FileWords &file, const FileWord &word, size_t begin);

private:
  NodeList &nodes_;
  std::string prefix_;
  std::unordered_map<std::string, size_t> lines_; ///< of each name
};

/// Reads lines of keys and values. `first`: the first line of the file, which was read already.
Status readNodeLines(FileWords &file, std::vector<FileWord> first, NodeNames &names,
                     NodeList &into);
/// Variant of readNodeLines() for records of `scontrol show topology`.
Status readSlurmTopology(FileWords &file, std::vector<FileWord> first, NodeNames &names,
                         NodeList &into);

} // namespace colldsl
