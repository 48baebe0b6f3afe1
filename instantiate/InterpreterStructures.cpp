// Trees and graphs: a value is a declaration with its arguments. The view of one rank is worked out
// on request, and kept as long as requests come from that rank of that group.
#include "instantiate/Interpreter.h"
#include "ir/Index32.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace colldsl {
namespace {

constexpr size_t kMaxKept = size_t{1} << 22; ///< edges of trees, and of graphs

} // namespace

template <typename Value> bool Interpreter::upToDate(Value &value, const Group &group) const {
  int64_t rank = value.at == kNone ? group.me : value.at;
  StructureView now{group.members, group.size, rank};
  bool same = value.view.groupMembers == now.groupMembers &&
              value.view.groupSize == now.groupSize && value.view.rank == now.rank;
  value.view = now;
  return same;
}

int64_t Interpreter::makeTree(const Expr &e, Args args) {
  int64_t handle = trees_.next();
  TreeValue &tree = trees_[handle];
  tree.decl = DeclId{static_cast<uint32_t>(e.value)};
  tree.args.assign(args.begin(), args.end());
  if (recordsTrees && !failed_)
    trees.push_back({currentGroup(), tree, e.loc});
  return handle;
}

int64_t Interpreter::makeGraph(const Expr &e, Args args) {
  int64_t handle = graphs_.next();
  GraphValue &graph = graphs_[handle];
  graph.decl = DeclId{static_cast<uint32_t>(e.value)};
  graph.madeAt = e.loc;
  graph.args.assign(args.begin(), args.end());
  return handle;
}

int64_t Interpreter::evalEdgesFile(const Expr &e, int64_t string, int64_t) {
  const std::string &path = text(static_cast<uint32_t>(string));
  auto [it, isNew] = edgeFiles_.try_emplace(path, index32(graphFiles_.size()));
  if (isNew) {
    Result<GraphFile> loaded = GraphFile::load(path);
    if (!loaded) {
      edgeFiles_.erase(it);
      fail(e.loc, loaded.message());
      return 0;
    }
    graphFiles_.push_back(loaded.take());
  }
  int64_t handle = graphs_.next();
  graphs_[handle].decl = kNoDecl;
  graphs_[handle].file = it->second;
  return handle;
}

TreeValue &Interpreter::viewOf(int64_t treeHandle, SourceLoc loc) {
  TreeValue &tree = trees_[treeHandle];
  if (!upToDate(tree, currentGroup()))
    workOutTree(tree, currentGroup(), loc);
  return tree;
}

void Interpreter::workOutTree(TreeValue &tree, const Group &group, SourceLoc loc) {
  tree.parent = kNone;
  tree.children.clear();
  if (!step(loc))
    return;
  if (tree.given)
    return takeGivenTree(tree, group, loc);
  // Many ranks ask for the view of another one, so such views are kept.
  ViewName name = tree.at != kNone ? nameView(tree, group) : ViewName();
  if (auto known = keptTrees_.find(name); known != keptTrees_.end()) {
    tree.parent = known->second.parent;
    tree.children = known->second.children;
    return;
  }
  workOutBody(tree, group, loc);
  if (name.empty() || failed_)
    return;
  keptTreeEdges_ += 1 + tree.children.size();
  if (keptTreeEdges_ > kMaxKept) {
    keptTrees_.clear();
    keptTreeEdges_ = 1 + tree.children.size();
  }
  keptTrees_[std::move(name)] = {tree.parent, tree.children};
}

void Interpreter::workOutBody(TreeValue &tree, const Group &group, SourceLoc loc) {
  Group asRank = group;
  asRank.me = tree.view.rank;
  Frame frame = openFrame(tree.decl, &asRank, loc);
  frame.tree = &tree;
  FrameScope scope(*this, frame);
  for (size_t i = 0; i < tree.args.size(); ++i) {
    intSlot(frame.decl->params[i].slot) = tree.args[i];
    checkValue(frame.decl->params[i], loc);
  }
  runBody(tree.decl);
}

