/// Small random schedules, about as often right as wrong.
#pragma once

#include "tests/verifier/ScheduleBuilder.h"

#include <functional>
#include <optional>
#include <random>

namespace colldsl::test {

class Machine;

/// Buffers of every role on 1 to 3 ranks, some local ops and messages in random places, deps
/// as data demands with some of them tampered with, and a contract taken from what a run
/// leaves, tampered with now and then.
class RandomSchedule {
public:
  explicit RandomSchedule(uint32_t seed);
  ScheduleBuilder make();

private:
  static constexpr int64_t kElements = 4;

  struct Postcondition {
    std::string op;
    std::vector<EntryValue> operands;
  };

  uint32_t below(uint32_t bound) { return random_() % bound; }
  bool chance(uint32_t percent) { return below(100) < percent; }
  Slice slice(BufferId buffer, int64_t length);
  BufferId readable();
  BufferId writable();
  Reduction reduction();
  void addLocal();
  void addMessage();
  void addSignal();
  /// Now, or at some later step.
  void place(std::function<void()> op);
  void placeSomePending(uint32_t percent);
  void tamperWithDeps();
  void promiseWhatHappens();
  void promiseBuffer(const Machine &machine, uint32_t rank, BufferId buffer);
  std::optional<Postcondition> promiseOf(const Machine &machine, uint32_t rank, BufferId buffer,
                                         int64_t element) const;
  void add(uint32_t rank, BufferId buffer, int64_t begin, int64_t end, Postcondition promise);
  void tamperWithContract();

  std::mt19937 random_;
  ScheduleBuilder b_;
  BufferId x_, w_, y_, t_;
  Reduction usual_;
  uint32_t tag_ = 0;
  std::vector<std::function<void()>> pending_;
};

} // namespace colldsl::test
