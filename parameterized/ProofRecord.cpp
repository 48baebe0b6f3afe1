#include "parameterized/ProofRecord.h"

namespace colldsl::parameterized {

uint32_t ProofRecord::add(Query query) {
  queries_.push_back(std::move(query));
  return static_cast<uint32_t>(queries_.size() - 1);
}

void ProofRecord::use(uint32_t query, Mistake mistake) {
  used_.push_back({query, std::move(mistake)});
}

std::vector<ProofRecord::Step> ProofRecord::steps() const {
  std::vector<bool> isKnown(queries_.size());
  std::vector<Step> first;
  for (const Step &step : used_) {
    if (!isKnown[step.query])
      first.push_back(step);
    isKnown[step.query] = true;
  }
  return first;
}

} // namespace colldsl::parameterized
