/// The schedules of J. L. Traeff for broadcasts along circulant graphs, by the recurrence of arXiv
/// 2312.11236 and 2407.18004, and the conditions under which they are right.
///
/// It shares nothing with stdlib/circulant.coll: a linked list of blocks, unlinked as they are
/// taken, stands for the lists of the language.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace colldsl::circulant {

constexpr uint32_t kMaxRounds = 32;

/// The receive schedule of one place: the numbers of the blocks by round, of which the base block
/// is not negative.
struct Schedule {
  std::array<int32_t, kMaxRounds> blocks;
  int32_t base = 0;
};

/// The schedules of one number of places, 2 to 2^30.
class Schedules {
public:
  /// Without the bound on ways the search accepts blocks that senders do not have.
  explicit Schedules(uint32_t places, bool isBounded = true);

  uint32_t places() const { return places_; }
  uint32_t rounds() const { return rounds_; }
  int64_t skip(uint32_t k) const { return skips_[k]; }

  Schedule receives(uint32_t place) const;

  /// The first condition that the place breaks, in words: it receives each of the blocks of a phase
  /// once, and sends only blocks that it has. Nothing: it keeps all.
  std::optional<std::string> mistake(uint32_t place) const;
  /// mistake() of the first place that has one.
  std::optional<std::string> firstMistake() const;

private:
  std::optional<std::string> mistake(uint32_t place, const Schedule &own,
                                     const Schedule *known) const;

  uint32_t places_, rounds_ = 0;
  bool isBounded_;
  std::array<int64_t, kMaxRounds + 1> skips_;
};

} // namespace colldsl::circulant