void Interpreter::takeGivenTree(TreeValue &tree, const Group &group, SourceLoc loc) {
  const GivenTree &given = *tree.given;
  if (group.size != given.parent.size())
    return fail(loc, "the tree that was given has " + std::to_string(given.parent.size()) +
                         " ranks, but it is used by " + std::to_string(group.size));
  auto rank = static_cast<size_t>(tree.view.rank);
  if (given.parent[rank] != kNoRank)
    tree.parent = index(given.parent[rank]);
  for (Rank child : given.children[rank])
    tree.children.push_back(index(child));
}

GraphValue &Interpreter::graphViewOf(int64_t graphHandle, SourceLoc loc) {
  GraphValue &graph = graphs_[graphHandle];
  if (!upToDate(graph, currentGroup()))
    workOutGraph(graph, currentGroup(), loc);
  return graph;
}

void Interpreter::workOutGraph(GraphValue &graph, const Group &group, SourceLoc loc) {
  graph.edges[0].clear();
  graph.edges[1].clear();
  if (!step(loc))
    return;
  if (graph.given) {
    takeGivenEdges(graph, loc);
  } else if (graph.decl == kNoDecl) {
    takeFileEdges(graph, loc);
  } else {
    // A contract goes back and forth between this rank's view and those of its peers.
    bool isSeenAgain = graph.at != kNone || request_.contract;
    ViewName name = isSeenAgain ? nameView(graph, group) : ViewName();
    if (auto known = keptViews_.find(name); known != keptViews_.end()) {
      graph.edges[0] = known->second[0];
      graph.edges[1] = known->second[1];
      return;
    }
    workOutEdges(graph, group);
    if (!name.empty() && !failed_)
      return keepView(std::move(name), graph);
  }
  numberEdges(graph.edges[0]);
  numberEdges(graph.edges[1]);
}

void Interpreter::workOutEdges(GraphValue &graph, const Group &group) {
  Group asRank = group;
  asRank.me = graph.view.rank;
  Frame frame = openFrame(graph.decl, &asRank, graph.madeAt);
  frame.graph = &graph;
  FrameScope scope(*this, frame);
  for (size_t i = 0; i < graph.args.size(); ++i)
    intSlot(frame.decl->params[i].slot) = graph.args[i];
  runBody(graph.decl);
}

/// All that the rank's view depends on; empty if numbers cannot express it.
template <typename Value>
Interpreter::ViewName Interpreter::nameView(const Value &value, const Group &group) {
  if (group.members)
    return {};
  const Decl &decl = program_.decl(value.decl);
  ViewName name{static_cast<int64_t>(index(value.decl)), value.view.rank, group.size};
  for (size_t i = 0; i < value.args.size(); ++i) {
    ValueType type = decl.params[i].type;
    if (type == ValueType::IntList) {
      const IntList &items = list(value.args[i]);
      name.push_back(static_cast<int64_t>(items.size()));
      name.insert(name.end(), items.begin(), items.end());
    } else if (type <= ValueType::Reduction || type == ValueType::String) {
      name.push_back(value.args[i]);
    } else {
      return {};
    }
  }
  return name;
}

/// Keeps a view for later requests: a contract looks at each rank from each neighbor.
void Interpreter::keepView(ViewName name, GraphValue &graph) {
  for (std::vector<EdgeValue> &edges : graph.edges)
    numberEdges(edges);
  keptEdges_ += graph.edges[0].size() + graph.edges[1].size();
  if (keptEdges_ > kMaxKept) {
    keptViews_.clear();
    keptEdges_ = graph.edges[0].size() + graph.edges[1].size();
  }
  keptViews_[std::move(name)] = {graph.edges[0], graph.edges[1]};
}

void Interpreter::takeFileEdges(GraphValue &graph, SourceLoc loc) {
  uint32_t size = graph.view.groupSize;
  Result<const EdgeList *> edges = graphFiles_[graph.file].edges(size);
  if (!edges)
    return fail(loc, edges.message());
  const EdgeList &file = **edges;
  if (file.numRanks() > size)
    return fail(loc, "the graph file names rank " + std::to_string(file.numRanks() - 1) +
                         ", but there are only " + std::to_string(size) + " ranks");
  auto me = static_cast<uint32_t>(graph.view.rank);
  for (const EdgeList::Edge &edge : file.out(me))
    graph.edges[0].push_back({edge.peer, 0, edge.weight, 0});
  for (const EdgeList::Edge &edge : file.in(me))
    graph.edges[1].push_back({edge.peer, 0, edge.weight, 0});
}

