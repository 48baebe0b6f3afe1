/// The record of a communicator. The object that serves its calls is made when the first of them is
/// served: a communicator may live for few calls, which the MPI below serves.
#pragma once

#include "mpi/comm/CommContexts.h"
#include "mpi/comm/CommFacts.h"
#include "mpi/comm/FirstCalls.h"
#include "mpi/comm/InfoHints.h"

#include <atomic>
#include <memory>

namespace colldsl::mpi {

class ServedComm;

/// | record of             | contexts              | facts             | ServedComm made by    |
/// |-----------------------|-----------------------|-------------------|-----------------------|
/// | a duplicate           | taken when it is made | of its original   | serve(), by each rank |
/// | a part, a grid        | the same              | read by this rank | the same              |
/// | another communicator  | agreed on             | agreed on         | ServedComm::adopt()   |
///
/// Lives as long as its communicator, or a little longer (KnownComms). Any thread may call serve()
/// and facts(). The other methods are for collective calls, which the program orders among
/// themselves.
class CommRecord {
public:
  /// Contexts for all parts of a communicator that are about to be made.
  struct Reserved {
    std::shared_ptr<const CommFacts> whole; ///< null: nothing is reserved
    Job::Context first;
    uint32_t ofEach = 0; ///< contexts of a part
    bool isOne = false;  ///< there is one part, else one for each rank at most
    bool areGrids = false;
  };

  /// A communicator of which nothing is known.
  CommRecord();
  /// A duplicate of a communicator with these facts.
  CommRecord(std::shared_ptr<const CommFacts> original, CommContexts::Some contexts);
  explicit CommRecord(Reserved reserved);
  ~CommRecord();

  /// The object that serves the calls. Null: there is none yet.
  ServedComm *served() const { return served_.load(std::memory_order_acquire); }
  /// Makes that object, if that takes no agreement of the ranks; else null. `isWrong` is set if
  /// this is the record of another communicator.
  ServedComm *serve(MPI_Comm comm, bool &isWrong);
  /// Keeps that object and the facts of which it was made, on which the ranks agreed; contexts()
  /// have begun.
  ServedComm *keep(std::shared_ptr<const CommFacts> agreed, std::unique_ptr<ServedComm> served);

  /// ServedComm::setHintsLater() for an object that serve() is yet to make.
  void setHintsLater(InfoHints wanted, std::shared_ptr<HintsQuery> query) {
    wantedLater_ = wanted;
    query_ = std::move(query);
  }

  /// Null: the ranks have to agree first.
  std::shared_ptr<const CommFacts> facts(MPI_Comm comm);
  /// True if facts() has an answer. Alike on all ranks.
  bool isKnown() const { return isKnown_; }

  /// Called before `number` contexts are taken for communicators that are about to be made of this
  /// one: once the first calls are over the ranks agree on more, if they have to. A communicator
  /// that lives for few calls has those that it got when it was made. Collective.
  void keepContexts(MPI_Comm comm, uint32_t number);

  /// They have begun if facts() has an answer.
  CommContexts &contexts() { return contexts_; }
  FirstCalls &firstCalls() { return firstCalls_; }

private:
  CommContexts contexts_;
  FirstCalls firstCalls_;
  std::shared_ptr<const CommFacts> facts_; ///< null: not read yet
  Reserved reserved_;                      ///< of a part that is not read yet
  InfoHints wantedLater_;
  std::shared_ptr<HintsQuery> query_;
  bool isKnown_ = false;
  bool isCopy_ = false;               ///< of an attribute: its facts may be those of other ranks
  std::unique_ptr<ServedComm> owned_; ///< goes before contexts_
  std::atomic<ServedComm *> served_{nullptr};
};

} // namespace colldsl::mpi
