/// What a neighbourhood collective exchanges with ranks of other nodes: all that one rank has for
/// another in one run travels as one message, in the order of the calls to send(), which is the
/// order of the peer's calls to recv() for it.
#pragma once

#include "transports/Transport.h"

namespace colldsl::mpi {

class FarEdges {
public:
  /// The endpoint outlives it; a rank opens alone there, and the runs are numbered by somebody
  /// else.
  explicit FarEdges(Endpoint &endpoint) : endpoint_(endpoint) {}

  // Before open(). Pieces without bytes are nothing.
  void send(Rank peer, std::span<const iovec> pieces) { add(sends_, peer, pieces); }
  void recv(Rank peer, std::span<const iovec> pieces) { add(recvs_, peer, pieces); }
  Status open();

  /// Between runs: memory lies so many bytes further on, but for that which stays.
  void shift(ptrdiff_t sent, ptrdiff_t received, const std::function<bool(const void *)> &stays);

  /// Begins a run. Memory is this object's until it is done.
  void start();
  bool isDone() const { return pending_ == 0 || channels_->failed(); }
  /// True: something moved.
  bool progress();
  /// Ends a run that is done. An error: a peer's message has another length, or the transport is
  /// broken.
  Status finish();
  /// Lets go of a run that cannot be finished.
  void giveUp();

private:
  struct End {
    Rank peer;
    std::vector<iovec> pieces;
    Payload payload;
  };

  static void add(std::vector<End> &ends, Rank peer, std::span<const iovec> pieces);
  static void shift(std::vector<End> &ends, ptrdiff_t distance,
                    const std::function<bool(const void *)> &stays);
  static std::vector<EdgeSpec> seal(std::vector<End> &ends);

  Endpoint &endpoint_;
  std::vector<End> sends_, recvs_;
  std::unique_ptr<Channels> channels_;
  size_t pending_ = 0; ///< messages
};

} // namespace colldsl::mpi
