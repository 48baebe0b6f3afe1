/// The part of an exchange (see Exchange.h) with ranks of other machines. The pieces that one rank
/// sends to another in one run travel as one message, in the order of the calls to send(), which is
/// the order of the peer's calls to recv() for it.
///
/// Threads: as RemoteWorker.
#pragma once

#include "executor/MessagePieces.h"
#include "protocol/remote/RemoteEndpoint.h"

namespace colldsl {

class RemoteExchange {
public:
  /// The worker outlives it. `stream`: used by this exchange alone, in the context of the group.
  /// `keepsMemory`: its memory is not freed between runs, so that it stays registered.
  RemoteExchange(protocol::RemoteWorker &worker, protocol::RankGroup group, uint32_t stream,
                 bool keepsMemory);
  RemoteExchange(const RemoteExchange &) = delete;
  RemoteExchange &operator=(const RemoteExchange &) = delete;

  // Called before open(); ranks are those of the group. Pieces without bytes are ignored.
  void send(Rank peer, std::span<const iovec> pieces) { addPieces(sends_, peer, pieces); }
  void recv(Rank peer, std::span<const iovec> pieces) { addPieces(recvs_, peer, pieces); }
  /// Waits for no other rank.
  Status open();

  /// Called between runs: moves the memory that is sent, and the memory that is received, by so
  /// many bytes, except addresses for which stays(address) is true.
  template <typename Stays> void shift(ptrdiff_t sent, ptrdiff_t received, Stays stays) {
    movePieces(sends_, sent, stays);
    movePieces(recvs_, received, stays);
  }

  /// Begins the run of this number, which meets the run of the same number at every peer. The
  /// memory belongs to this object until the run is done.
  void start(uint32_t number);
  bool isDone() const {
    return (outstanding_ == 0 && channels_->isFlushed()) || channels_->failed();
  }
  /// True: something moved.
  bool progress();
  /// Ends a run that is done. An error: a peer's message has another length, or the transport
  /// failed.
  Status finish();
  /// Ends a run that cannot be finished.
  void cancel();

private:
  struct End {
    Rank peer = kNoRank;
    std::vector<iovec> pieces;
    Payload payload;
  };

  std::vector<EdgeSpec> seal(std::vector<End> &ends) const;

  uint32_t run_ = 0; ///< the run that was started
  const bool keepsMemory_;
  protocol::RemoteEndpoint endpoint_;
  std::vector<End> sends_, recvs_;
  std::unique_ptr<Channels> channels_;
  size_t outstanding_ = 0; ///< messages
};

} // namespace colldsl
