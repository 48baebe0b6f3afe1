#include "tests/stdlib/CirculantSchedules.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace colldsl::circulant {
namespace {

/// One run of the search, which takes blocks off a list.
class Search {
public:
  Search(const Schedules &graph, bool isBounded, uint32_t place, int32_t base)
      : graph_(graph), isBounded_(isBounded), rounds_(graph.rounds()),
        end_(int64_t{graph.places()} + place) {
    int32_t after = -1;
    for (int32_t e = 0; e <= static_cast<int32_t>(rounds_); ++e) {
      if (e == base)
        continue;
      next_[e] = after;
      if (after >= 0)
        previous_[after] = e;
      after = e;
    }
    first_ = after;
    previous_[first_] = -1;
  }

  /// The blocks by round, as numbers of skips.
  std::array<int32_t, kMaxRounds> run() {
    walk(0, 2 * int64_t{graph_.places()}, first_);
    return taken_;
  }

private:
  void walk(int64_t at, int64_t bound, int32_t e) {
    for (; e >= 0 && count_ < rounds_; e = next_[e]) {
      int64_t further = at + graph_.skip(e);
      if (further > end_ - graph_.skip(count_) || (isBounded_ && further >= bound))
        continue;
      if (further <= end_ - graph_.skip(count_ + 1)) {
        walk(further, bound, e);
        if (count_ >= rounds_)
          return;
      }
      if (at > end_ - graph_.skip(count_ + 1))
        return;
      bound = further;
      taken_[count_++] = e;
      unlink(e);
    }
  }

  void unlink(int32_t e) {
    if (previous_[e] >= 0)
      next_[previous_[e]] = next_[e];
    if (next_[e] >= 0)
      previous_[next_[e]] = previous_[e];
  }

  const Schedules &graph_;
  bool isBounded_;
  uint32_t rounds_;
  int64_t end_;
  int32_t first_;
  std::array<int32_t, kMaxRounds + 1> next_, previous_;
  std::array<int32_t, kMaxRounds> taken_{};
  uint32_t count_ = 0;
};

} // namespace

Schedules::Schedules(uint32_t places, bool isBounded)
    : places_(places), rounds_(std::bit_width(places - 1)), isBounded_(isBounded) {
  skips_[rounds_] = places;
  for (uint32_t k = rounds_; k-- > 0;)
    skips_[k] = (skips_[k + 1] + 1) / 2;
}

Schedule Schedules::receives(uint32_t place) const {
  Schedule schedule;
  schedule.base = rounds_;
  int64_t rest = place;
  for (uint32_t k = rounds_; k-- > 0;)
    if (rest >= skips_[k]) {
      rest -= skips_[k];
      schedule.base = k;
    }
  schedule.blocks = Search(*this, isBounded_, place, schedule.base).run();
  for (uint32_t k = 0; k < rounds_; ++k)
    schedule.blocks[k] = schedule.blocks[k] == static_cast<int32_t>(rounds_)
                             ? schedule.base
                             : schedule.blocks[k] - static_cast<int32_t>(rounds_);
  return schedule;
}

std::optional<std::string> Schedules::mistake(uint32_t place) const {
  return mistake(place, receives(place), nullptr);
}

std::optional<std::string> Schedules::firstMistake() const {
  std::vector<Schedule> known;
  for (uint32_t place = 0; place < places_; ++place)
    known.push_back(receives(place));
  for (uint32_t place = 0; place < places_; ++place)
    if (auto found = mistake(place, known[place], known.data()))
      return found;
  return std::nullopt;
}

/// `known`: the schedules of all places, or null.
std::optional<std::string> Schedules::mistake(uint32_t place, const Schedule &own,
                                              const Schedule *known) const {
  auto words = [&](const std::string &what, uint32_t k) {
    return "place " + std::to_string(place) + " of " + std::to_string(places_) + " " + what +
           " in round " + std::to_string(k);
  };
  const auto rounds = static_cast<int32_t>(rounds_);
  uint64_t received = 0; // a bit per block, the base block and that of the phase before alike
  for (uint32_t k = 0; k < rounds_; ++k) {
    int32_t block = own.blocks[k];
    bool isBase = block == own.base && place > 0;
    if (!isBase && (block >= 0 || block < -rounds || block + rounds == own.base))
      return words("receives a block that is none", k);
    uint64_t bit = uint64_t{1} << (isBase ? own.base : block + rounds);
    if (received & bit)
      return words("receives a block again", k);
    received |= bit;
  }
  for (uint32_t k = 0; k < rounds_; ++k) {
    auto to = static_cast<uint32_t>((place + skips_[k]) % places_);
    if (to == 0)
      continue; // nothing is sent to the root
    int32_t sent = (known ? known[to] : receives(to)).blocks[k];
    if (place == 0) {
      if (sent != static_cast<int32_t>(k))
        return words("sends another block than the next one", k);
      continue;
    }
    bool isHeld = sent == own.base - rounds || std::find(own.blocks.begin(), own.blocks.begin() + k,
                                                         sent) != own.blocks.begin() + k;
    if (!isHeld)
      return words("sends a block that it does not have", k);
  }
  return std::nullopt;
}

} // namespace colldsl::circulant
