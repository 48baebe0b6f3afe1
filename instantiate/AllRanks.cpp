#include "instantiate/AllRanks.h"
#include "ir/Concat.h"
#include "ir/Index32.h"

#include <algorithm>

namespace colldsl {
namespace {

std::string rankText(int64_t rank) { return rank == kNone ? "none" : concat("rank ", rank); }

} // namespace

void CallChecker::add(uint32_t rank, const std::vector<CallRecord> &calls) {
  for (const CallRecord &call : calls) {
    Entry &entry = entries_[mixHash(call.instance, call.group)];
    if (entry.made++ == 0)
      entry = {call, rank, 1};
  }
}

Status CallChecker::check() const {
  const Entry *first = nullptr;
  for (const auto &[key, entry] : entries_)
    if (entry.made != entry.call.size && (!first || before(entry, *first)))
      first = &entry;
  if (!first)
    return {};
  return Status::error(first->call.loc,
                       concat("of the ", first->call.size, " ranks of the group only ", first->made,
                              " make this call (rank ", first->rank,
                              " does); all members must make the same calls in the same order"));
}

Status TreeChecker::check(const TreeRecord &record) {
  uint64_t key = mixHash(index(record.tree.decl), interpreter_.hashOf(record.group));
  key = mixHash(key, reinterpret_cast<uintptr_t>(record.tree.given));
  for (int64_t arg : record.tree.args)
    key = mixHash(key, static_cast<uint64_t>(arg));
  if (!seen_.try_emplace(key, true).second)
    return {};
  if (Status s = view(record); !s)
    return s;
  return checkViews(record);
}

Status TreeChecker::view(const TreeRecord &record) {
  uint32_t size = record.group.size;
  parent_.assign(size, kNone);
  children_.assign(size, {});
  for (uint32_t r = 0; r < size; ++r)
    if (Status s = interpreter_.viewTree(record, r, parent_[r], children_[r]); !s)
      return s;
  return {};
}

/// Checks that the root that the tree states is its root.
template <typename Bad>
Status TreeChecker::checkRoot(const TreeValue &tree, int64_t root, Bad bad) const {
  auto wrong = [&](int64_t said) {
    return bad(concat("its root is rank ", root, ", not ", rankText(said)));
  };
  if (tree.given)
    return index(tree.given->root) == root ? Status() : wrong(index(tree.given->root));
  const Decl &decl = program_.decl(tree.decl);
  for (size_t i = 0; i < decl.params.size(); ++i)
    if (program_.nameOf(decl.params[i]) == "root" && tree.args[i] != root)
      return wrong(tree.args[i]);
  return {};
}

Status TreeChecker::checkViews(const TreeRecord &record) const {
  auto bad = [&](const std::string &what) {
    std::string over = concat(" over ", record.group.size, " ranks: ", what);
    if (record.tree.given)
      return Status(Diagnostic::error(record.loc, "the tree that was given" + over));
    const Decl &decl = program_.decl(record.tree.decl);
    Diagnostic d = Diagnostic::error(decl.loc, "tree '" + program_.nameOf(decl) + "'" + over);
    d.notes.push_back(Diagnostic::note(record.loc, "made here"));
    return Status(std::move(d));
  };
  auto size = index32(parent_.size());
  std::vector<int64_t> claimedBy(size, kNone);
  for (uint32_t r = 0; r < size; ++r)
    for (int64_t child : children_[r]) {
      if (claimedBy[child] != kNone)
        return bad(concat("ranks ", claimedBy[child], " and ", r, " both call rank ", child,
                          " their child"));
      claimedBy[child] = r;
      if (parent_[child] != r)
        return bad(concat("rank ", r, " calls rank ", child, " its child, whose parent is ",
                          rankText(parent_[child])));
    }
  for (uint32_t r = 0; r < size; ++r)
    if (parent_[r] != kNone && claimedBy[r] == kNone)
      return bad(concat("rank ", r, " calls rank ", parent_[r],
                        " its parent, which does not call it a child"));
  auto roots = std::count(parent_.begin(), parent_.end(), kNone);
  if (roots > 1) {
    auto first = std::find(parent_.begin(), parent_.end(), kNone);
    auto second = std::find(first + 1, parent_.end(), kNone);
    return bad(concat("it has ", roots, " roots, among them ranks ", first - parent_.begin(),
                      " and ", second - parent_.begin()));
  }
  std::vector<int64_t> reached;
  for (uint32_t r = 0; r < size; ++r)
    if (parent_[r] == kNone)
      reached.push_back(r);
  for (size_t i = 0; i < reached.size(); ++i)
    reached.insert(reached.end(), children_[reached[i]].begin(), children_[reached[i]].end());
  if (reached.size() != size)
    return bad(
        concat("only ", reached.size(), " ranks hang below a root; the others form a cycle"));
  return checkRoot(record.tree, reached.front(), bad);
}

void BufferNames::setIn(std::span<Buffer> buffers) {
  for (Buffer &buffer : buffers) {
    bool isHidden = buffer.name == kHiddenName;
    uint32_t &at = isHidden ? hidden_ : place_[buffer.name];
    if (at == kNoName) {
      at = index32(names_.size());
      names_.push_back(isHidden ? "incoming" : all_[buffer.name]);
    }
    buffer.name = at;
  }
}

} // namespace colldsl
