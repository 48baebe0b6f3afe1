/// Frames and writes over the point-to-point messages of the MPI below, on a duplicate of the
/// communicator.
///
/// Frames have one tag and arrive in memory that is always posted. Memory that is registered for a
/// write is posted, too, under its own tag, which is its key: a registration is for one write,
/// which the peer announces under that key. Reads are refused.
///
/// Threads: one at a time; below MPI_THREAD_MULTIPLE only those that may call the MPI. Errors:
/// after a failed call of the MPI nothing moves any more, and the reader is notified.
#pragma once

#include "mpi/Mpi.h"
#include "transports/network/ActiveMessages.h"

#include <deque>

namespace colldsl::mpi {

class MpiTransport final : public network::Transport {
public:
  /// Collective over `world`, which is duplicated. start() reports an error.
  explicit MpiTransport(MPI_Comm world);
  /// Collective.
  ~MpiTransport() override;

  Result<std::vector<std::byte>> address() const override { return std::vector<std::byte>(); }
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult inject(network::Peer &, std::span<const std::byte>) override {
    return network::PostResult::NoResource;
  }
  network::PostResult read(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  network::PostResult write(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override;
  bool poll() override;
  std::optional<Wait> ifIdle() override { return Wait{.atMost = kNap}; }
  void stop() override;
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return frames_.size(); }

private:
  class PostedMemory;

  /// Arriving messages do not end a sleep, so it is short.
  static constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);

  /// The purpose of a request.
  struct Outstanding {
    network::Operation *operation; ///< null: a write of a peer
    int tag;                       ///< of that write
  };

  bool isFine(int code, const char *function);
  bool post(uint32_t receive);
  bool receive();
  void add(MPI_Request request, Outstanding outstanding);
  void remove(size_t at);
  bool findCompleted();
  bool reportCompleted();
  void cancel(int tag);
  network::PostResult offered(int code, MPI_Request request, network::Operation &operation);

  Status status_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  network::TransportHandler *handler_ = nullptr;
  int mostTag_ = 0, usedTags_ = 0;
  std::vector<int> freeTags_;
  uint32_t frameBytes_ = 0;
  std::vector<std::byte> frames_;     ///< for frames to come, the next one at next_
  std::vector<MPI_Request> receives_; ///< by frame
  uint32_t next_ = 0;
  std::vector<MPI_Request> requests_; ///< parallel to outstanding_
  std::vector<Outstanding> outstanding_;
  std::vector<int> places_;
  std::deque<Outstanding> completed_; ///< not reported yet
};

} // namespace colldsl::mpi
