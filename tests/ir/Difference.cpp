#include "tests/ir/Schedules.h"

#include "ir/Concat.h"

#include <algorithm>
#include <tuple>

namespace colldsl {
namespace {

bool sameLoc(const Schedule &a, SourceLoc x, const Schedule &b, SourceLoc y) {
  return x == y && (!x.known() || a.files.at(x.file) == b.files.at(y.file));
}

bool sameAlias(const Dag &a, const Buffer &x, const Dag &b, const Buffer &y) {
  return x.aliasOf == y.aliasOf &&
         (x.aliasOf == kNoBuffer || a.slices.at(x.aliasSlice) == b.slices.at(y.aliasSlice));
}

bool sameBuffer(const Buffer &x, const Buffer &y) {
  auto key = [](const Buffer &b) {
    return std::tuple(b.originScale, b.originOffset, b.endScale, b.endOffset, b.denominator,
                      b.layout == Layout::Dense ? 0 : b.blocks, b.role, b.type, b.layout,
                      b.significant);
  };
  return key(x) == key(y);
}

bool sameOp(const Op &x, const Op &y) {
  if (x.kind != y.kind || x.cpu != y.cpu || x.nic != y.nic || x.transfer != y.transfer)
    return false;
  if (isMessage(x.kind) && (x.peer != y.peer || x.message != y.message))
    return false;
  if (x.kind == OpKind::Combine &&
      (x.side != y.side || x.reduction != y.reduction || x.type != y.type))
    return false;
  bool isSized = x.kind != OpKind::Signal && x.kind != OpKind::Wait;
  return !isSized || x.sourceCount + x.targetCount != 0 || x.amount == y.amount;
}

std::vector<Dep> sortedDeps(const Dag &dag, const Op &op) {
  std::vector<Dep> deps(dag.depsOf(op).begin(), dag.depsOf(op).end());
  std::sort(deps.begin(), deps.end(), [](const Dep &x, const Dep &y) {
    return std::tie(x.op, x.kind) < std::tie(y.op, y.kind);
  });
  return deps;
}

std::string opDifference(const Schedule &a, const Dag &da, const Op &x, const Schedule &b,
                         const Dag &db, const Op &y) {
  if (!sameOp(x, y))
    return "fields";
  if (!std::ranges::equal(da.sources(x), db.sources(y)))
    return "sources";
  if (!std::ranges::equal(da.targets(x), db.targets(y)))
    return "targets";
  if (sortedDeps(da, x) != sortedDeps(db, y))
    return "deps";
  return sameLoc(a, x.loc, b, y.loc) ? "" : "loc";
}

bool sameEnsure(const Schedule &a, const Contract &ca, const Ensure &x, const Schedule &b,
                const Contract &cb, const Ensure &y) {
  return x.target == y.target && x.isReduction == y.isReduction &&
         (!x.isReduction || x.reduction == y.reduction) &&
         std::ranges::equal(ca.operandsOf(x), cb.operandsOf(y)) && sameLoc(a, x.loc, b, y.loc);
}

std::string dagDifference(const Schedule &a, const Dag &x, const Schedule &b, const Dag &y) {
  if (x.buffers.size() != y.buffers.size())
    return "number of buffers";
  for (size_t i = 0; i < x.buffers.size(); ++i)
    if (!sameBuffer(x.buffers[i], y.buffers[i]) || !sameAlias(x, x.buffers[i], y, y.buffers[i]) ||
        a.nameOf(x.buffers[i]) != b.nameOf(y.buffers[i]))
      return concat("buffer ", i);
  if (x.size() != y.size())
    return "number of ops";
  for (size_t i = 0; i < x.ops.size(); ++i)
    if (std::string what = opDifference(a, x, x.ops[i], b, y, y.ops[i]); !what.empty())
      return concat("op ", i, ": ", what);
  if (x.contract.ensures.size() != y.contract.ensures.size())
    return "number of promises";
  for (size_t i = 0; i < x.contract.ensures.size(); ++i)
    if (!sameEnsure(a, x.contract, x.contract.ensures[i], b, y.contract, y.contract.ensures[i]))
      return concat("promise ", i);
  return "";
}

} // namespace

std::string difference(const Schedule &a, const Schedule &b) {
  if (a.name != b.name || a.files != b.files || !(a.sizeClass == b.sizeClass) ||
      a.hasContract != b.hasContract || a.synchronizes != b.synchronizes ||
      a.deterministic != b.deterministic)
    return "name, files, size class or flags";
  if (a.numRanks() != b.numRanks())
    return concat(a.numRanks(), " ranks and ", b.numRanks(), " ranks");
  for (size_t r = 0; r < a.ranks.size(); ++r)
    if (std::string what = dagDifference(a, a.ranks[r], b, b.ranks[r]); !what.empty())
      return concat("rank ", r, ": ", what);
  return "";
}

} // namespace colldsl
