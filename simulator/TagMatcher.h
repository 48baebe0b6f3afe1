/// Matching by rank and tag, as GOAL does it, for wildcards and shared tags: a receive meets the
/// first message that has arrived and fits, a message the first receive that was started and fits.
/// Either side may leave open the tag, and a receive the rank.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace colldsl::sim {

inline constexpr uint32_t kAnyOne = 0xffffffffu;

/// A receive or a message that waits for the other.
struct TagEnd {
  uint32_t rank; ///< the sender, or kAnyOne
  uint32_t tag;  ///< or kAnyOne
  uint32_t vertex;
};

/// One side's ends, in the order in which they came. Each is found in constant time, wildcards or
/// not: it stands in a queue for its rank and tag, and, after the first wildcard, also in one for
/// its rank, one for its tag and one for all. Ends that were taken stay in the queues until they
/// come to the front.
class TagQueue {
public:
  void add(const TagEnd &end);
  /// Takes the first end that fits.
  std::optional<TagEnd> take(uint32_t rank, uint32_t tag);
  /// The ends that are left.
  std::vector<TagEnd> inOrder() const;
  bool empty() const { return waiting_.empty(); }

private:
  using Queue = std::deque<uint64_t>;
  enum class Index : uint64_t { RankAndTag, Rank, Tag, All };
  struct Key {
    Index index;
    uint32_t rank, tag;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      uint64_t x = (uint64_t{key.rank} << 32 | key.tag) ^ static_cast<uint64_t>(key.index) << 62;
      x *= 0x9e3779b97f4a7c15u;
      return x ^ x >> 29;
    }
  };
  std::vector<uint64_t> numbers() const; ///< of those that wait, ascending
  void enter(uint64_t number, const TagEnd &end);
  void enterAll(uint64_t number, const TagEnd &end);
  void consider(const Key &key, uint64_t &first);

  std::unordered_map<uint64_t, TagEnd> waiting_; ///< by number, which counts up
  std::unordered_map<Key, Queue, Hash> queues_;
  uint64_t next_ = 0;
  bool isFull_ = false; ///< all four indices are kept
};

} // namespace colldsl::sim
