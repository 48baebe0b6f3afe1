/// Ranks that run a plan several times. In each run a message may have bytes at both ends, at one
/// or at none. A rank that waits for the other end finds out that nothing comes: over a network by
/// probes (protocol/remote/RemoteChannels.cpp), in shared memory by a word of each rank, the oldest
/// run that is not over there (protocol/local/RunProgress.h).
///
/// Frames from rank to rank arrive in order. What is written to a place that the receiver named
/// arrives at any time. The first rank that finds an end without bytes fails the plan, which ends
/// everything here: how failures spread is the matter of the other machines.
#pragma once

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>
#include <vector>

namespace colldsl::test {

enum class Medium : uint8_t { Network, SharedMemory };

struct ProgressMessage {
  enum class Travel : uint8_t {
    Eager,   ///< the sender has ended once it has sent
    Request, ///< the sender waits until the receiver has taken the message
    // Over a network:
    Placed, ///< the receiver names the place in advance, and the sender writes
    Short,  ///< the same, but what the sender has is shorter, and eager
  };
  uint8_t from, to;
  Travel way;
  uint8_t sent, received; ///< a bit per run: whether that end has bytes
};

struct ProgressScenario {
  Medium medium = Medium::Network;
  uint8_t ranks = 2, runs = 2;
  uint8_t inFlight = 1; ///< runs that rank 0 has open at once; all others have one
  std::vector<ProgressMessage> messages = {};
};

class ProgressMachine {
public:
  static constexpr uint8_t kMaxRanks = 3, kMaxRuns = 3, kMaxMessages = 3;
  /// A rule as it was before, or one that somebody might think of.
  enum class Mutant : uint8_t {
    None,
    ForgetsSkips,         ///< only the last runs in a row without bytes are remembered
    AnswersForOpenRuns,   ///< of a run that is over nothing is said
    TakesWritesAsOrdered, ///< what was written is taken to have arrived before the reply
    LooksOnce,            ///< and not again, once the other rank's run is seen to be over
    EndsWhenIdle,         ///< runs are said to be over only while none is open
  };

  ProgressMachine(const ProgressScenario &scenario, Mutant mutant);

  template <typename Visit> void steps(Visit visit) const {
    if (s_.isFailed != 0)
      return;
    bool isQuiet = true;
    auto tryAll = [&](uint8_t first, uint8_t last) {
      for (uint8_t r = 0; r < scenario_->ranks; ++r)
        for (uint8_t choice = first; choice < last; ++choice) {
          ProgressMachine next = *this;
          const char *step = next.take(r, choice);
          isQuiet = isQuiet && !step;
          if (step)
            visit(next, step);
        }
    };
    tryAll(0, kLateProbe);
    if (isQuiet) // a rank that waits for long probes again
      tryAll(kLateProbe, kChoices);
  }
  std::string violation() const { return s_.wrong ? s_.wrong : ""; }
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  static constexpr uint8_t kFrames = 16, kNone = 0xff;
  // What a rank may do next.
  static constexpr uint8_t kBegin = 0, kEnd = 1, kTake = kEnd + kMaxRuns, kPost = kTake + kMaxRanks,
                           kEnds = 2 * kMaxMessages * kMaxRuns, kArrive = kPost + kEnds,
                           kProbe = kArrive + kEnds, kLateProbe = kProbe + kEnds,
                           kChoices = kLateProbe + kEnds;

  enum class End : uint8_t { Idle, Waiting, Done };
  enum class Kind : uint8_t { Eager, Request, Taken, Place, Probe, Reply };
  enum class Reply : uint8_t { NotYet, Past, PastAndWritten, Skipped };

  struct Frame {
    Kind kind;
    uint8_t message, run;
    uint8_t detail; ///< Probe: whether the sender of the message probes; Reply: and the answer
  };
  struct Fifo {
    uint8_t numFrames;
    std::array<Frame, kFrames> frames;
  };
  /// A message in one run.
  struct Message {
    End send, recv;
    Frame early; ///< came before its receive was posted
    uint8_t isEarly;
    uint8_t isUnderWay; ///< what the sender wrote
    uint8_t probes;     ///< bits: see probe()
  };
  struct Rank {
    uint8_t begun;      ///< runs
    uint8_t ended;      ///< a bit per run
    uint8_t over;       ///< published: all runs before
    uint8_t isSeenOver; ///< the run of the other end of the message below
    uint8_t message, run;
  };
  struct Situation {
    const char *wrong;
    std::array<std::array<Fifo, kMaxRanks>, kMaxRanks> fifos;
    std::array<std::array<Message, kMaxRuns>, kMaxMessages> messages;
    std::array<uint8_t, kMaxMessages> placeRun; ///< at the sender: the run of the last place
    std::array<uint8_t, kMaxMessages> writtenIn;
    std::array<Rank, kMaxRanks> ranks;
    uint8_t isFailed;
    std::array<uint8_t, 5> unused;
  };

  bool is(Mutant mutant) const { return mutant_ == mutant; }
  bool isNetwork() const { return scenario_->medium == Medium::Network; }
  const ProgressMessage &spec(uint8_t m) const { return scenario_->messages[m]; }
  static bool has(uint8_t runs, uint8_t run) { return runs >> run & 1; }
  Message &at(uint8_t m, uint8_t run) { return s_.messages[m][run]; }

  /// Null: that cannot be done now.
  const char *take(uint8_t rank, uint8_t choice);
  const char *takeAtEnd(uint8_t rank, uint8_t choice);
  const char *begin(uint8_t rank);
  const char *end(uint8_t rank, uint8_t run);
  const char *postSend(uint8_t m, uint8_t run);
  const char *postRecv(uint8_t m, uint8_t run);
  const char *takeFrame(uint8_t from, uint8_t to);
  const char *takeMessage(const Frame &frame);
  const char *accept(const Frame &frame);
  const char *takeReply(const Frame &frame);
  const char *probe(uint8_t m, uint8_t run, bool sends, bool isLate);
  const char *seeOver(uint8_t rank, uint8_t m, uint8_t run);
  const char *lookAgain(uint8_t rank);
  Reply replyTo(const Frame &probe) const;
  bool isSkippedLately(const Frame &probe) const;
  const char *write(uint8_t m, uint8_t run);
  const char *arrive(uint8_t m, uint8_t run);
  void put(uint8_t from, uint8_t to, const Frame &frame);
  void fail(uint8_t m, uint8_t run);
  bool isOpen(uint8_t rank, uint8_t run) const {
    return run < s_.ranks[rank].begun && !has(s_.ranks[rank].ended, run);
  }
  uint8_t overOf(uint8_t rank) const;

  const ProgressScenario *scenario_;
  Mutant mutant_;
  Situation s_;
};

/// All interleavings of each `every`-th scenario of that shape with so many messages: what was
/// found wrong first; empty: nothing.
std::string explore(const ProgressScenario &shape, size_t messages, size_t every,
                    ProgressMachine::Mutant mutant = ProgressMachine::Mutant::None);

} // namespace colldsl::test
