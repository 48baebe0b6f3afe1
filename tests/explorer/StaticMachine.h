/// A static message between two ranks of a machine, in several runs: what
/// transports/shm/StaticRtr.h describes, in steps. The state word is changed by
/// transports/Rendezvous.h itself.
///
/// The receiver gets the payload, or the sender puts it. A sender that puts may find no RTR and
/// send the message through the FIFO. Either end may cancel in any run, and may die at any step
/// while it copies. Memory has two parts, the last bytes and all others.
#pragma once

#include "tests/explorer/RendezvousWord.h"

#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

/// A rule that is plausible and wrong, which the explorer must refute.
enum class StaticMutant : uint8_t {
  None,
  LeavesByStore,         ///< the sender stores Done, whatever the receiver has done meanwhile
  LastBytesFirst,        ///< the sender writes the last bytes before the others
  CanaryBehindRtr,       ///< the receiver writes the canary once the sender may write
  LooksAtCanaryAlone,    ///< and does not read the word
  WritesWithoutClaim,    ///< the sender finds the RTR, and writes
  CancelsWithoutWaiting, ///< the receiver does not wait for a sender that writes
  WaitsForTheDead,       ///< it waits for one that is dead
  GetsWithoutClaim,      ///< the receiver finds the RTS, and reads
  RequestsBeforeBuffer,  ///< the sender's word comes before its buffer
};

struct StaticScenario {
  uint8_t runs = 2;
  bool isPut = true;
  bool hasCanary = true;
  bool endsInCanary = false; ///< the payload does
  bool mayFail = true;       ///< the receiver cancels, or the sender dies
  bool mayFallBack = true;   ///< the sender does not wait for the RTR
  StaticMutant mutant = StaticMutant::None;
};

class StaticMachine {
public:
  explicit StaticMachine(const StaticScenario &scenario) : scenario_(scenario), s_{} {}

  template <typename Visit> void steps(Visit visit) const {
    for (auto step : {&StaticMachine::receive, &StaticMachine::takeEager,
                      &StaticMachine::beginCancel, &StaticMachine::send, &StaticMachine::fallBack,
                      &StaticMachine::cancelSend, &StaticMachine::die}) {
      StaticMachine next = *this;
      if (const char *what = (next.*step)())
        visit(next, what);
    }
  }
  std::string violation() const { return s_.wrong ? s_.wrong : ""; }
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  enum class Recv : uint8_t {
    Begin,
    SendRtr,
    WriteCanary,
    Poll,
    First,
    Second,
    Leave,
    Cancel,
    Cancelled,
    Done,
    Dead
  };
  enum class Send : uint8_t {
    Look,
    Request,
    Await,
    Claim,
    First,
    Second,
    Leave,
    Cancel,
    Cancelled,
    Done,
    Dead
  };
  static constexpr uint8_t kOld = 0, kCanary = 0xff; ///< else the run whose bytes they are
  static constexpr uint8_t kLast = 1;

  struct Situation {
    const char *wrong;
    uint32_t word;
    Recv recv;
    Send send;
    uint8_t recvRun, sendRun; ///< so many are over
    uint8_t memory[2];
    uint8_t endsInCanary; ///< the last bytes are the payload's, and look like the canary
    uint8_t eagerRun;     ///< of the message in the FIFO; 0: it is empty
    uint8_t bufferRun;    ///< of the sender's buffer
    uint8_t unused[3];
  };

  bool is(StaticMutant mutant) const { return scenario_.mutant == mutant; }
  RendezvousWord word() { return {&s_.word}; }
  uint8_t recvRun() const { return static_cast<uint8_t>(s_.recvRun + 1); }
  uint8_t sendRun() const { return static_cast<uint8_t>(s_.sendRun + 1); }

  // The next step of an end; null: there is none now.
  const char *receive();
  const char *takeEager();
  const char *beginCancel();
  const char *send();
  const char *fallBack();
  const char *cancelSend();
  const char *die();

  const char *poll();
  const char *cancel();
  const char *write(bool last, Send next);
  const char *read(bool last, Recv next);
  const char *request();
  void completeReceive();
  void endSend();

  StaticScenario scenario_;
  Situation s_;
};

} // namespace colldsl::test
