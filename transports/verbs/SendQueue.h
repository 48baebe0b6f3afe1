/// The requests of one queue pair, in order: those that wait for the device, and those that it has.
///
/// Waiting requests form a chain: it is posted with one call, and only its last request reports
/// that it, and with it all before, is done.
///
/// Not thread safe.
#pragma once

#include "transports/network/Transport.h"
#include "transports/verbs/VerbsCalls.h"

#include <array>
#include <bit>

namespace colldsl::verbs {

/// The most bytes that travel inside a request.
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
  /// The number of requests that are not done.
  uint32_t open() const { return next_ - done_; }
  /// The number of requests that the device does not have yet.
  uint32_t waiting() const { return waiting_ - first_; }

  /// Adds a request, which fits. `operation`: the operation that is done with it, or null. Copies
  /// bytes that travel inline.
  void add(network::Operation *operation, const ibv_send_wr &request);

  /// Posts the chain. Returns zero, or a number of errno: then the requests that were not taken
  /// still wait.
  int post(Calls &calls, ibv_qp *pair);
  /// Cancels the waiting requests, which are never posted or done. Returns the operation of each,
  /// or null.
  std::vector<network::Operation *> cancelAll();

  /// True if the id is of a completed request; handleOf() returns its handle.
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
  std::vector<network::Operation *> operations_; ///< by number modulo their count
  uint32_t done_ = 0, next_ = 0;                 ///< numbers, which wrap around
  std::unique_ptr<Chain> chain_;                 ///< made with the first request
  uint32_t first_ = 0, waiting_ = 0,
           numPieces_ = 0; ///< of the chain: the device lacks [first, waiting)
};

} // namespace colldsl::verbs
