#include "program/Instantiate.h"

#include "program/Interpreter.h"

#include <algorithm>
#include <unordered_map>

namespace colldsl {

struct Instantiator::Impl {
  InstantiateRequest request;
  Interpreter interpreter;
  const std::vector<std::string> &names;

  Impl(const Program &program, InstantiateRequest r)
      : request(std::move(r)), interpreter(program, request), names(program.strings) {}
};

Instantiator::Instantiator(const Program &program, InstantiateRequest request)
    : impl_(std::make_unique<Impl>(program, std::move(request))) {}
Instantiator::~Instantiator() = default;
Instantiator::Instantiator(Instantiator &&) noexcept = default;

Status Instantiator::instantiate(Rank rank, Dag &dag) { return impl_->interpreter.run(rank, dag); }

SizeClass Instantiator::sizeClass() const { return impl_->interpreter.range().sizeClass(); }

const std::vector<std::string> &Instantiator::names() const { return impl_->names; }

namespace {

/// All members of a group make the same calls.
class CallChecker {
public:
  void add(uint32_t rank, const std::vector<CallRecord> &calls) {
    for (const CallRecord &call : calls) {
      Entry &entry = entries_[mixHash(call.instance, call.group)];
      if (entry.made++ == 0)
        entry = {call, rank, 1};
    }
  }

  Status check() const {
    const Entry *first = nullptr;
    for (const auto &[key, entry] : entries_)
      if (entry.made != entry.call.size && (!first || before(entry, *first)))
        first = &entry;
    if (!first)
      return {};
    return Status::error(first->call.loc,
                         "of the " + std::to_string(first->call.size) +
                             " ranks of the group only " + std::to_string(first->made) +
                             " make this call (rank " + std::to_string(first->rank) +
                             " does); all members must make the same calls in the same order");
  }

private:
  struct Entry {
    CallRecord call;
    uint32_t rank;
    uint32_t made = 0;
  };
  static bool before(const Entry &a, const Entry &b) {
    return std::tuple(a.call.loc.line, a.rank) < std::tuple(b.call.loc.line, b.rank);
  }
  std::unordered_map<uint64_t, Entry> entries_;
};

/// A tree alone: one root, spanning, acyclic, and parent and child agree.
class TreeChecker {
public:
  TreeChecker(Interpreter &interpreter, const Program &program)
      : interpreter_(interpreter), program_(program) {}

  Status check(const TreeRecord &record) {
    uint64_t key = mixHash(index(record.tree.decl), record.group.size);
    for (uint32_t i = 0; i < record.group.size; ++i)
      key = mixHash(key, index(record.group.world(i)));
    for (int64_t arg : record.tree.args)
      key = mixHash(key, static_cast<uint64_t>(arg));
    if (!seen_.try_emplace(key, true).second)
      return {};
    if (Status s = view(record); !s)
      return s;
    return checkViews(record);
  }

private:
  Status view(const TreeRecord &record) {
    uint32_t size = record.group.size;
    parent_.assign(size, kNone);
    children_.assign(size, {});
    for (uint32_t r = 0; r < size; ++r)
      if (Status s = interpreter_.viewTree(record, r, parent_[r], children_[r]); !s)
        return s;
    return {};
  }

  Status checkViews(const TreeRecord &record) const {
    const Decl &decl = program_.decl(record.tree.decl);
    auto bad = [&](const std::string &what) {
      Diagnostic d =
          Diagnostic::error(decl.loc, "tree '" + program_.nameOf(decl) + "' over " +
                                          std::to_string(record.group.size) + " ranks: " + what);
      d.notes.push_back(Diagnostic::note(record.loc, "made here"));
      return Status(std::move(d));
    };
    auto size = static_cast<uint32_t>(parent_.size());
    std::vector<int64_t> claimedBy(size, kNone);
    for (uint32_t r = 0; r < size; ++r)
      for (int64_t child : children_[r]) {
        if (claimedBy[child] != kNone)
          return bad("ranks " + std::to_string(claimedBy[child]) + " and " + std::to_string(r) +
                     " both call rank " + std::to_string(child) + " their child");
        claimedBy[child] = r;
        if (parent_[child] != r)
          return bad("rank " + std::to_string(r) + " calls rank " + std::to_string(child) +
                     " its child, whose parent is " + rankText(parent_[child]));
      }
    for (uint32_t r = 0; r < size; ++r)
      if (parent_[r] != kNone && claimedBy[r] == kNone)
        return bad("rank " + std::to_string(r) + " calls rank " + std::to_string(parent_[r]) +
                   " its parent, which does not call it a child");
    auto roots = std::count(parent_.begin(), parent_.end(), kNone);
    if (roots > 1) {
      auto first = std::find(parent_.begin(), parent_.end(), kNone);
      auto second = std::find(first + 1, parent_.end(), kNone);
      return bad("it has " + std::to_string(roots) + " roots, among them ranks " +
                 std::to_string(first - parent_.begin()) + " and " +
                 std::to_string(second - parent_.begin()));
    }
    std::vector<int64_t> reached;
    for (uint32_t r = 0; r < size; ++r)
      if (parent_[r] == kNone)
        reached.push_back(r);
    for (size_t i = 0; i < reached.size(); ++i)
      reached.insert(reached.end(), children_[reached[i]].begin(), children_[reached[i]].end());
    if (reached.size() != size)
      return bad("only " + std::to_string(reached.size()) +
                 " ranks hang below a root; the others form a cycle");
    return checkRoot(record, decl, reached.front(), bad);
  }

