#include "lsp/Shift.h"

#include <algorithm>

namespace colldsl::lsp {

Shift::Shift(std::string_view before, std::string_view after)
    : before_(before.size()), after_(after.size()) {
  size_t most = std::min(before_, after_);
  auto [end, other] = std::mismatch(before.begin(), before.begin() + most, after.begin());
  prefix_ = static_cast<size_t>(end - before.begin());
  while (suffix_ < most - prefix_ && before[before_ - suffix_ - 1] == after[after_ - suffix_ - 1])
    ++suffix_;
}

std::optional<size_t> Shift::move(size_t offset, size_t from, size_t to) const {
  if (offset <= prefix_)
    return offset;
  if (offset >= from - suffix_)
    return to - (from - offset);
  return std::nullopt;
}

} // namespace colldsl::lsp
