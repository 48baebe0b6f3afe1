/// A collective that moves data and combines none.
#pragma once

#include "tests/mpi/Deal.h"

#include <optional>

namespace conformance {

class Movement : public Trial {
public:
  Movement(const Members &members, const Deal &deal, Random local, Report &report, Reused *reused);

  void prepare() override;
  MPI_Request start() override;
  void check() override;
  void moveBuffers() override;
  const std::string &label() const override { return label_; }

private:
  std::vector<int> sendPeers() const;
  std::vector<int> recvPeers() const;
  bool isInPlace() const;
  Draft draft(int from, int to) const;
  Layout layout(bool sending) const;
  void useArenas(const Arenas &arenas);
  bool mayShareMemory() const;
  void drawLanes();
  void draw(bool sending);
  void askOracle();
  void send(int peer, size_t slot, std::vector<MPI_Request> &requests);
  CollectiveArguments arguments();

  const Members &members_;
  Deal deal_;
  Random local_;
  Report &report_;
  int root_;
  bool sharesMemory_ = false; ///< its sides do
  std::string label_;
  /// A side that does not count has no blocks.
  Side send_, recv_;
  std::vector<std::byte> expected_, sent_, guard_;
  StartedCall call_;
};

} // namespace conformance