  /// Its parameter `root`, if it has one, is its root.
  template <typename Bad>
  Status checkRoot(const TreeRecord &record, const Decl &decl, int64_t root, Bad bad) const {
    for (size_t i = 0; i < decl.params.size(); ++i)
      if (program_.nameOf(decl.params[i]) == "root" && record.tree.args[i] != root)
        return bad("its root is rank " + std::to_string(root) + ", not " +
                   rankText(record.tree.args[i]));
    return {};
  }

  static std::string rankText(int64_t rank) {
    return rank == kNone ? "none" : "rank " + std::to_string(rank);
  }

  Interpreter &interpreter_;
  const Program &program_;
  std::unordered_map<uint64_t, bool> seen_;
  std::vector<int64_t> parent_;
  std::vector<std::vector<int64_t>> children_;
};

/// Keeps the names that buffers use, in the order of their first use.
void compactNames(Schedule &schedule, const std::vector<std::string> &all) {
  std::vector<uint32_t> place(all.size(), UINT32_MAX);
  auto hidden = UINT32_MAX;
  for (Dag &dag : schedule.ranks)
    for (Buffer &buffer : dag.buffers) {
      bool isHidden = buffer.name == kHiddenName;
      uint32_t &at = isHidden ? hidden : place[buffer.name];
      if (at == UINT32_MAX) {
        at = static_cast<uint32_t>(schedule.names.size());
        schedule.names.push_back(isHidden ? "incoming" : all[buffer.name]);
      }
      buffer.name = at;
    }
}

bool promisesToSynchronize(const Program &program, const Decl &decl) {
  return std::any_of(decl.ensures.begin(), decl.ensures.end(), [&](uint32_t root) {
    return program.ensures[root].kind == EnsureKind::Synchronizes;
  });
}

} // namespace

Result<Schedule> instantiateAll(const Program &program, const InstantiateRequest &request) {
  if (request.ranks == 0 || request.ranks > request.limits.maxRanks)
    return Status::error(std::to_string(request.ranks) + " ranks; between 1 and " +
                         std::to_string(request.limits.maxRanks) + " are instantiated together");
  InstantiateRequest full = request;
  full.contract = true;
  Instantiator instantiator(program, full);
  Interpreter &interpreter = instantiator.impl_->interpreter;
  interpreter.recordsCalls = interpreter.recordsTrees = true;
  const Decl &decl = program.decl(request.collective);
  Schedule schedule;
  schedule.name = program.nameOf(decl);
  schedule.files = program.files;
  schedule.hasContract = true;
  schedule.deterministic = decl.deterministic;
  schedule.synchronizes = promisesToSynchronize(program, decl);
  schedule.ranks.resize(request.ranks);
  CallChecker calls;
  TreeChecker trees(interpreter, program);
  uint64_t totalOps = 0;
  for (uint32_t r = 0; r < request.ranks; ++r) {
    if (Status s = interpreter.run(Rank{r}, schedule.ranks[r]); !s)
      return s;
    calls.add(r, interpreter.calls);
    for (const TreeRecord &record : interpreter.trees)
      if (Status s = trees.check(record); !s)
        return s;
    totalOps += schedule.ranks[r].size();
    if (totalOps > request.limits.maxTotalOps)
      return Status::error(decl.loc, "more than " + std::to_string(request.limits.maxTotalOps) +
                                         " ops on all ranks; raise the limit with --max-total-ops");
  }
  if (Status s = calls.check(); !s)
    return s;
  schedule.sizeClass = instantiator.sizeClass();
  compactNames(schedule, program.strings);
  renumberMessages(schedule);
  return schedule;
}

} // namespace colldsl
