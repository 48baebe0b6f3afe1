/// The requests of one queue pair, in order: those that wait for the device, and those that it has.
///
/// What waits is a chain: it is posted with one call, and the last request of it alone reports that
/// it, and with it all before, is done.
///
/// Not thread safe.
#pragma once

#include "transports/network/Carrier.h"
#include "transports/verbs/VerbsCalls.h"

#include <array>
#include <bit>

namespace colldsl::verbs {

/// Of what travels inside a request.
inline constexpr uint32_t kInlineBytes = 128;

class SendQueue {
public:
  static constexpr uint32_t kMaxRequests = 48; ///< of a chain
  static constexpr uint32_t kMaxPieces = 128;  ///< of memory, in a chain

  /// Holds `most` requests at once. Completions carry `handle`.
  SendQueue(uint64_t handle, uint32_t most) : handle_(handle), operations_(std::bit_floor(most)) {}

  bool fits(uint32_t requests, uint32_t pieces) const {
    return open() + requests <= operations_.size() && waiting_ + requests <= kMaxRequests &&
           numPieces_ + pieces <= kMaxPieces;
  }
  /// Requests that are not done.
  uint32_t open() const { return next_ - done_; }
  /// Of these, what the device has not yet.
  uint32_t waiting() const { return waiting_ - first_; }

  /// Which fits. `operation` is what is done with it, or null. Copies bytes that travel inline.
  void add(network::Operation *operation, const ibv_send_wr &request);

  /// Zero, or a number of errno, and what was not taken still waits.
  int post(Calls &calls, ibv_qp *pair);
  /// What waits is not posted any more, and never done: the operation of each request, or null.
  std::vector<network::Operation *> cancelAll();

  /// Whose completion it is, if it is of a request.
  static bool isRequest(uint64_t id) { return (id & 1) != 0; }
  static uint64_t handleOf(uint64_t id) { return id >> 33; }

  /// Takes out the oldest request, if it is done by this completion; false: there is none, or it
  /// came before. `last`: it is the one that the completion names.
  struct Done {
    network::Operation *operation;
    bool last;
  };
  std::optional<Done> takeDone(uint64_t id);

private:
  struct Chain {
    std::array<ibv_send_wr, kMaxRequests> requests;
    std::array<ibv_sge, kMaxPieces> pieces;
    std::array<std::array<std::byte, kInlineBytes>, kMaxRequests> inlined;
  };

  uint64_t handle_;
  std::vector<network::Operation *> operations_; ///< by number, round and round
  uint32_t done_ = 0, next_ = 0;                 ///< numbers, which wrap around
  std::unique_ptr<Chain> chain_;                 ///< of peers that something was sent to
  uint32_t first_ = 0, waiting_ = 0,
           numPieces_ = 0; ///< of the chain: the device lacks [first, waiting)
};

} // namespace colldsl::verbs