void Interpreter::takeGivenEdges(GraphValue &graph, SourceLoc loc) {
  const GivenGraph &given = *graph.given;
  int64_t at = graph.view.rank - given.firstRank;
  if (at < 0 || static_cast<size_t>(at) >= given.ranks.size())
    return fail(loc, "the edges of rank " + std::to_string(graph.view.rank) +
                         " are not known here; a graph that is looked at from other ranks must be "
                         "declared 'global graph'");
  const RankEdges &mine = given.ranks[static_cast<size_t>(at)];
  for (const RankEdges::Edge &edge : mine.out)
    graph.edges[0].push_back({edge.peer, edge.key, edge.weight, 0});
  for (const RankEdges::Edge &edge : mine.in)
    graph.edges[1].push_back({edge.peer, edge.key, edge.weight, 0});
}

void Interpreter::numberEdges(std::vector<EdgeValue> &edges) {
  if (edges.size() <= 16) {
    for (size_t i = 0; i < edges.size(); ++i)
      edges[i].ordinal = static_cast<uint32_t>(
          std::count_if(edges.begin(), edges.begin() + i, [&](const EdgeValue &e) {
            return e.peer == edges[i].peer && e.key == edges[i].key;
          }));
    return;
  }
  EpochTable<uint32_t> earlier;
  for (EdgeValue &edge : edges)
    edge.ordinal =
        earlier[mixHash(static_cast<uint64_t>(edge.peer), static_cast<uint64_t>(edge.key))]++;
}

int64_t Interpreter::evalTreeRoot(const Expr &e, int64_t tree, int64_t) {
  return rootOf(trees_[tree], e.loc);
}

int64_t Interpreter::rootOf(const TreeValue &tree, SourceLoc loc) {
  if (tree.given)
    return index(tree.given->root);
  const Decl &decl = program_.decl(tree.decl);
  for (size_t i = 0; i < decl.params.size(); ++i)
    if (program_.nameOf(decl.params[i]) == "root")
      return tree.args[i];
  return topOf(tree, loc);
}

/// The rank at which the parents of a rank end: its root.
int64_t Interpreter::topOf(TreeValue tree, SourceLoc loc) {
  const Group &group = currentGroup();
  int64_t at = tree.at == kNone ? group.me : tree.at;
  for (uint32_t steps = 0; steps < group.size && !failed_; ++steps) {
    tree.at = at;
    upToDate(tree, group);
    workOutTree(tree, group, loc);
    if (tree.parent == kNone)
      return at;
    at = tree.parent;
  }
  if (!failed_)
    fail(loc, "tree '" + program_.nameOf(program_.decl(tree.decl)) +
                  "' has no root: its parents form a cycle");
  return kNone;
}

int64_t Interpreter::evalTreeParent(const Expr &e, int64_t tree, int64_t) {
  return viewOf(tree, e.loc).parent;
}

int64_t Interpreter::evalTreeChildren(const Expr &e, int64_t tree, int64_t) {
  const std::vector<int64_t> &children = viewOf(tree, e.loc).children;
  int64_t handle = newList();
  if (!step(e.loc, children.size()))
    return handle;
  list(handle).assign(children.begin(), children.end());
  return handle;
}

/// True if the rank is one of the group, so that a tree or graph can be seen from its place; fails
/// otherwise.
bool Interpreter::checkPlace(int64_t rank, SourceLoc loc) {
  if (rank == kNone)
    fail(loc, "as seen by 'none', which is no rank");
  else if (rank < 0 || rank >= currentGroup().size)
    failBeyond(loc, "as seen by rank", rank);
  return !failed_;
}

int64_t Interpreter::evalTreeAt(const Expr &e, int64_t handle, int64_t rank) {
  if (!checkPlace(rank, e.loc))
    return 0;
  int64_t there = trees_.next();
  trees_[there] = trees_[handle];
  trees_[there].at = rank;
  trees_[there].view = {};
  return there;
}

int64_t Interpreter::evalGraphAt(const Expr &e, int64_t handle, int64_t rank) {
  return checkPlace(rank, e.loc) ? graphAt(handle, rank) : 0;
}

