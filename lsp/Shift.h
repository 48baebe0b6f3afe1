/// Translation of places between a text and a later version of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace colldsl::lsp {

/// Both texts share a prefix and a suffix; the part between them was changed.
/// Example: "let a = 1;" and "let abc = 1;" differ between offsets 5 and 5, or 5 and 7.
class Shift {
public:
  Shift(std::string_view before, std::string_view after);

  /// The place in the later text; nothing if it was changed.
  std::optional<size_t> forward(size_t offset) const { return move(offset, before_, after_); }
  /// The place in the earlier text.
  std::optional<size_t> back(size_t offset) const { return move(offset, after_, before_); }

private:
  std::optional<size_t> move(size_t offset, size_t from, size_t to) const;

  size_t prefix_ = 0, suffix_ = 0;
  size_t before_, after_; ///< sizes
};

} // namespace colldsl::lsp
