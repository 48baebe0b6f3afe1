/// A state as a list of numbers: two states are equal if and only if their lists are.
#pragma once

#include "transports/Tag.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace colldsl::test {

class StateWords {
public:
  template <typename Value>
  requires(std::is_integral_v<Value> || std::is_enum_v<Value>) void add(Value value) {
    words_.push_back(static_cast<uint64_t>(value));
  }
  void add(std::chrono::steady_clock::time_point at) { add(at.time_since_epoch().count()); }
  void add(const Tag &tag) {
    add(tag.context);
    add(tag.stream);
    add(tag.run);
    add(tag.message);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    size_t at = words_.size();
    words_.resize(at + (bytes.size() + 7) / 8);
    if (!bytes.empty())
      std::memcpy(words_.data() + at, bytes.data(), bytes.size());
  }
  void add(const StateWords &part) {
    add(part.words_.size());
    words_.insert(words_.end(), part.words_.begin(), part.words_.end());
  }
  /// Parts whose order does not matter.
  void addUnordered(std::vector<StateWords> parts) {
    std::sort(parts.begin(), parts.end(),
              [](const StateWords &a, const StateWords &b) { return a.words_ < b.words_; });
    add(parts.size());
    for (const StateWords &part : parts)
      add(part);
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

private:
  std::vector<uint64_t> words_;
};

} // namespace colldsl::test
