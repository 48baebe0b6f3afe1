/// Threads of one rank that sleep until their events come, and other ranks that bring these: what
/// transports/shm/Sleep.h and World::wakeSleeper() do, in steps. Each waker has a store buffer:
/// what it has published may be seen by others later than it reads the word of the sleepers.
///
/// No sleep ends by itself here, though each does after a while.
#pragma once

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

/// A rule as it was before, or one that somebody might think of.
enum class SleepMutant : uint8_t {
  None,
  SleepsOnOneWord,      ///< threads sleep while the word says that one of them does
  NoBarrier,            ///< nobody has a fence between what it writes and what it reads
  LooksBeforeArming,    ///< and not once more afterwards
  EpochAfterArming,     ///< the wake-ups are read once the word is set
  CountsBeforeClearing, ///< wake-ups are counted before the word is 0 again
};

struct SleepScenario {
  uint8_t threads = 2; ///< the events of each come by a rank of their own
  bool wakersFence = false;
  SleepMutant mutant = SleepMutant::None;
};

class SleepMachine {
public:
  static constexpr uint8_t kMaxThreads = 3;

  explicit SleepMachine(const SleepScenario &scenario) : scenario_(scenario), s_{} {}

  template <typename Visit> void steps(Visit visit) const {
    for (uint8_t i = 0; i < scenario_.threads; ++i)
      for (auto step : {&SleepMachine::sleeper, &SleepMachine::waker, &SleepMachine::drained}) {
        SleepMachine next = *this;
        if (const char *what = (next.*step)(i))
          visit(next, what);
      }
  }
  std::string violation() const { return ""; }
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  enum class Sleeper : uint8_t {
    Looks,
    ReadsEpoch,
    Arms,
    Fences,
    LooksAgain,
    Sleeps,
    Asleep,
    Done
  };
  enum class Waker : uint8_t { Publishes, ReadsWord, Clears, Counts, Wakes, Done };
  struct Thread {
    Sleeper sleeper;
    Waker waker;
    uint8_t epoch;
    uint8_t isBuffered; ///< its events are in the waker's store buffer
    uint8_t isVisible;  ///< its events are there
  };
  struct Situation {
    std::array<Thread, kMaxThreads> threads;
    uint8_t sleeping; ///< the word of the rank
    uint8_t wakes;    ///< wake-ups so far
  };

  bool is(SleepMutant mutant) const { return scenario_.mutant == mutant; }
  Thread &thread(uint8_t i) { return s_.threads[i]; }

  /// The next step; null: there is none now.
  const char *sleeper(uint8_t i);
  const char *waker(uint8_t i);
  const char *drained(uint8_t i);

  const char *look(Thread &thread, Sleeper otherwise);
  const char *sleep(Thread &thread);
  const char *readWord(Thread &thread);
  void drain(Thread &thread);
  void wakeAll();

  SleepScenario scenario_;
  Situation s_;
};

} // namespace colldsl::test
