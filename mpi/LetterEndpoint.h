/// Plans whose messages are letters, for the ranks of a communicator.
///
/// open() waits for nobody: the group numbers its runs, and a message of run r has the key
/// {context, stream, r, message of the group + place in its edge's list}; if its stream does not
/// count messages, an edge has one. So it does not matter
/// which plans a rank has, as long as the same run is of the same schedule everywhere. A failure
/// is one of that run alone.
#pragma once

#include "mpi/Letters.h"

namespace colldsl::mpi {

/// Ranks that run plans together.
struct LetterGroup {
  Letters::Key key;                               ///< of the first message of run 0
  std::shared_ptr<const std::vector<Rank>> ranks; ///< of MPI_COMM_WORLD, in the order of the group
  Rank self = kNoRank;                            ///< this rank's place in the group
  const uint32_t *nextRun = nullptr;              ///< the run that is started next
};

class LetterEndpoint : public Endpoint {
public:
  /// The letters outlive it.
  LetterEndpoint(Letters &letters, LetterGroup group);

  Rank rank() const override { return group_.self; }
  uint32_t numRanks() const override { return static_cast<uint32_t>(group_.ranks->size()); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  SleepTicket armSleep() override { return 0; }
  void sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) override;
  void wake() override {}

private:
  friend class LetterChannels;

  Rank inWorld(Rank place) const { return (*group_.ranks)[index(place)]; }
  Letters::Key keyOf(uint32_t run) const; ///< of its first message
  void tellAll(uint32_t run, const Fault &fault);

  Letters &letters_;
  LetterGroup group_;
  Caps caps_;
};

} // namespace colldsl::mpi
