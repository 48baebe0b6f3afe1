#include "tests/random/ContractFault.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

bool hasNestedSynchronizes(const Ensure &e) {
  for (const Ensure &inner : e.inner)
    if (inner.kind == Ensure::Kind::Synchronizes || hasNestedSynchronizes(inner))
      return true;
  return false;
}

bool speaksOf(const SliceExpr &slice, Name buffer) {
  return slice.name == buffer || (!slice.base.empty() && speaksOf(slice.base[0], buffer));
}

bool speaksOf(const Ensure &e, Name buffer) {
  return speaksOf(e.target, buffer) || (!e.inner.empty() && speaksOf(e.inner[0], buffer));
}

} // namespace

std::string contractFault(const Collective &c) {
  for (const Ensure &ensure : c.ensures)
    if (hasNestedSynchronizes(ensure))
      return "synchronizes stands alone";
  for (const Param &param : c.params)
    if (param.kind == Param::Kind::Buffer && param.role == BufferRole::Out &&
        std::none_of(c.ensures.begin(), c.ensures.end(),
                     [&](const Ensure &e) { return speaksOf(e, param.name); }))
      return "nothing is promised of a buffer";
  return "";
}

} // namespace colldsl::generated