/// The view of a rank on a graph; the handle is the same each time.
int64_t Interpreter::graphAt(int64_t handle, int64_t rank) {
  auto [it, isNew] = graphAt_.try_emplace({handle, rank}, 0);
  if (isNew) {
    it->second = graphs_.next();
    graphs_[it->second] = graphs_[handle];
    graphs_[it->second].at = rank;
    graphs_[it->second].view = {};
  }
  return it->second;
}

int64_t Interpreter::evalTreeSubtree(const Expr &e, int64_t handle, int64_t rank) {
  std::vector<int64_t> members{rank};
  TreeValue tree = trees_[handle];
  for (size_t i = 0; i < members.size() && !failed_; ++i) {
    if (members[i] < 0 || members[i] >= currentGroup().size ||
        members.size() > currentGroup().size) {
      fail(e.loc, "the subtree of rank " + std::to_string(rank) + " is no tree");
      break;
    }
    tree.at = members[i];
    upToDate(tree, currentGroup());
    workOutTree(tree, currentGroup(), e.loc);
    members.insert(members.end(), tree.children.begin(), tree.children.end());
  }
  std::sort(members.begin(), members.end());
  int64_t result = newList();
  list(result).assign(members.begin(), members.end());
  return result;
}

const EdgeValue &Interpreter::edge(int64_t handle, SourceLoc loc) {
  EdgeRef ref = EdgeRef::of(handle);
  const std::vector<EdgeValue> &edges = graphViewOf(ref.graph, loc).edges[ref.in];
  if (ref.slot < edges.size())
    return edges[ref.slot];
  static constexpr EdgeValue kNowhere; // the view failed, and has no edges any more
  return kNowhere;
}

int64_t Interpreter::evalGraphDegree(const Expr &e, int64_t graph, int64_t) {
  return static_cast<int64_t>(graphViewOf(graph, e.loc).edges[e.value].size());
}

int64_t Interpreter::evalEdgePeer(const Expr &e, int64_t handle, int64_t) {
  return edge(handle, e.loc).peer;
}

int64_t Interpreter::evalEdgeWeight(const Expr &e, int64_t handle, int64_t) {
  return edge(handle, e.loc).weight;
}

int64_t Interpreter::evalEdgeKey(const Expr &e, int64_t handle, int64_t) {
  return edge(handle, e.loc).key;
}

int64_t Interpreter::evalEdgePeerSlot(const Expr &e, int64_t handle, int64_t) {
  return peerSlot(handle, e.loc);
}

/// The slot, on the peer, of the edge's other end: the k-th out-edge a -> b with key K
/// is the k-th in-edge on b from a with key K.
int64_t Interpreter::peerSlot(int64_t handle, SourceLoc loc) {
  EdgeRef ref = EdgeRef::of(handle);
  EdgeValue mine = edge(handle, loc);
  if (mine.peer == kNone || failed_)
    return kNone;
  if (mine.peer < 0 || mine.peer >= currentGroup().size) {
    failBeyond(loc, "edge " + std::to_string(ref.slot) + " leads to rank", mine.peer);
    return kNone;
  }
  int64_t me = graphs_[ref.graph].view.rank;
  const std::vector<EdgeValue> &theirs =
      graphViewOf(graphAt(ref.graph, mine.peer), loc).edges[!ref.in];
  for (size_t i = 0; i < theirs.size(); ++i)
    if (theirs[i].peer == me && theirs[i].key == mine.key && theirs[i].ordinal == mine.ordinal)
      return static_cast<int64_t>(i);
  fail(loc, "the edge " + std::string(ref.in ? "from" : "to") + " rank " +
                std::to_string(mine.peer) + " (slot " + std::to_string(ref.slot) + ", key " +
                std::to_string(mine.key) + ") has no counterpart on rank " +
                std::to_string(mine.peer));
  return kNone;
}

Status Interpreter::viewTree(const TreeRecord &record, int64_t rank, int64_t &parent,
                             std::vector<int64_t> &children) {
  TreeValue tree = record.tree;
  tree.at = rank;
  upToDate(tree, record.group);
  failed_ = false;
  steps_ = 0;
  stackBase_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  // The body may make further trees. The trees that some rank needs were recorded when it ran.
  bool recorded = std::exchange(recordsTrees, false);
  workOutTree(tree, record.group, record.loc);
  recordsTrees = recorded;
  parent = tree.parent;
  children = std::move(tree.children);
  return failed_ ? error_ : Status();
}

} // namespace colldsl
