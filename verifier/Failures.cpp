#include "verifier/Failures.h"

#include "verifier/Alike.h"

#include <algorithm>

namespace colldsl::proof {

void Failures::add(Failure failure) {
  if (full())
    return;
  ++seen_;
  failure.pattern = patternOf(failure, !model_.schedule().isPlainGoal);
  if (grouping_ == Grouping::None)
    failure.pattern += std::to_string(seen_);
  size_t next = std::min(all_.size(), most_);
  auto [known, isNew] = patterns_.try_emplace(failure.pattern, next);
  size_t at = known->second;
  if (at == most_)
    return;
  uint32_t rank = index(failure.rank());
  if (isNew) {
    all_.push_back(std::move(failure));
    ranks_.push_back({rank});
    return;
  }
  ranks_[at].push_back(rank);
  if (rank < index(all_[at].rank()))
    all_[at] = std::move(failure);
}

std::vector<Failure> Failures::take() {
  for (size_t i = 0; i < all_.size(); ++i) {
    std::vector<uint32_t> &ranks = ranks_[i];
    ranks.erase(std::find(ranks.begin(), ranks.end(), index(all_[i].rank())));
    Failure::Alike &alike = all_[i].alike;
    alike.count = ranks.size();
    alike.isAll = !full();
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    alike.ranks = std::move(ranks);
  }
  return std::move(all_);
}

} // namespace colldsl::proof
