/// A plan whose runs follow a caller's stream and are followed by streams, in steps: what
/// device/StreamOrder.h does, and Plan around it. The device executes its streams in any order, the
/// caller's thread adds work to them, and another thread makes progress.
///
/// For each run the caller adds work that produces its input, starts the run on that stream, lets a
/// stream follow the run, there adds work that consumes its result, and goes on without looking at
/// the device. It ends with the destruction of the plan, perhaps under a run.
#pragma once

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

/// A wrong rule that an author might choose.
enum class StreamMutant : uint8_t {
  None,
  StartsAtOnce,             ///< a run does not look for its mark
  WaitsForTheLastRun,       ///< streams wait for what the word is after the run before
  CompletesBeforeCopiesEnd, ///< the word is written when the copies to the device have begun
  EndsInTwoSteps,           ///< streams may follow a run whose word is written
  FailureTellsNoStream,     ///< a run that fails does not write the word
  DestructionTellsNoStream, ///< nor does the destruction of a plan that runs
  FreesTheWordAtOnce,       ///< streams may still look at it
  FollowsRunsThatAreOver    ///< streams wait though no run is under way
};

struct StreamScenario {
  uint8_t runs = 2;
  uint8_t streams = 1; ///< one that produces and consumes, or one for each
  bool mayFail = false;
  StreamMutant mutant = StreamMutant::None;
};

class StreamMachine {
public:
  explicit StreamMachine(const StreamScenario &scenario) : scenario_(scenario), s_{} {
    s_.isWordThere = 1;
    s_.run = 1;
  }

  template <typename Visit> void steps(Visit visit) const {
    for (auto step : {&StreamMachine::caller, &StreamMachine::progress, &StreamMachine::fail,
                      &StreamMachine::copyIn, &StreamMachine::copyOut, &StreamMachine::firstStream,
                      &StreamMachine::secondStream}) {
      StreamMachine next = *this;
      if (const char *what = (next.*step)())
        visit(next, what);
    }
  }
  std::string violation() const;
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  enum class Work : uint8_t {
    None,
    AwaitConsumed, ///< the caller's own order between its two streams
    Produce,
    Mark,
    AwaitWord,
    Consume
  };
  struct Item {
    Work work;
    uint8_t value; ///< of a run, or of the word
  };
  static constexpr size_t kMaxItems = 12;
  struct Stream {
    std::array<Item, kMaxItems> items; ///< those that have not run, the oldest first
  };
  enum class Caller : uint8_t { Produces, Starts, Follows, Consumes, Destroys, Frees, Done };
  enum class State : uint8_t { Idle, Running, Failed };
  /// The part of a run that comes next, or is under way on the device.
  enum class Part : uint8_t { AwaitsMark, CopiesIn, In, CopiesOut, Out, Completes, Ends };
  struct Situation {
    std::array<Stream, 2> streams;
    Caller caller;
    uint8_t run; ///< of the caller
    State state;
    Part part;
    uint8_t word, isWordThere;
    uint8_t runsOver;             ///< as the plan counts
    uint8_t marks, marked;        ///< recorded, and reached
    uint8_t input, stage, result; ///< numbers of runs, as data
    uint8_t consumed;
    uint8_t failedRun; ///< 0: none
    uint8_t isWrong;   ///< a stream consumed what is not the result
  };

  bool is(StreamMutant mutant) const { return scenario_.mutant == mutant; }
  Stream &producer() { return s_.streams[0]; }
  Stream &consumer() { return s_.streams[scenario_.streams - 1]; }
  static void add(Stream &stream, Work work, uint8_t value);

  /// The next step; null: there is none now.
  const char *caller();
  const char *progress();
  const char *fail();
  const char *copyIn();
  const char *copyOut();
  const char *firstStream() { return execute(s_.streams[0]); }
  const char *secondStream() { return execute(s_.streams[1]); }

  const char *start();
  const char *follow();
  const char *destroy();
  const char *freeWord();
  const char *execute(Stream &stream);
  void complete(bool failed);
  bool isOnDevice() const { return s_.part == Part::In || s_.part == Part::Out; }

  StreamScenario scenario_;
  Situation s_;
};

} // namespace colldsl::test
