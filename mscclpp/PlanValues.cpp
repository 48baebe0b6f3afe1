#include "mscclpp/PlanValues.h"

#include "ir/Concat.h"

#include <algorithm>
#include <iterator>

namespace colldsl::mscclpp {

Value Values::intern(std::vector<Term> terms) {
  auto [found, isNew] = known_.try_emplace(terms, static_cast<Value>(terms_.size()));
  if (isNew)
    terms_.push_back(std::move(terms));
  return found->second;
}

Value Values::input(uint32_t launch, uint32_t gpu, uint32_t cell) {
  return intern({{launch, gpu, cell}});
}

Value Values::sum(Value a, Value b) {
  if (a == kUndefined || b == kUndefined)
    return kUndefined;
  std::vector<Term> both;
  std::merge(terms_[a].begin(), terms_[a].end(), terms_[b].begin(), terms_[b].end(),
             std::back_inserter(both));
  return intern(std::move(both));
}

std::string Values::describe(Value value, uint32_t perChunk) const {
  constexpr size_t kShown = 6;
  const std::vector<Term> &terms = terms_[value];
  if (terms.empty())
    return "nothing that was sent";
  std::string text;
  for (size_t i = 0; i < std::min(terms.size(), kShown); ++i) {
    text += concat(i ? " + " : "", "input[", terms[i].cell / perChunk, "]@", terms[i].gpu);
    if (i + 1 == terms.size() || terms[i + 1].launch != terms[i].launch)
      text += concat(" of launch ", terms[i].launch);
  }
  return terms.size() > kShown ? text + concat(" + ", terms.size() - kShown, " more") : text;
}

} // namespace colldsl::mscclpp
