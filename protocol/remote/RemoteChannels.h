/// The messages of one plan between ranks of any machines. Internal to RemoteEndpoint.
///
/// A message that goes to several peers at once, where the transport has groups, is gathered as it
/// is sent. If not all of its sends have come by the next poll, or they are not alike, it goes to
/// one peer at a time. A long one waits a while until all receivers want it.
#pragma once

#include "protocol/PlanChannels.h"
#include "protocol/remote/RemoteEndpoint.h"

#include <chrono>
#include <deque>

namespace colldsl::protocol {

class RemoteChannels final : public PlanChannels<RemoteEndpoint>, StreamUser {
public:
  RemoteChannels(RemoteEndpoint &endpoint, uint32_t stream) : PlanChannels(endpoint, stream) {}
  ~RemoteChannels() override;

  Status mayReceive(MessageSlot slot, const Payload &payload) const override;
  void start() override;
  using PlanChannels::recv;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted sendFromDevice(MessageSlot slot, OpId op, const Payload &payload,
                        DevicePayload &device) override;
  void sendFromHost(MessageSlot slot) override;
  Posted recvIntoDevice(MessageSlot slot, OpId op, const Payload &payload,
                        DevicePayload &device) override;
  bool sendNow(MessageSlot slot, const Payload &payload) override;
  void hold() override;
  void push() override;
  std::span<const Completion> poll() override;
  bool isFlushed() const override;
  bool check() override;
  void cancel() override;

private:
  friend struct MulticastRequest;
  using Clock = std::chrono::steady_clock;

  Status connect(const OpenRequest &request) override;

  // As a user of its stream.
  std::span<const Rank> peers() const override { return ranks_; }
  bool hasRun(uint32_t run) const override {
    return run == kAllRuns || !numbersRuns() || run == run_;
  }
  network::Progress progressOf(Rank from, const Tag &tag, network::ProbeBody &body) override;
  void probe(Clock::time_point now) override;
  void onProbeReply(Rank from, const Tag &tag, const network::ProbeBody &body) override;
  void onTerms(Rank from, std::string_view terms) override;
  void onMulticast(Rank root, const Tag &run, const network::MulticastBody &frame,
                   std::span<const std::byte> bytes) override;
  bool multicastAll() override;

  Posted post(MessageSlot slot, OpId op, const Payload &payload, DevicePayload *device);
  void reportHeld();
  End *find(Side &side, Rank rank, uint32_t message);
  bool isUnmatched(const Side &side, size_t edge, const End &end) const;
  void endWithout(Side &side, size_t edge, End &end);
  std::optional<Fault> findUnwanted() const;
  bool hasSentAll() const;
  bool isDeserted();
  Rank findDeserted() const;
  void abortHeld(const Fault &fault);
  void cancelAll();

  // Messages to several peers at once.
  void addMulticasts();
  bool gather(MessageSlot slot, End &end);
  void split(MulticastRequest &request);
  void launch(MulticastRequest &request);
  bool advance(MulticastRequest &request);
  void requestAll(MulticastRequest &request);
  bool checkRequested(MulticastRequest &request);
  bool sendParts(MulticastRequest &request);
  bool finish(MulticastRequest &request);
  uint64_t sendPart(const MulticastRequest &request, network::Kind kind, uint64_t offset,
                    uint64_t bytes);
  uint64_t sendFrame(const MulticastRequest &request, network::Kind kind,
                     std::span<const std::byte> body, const network::MulticastFlags &flags);
  uint64_t multicastBytes() const;
  network::Multicast &multicast() const { return *endpoint_.worker().transport().multicast(); }

  std::string terms_;                          ///< of the stream; empty: not compared
  std::vector<Rank> ranks_;                    ///< of the peers, as the worker names them
  std::vector<const network::Peer *> flushed_; ///< peers for which the transport may hold frames
  std::vector<End *> fromDevice_;              ///< sends whose receivers may yet want fragments
  std::deque<MulticastRequest> multicasts_;
  size_t numActive_ = 0;                                      ///< multicasts that are not over
  std::map<std::pair<Rank, MessageId>, End *> multicastFrom_; ///< received
  std::unordered_map<Rank, uint64_t> multicastsFrom_;         ///< frames
  std::vector<std::byte> together_;                           ///< a message in pieces
  bool mayBeUnwanted_ = false;                                ///< something is skipped in this run
  bool isCancelled_ = false;
  uint32_t idlePolls_ = 0;
  Clock::time_point desertedAt_ = {};
  Clock::time_point nextProbe_ = {}; ///< of this run; zero: it has not waited yet
  std::chrono::nanoseconds probeInterval_{0};
};

/// Messages of this rank that may go to all their receivers at once.
struct MulticastRequest {
  enum class State : uint8_t {
    Idle, ///< or each goes by itself in this run
    Gathering,
    ToSend,    ///< waits for room
    Requested, ///< not all receivers want it yet
    Sending,
    Sent, ///< not all have it
  };
  State state = State::Idle;
  MessageId id{};
  network::Multicast::Group group = 0;
  std::vector<RemoteChannels::End *> ends;
  std::vector<RemoteSends *> sends; ///< by end
  uint32_t run = 0;
  size_t gathered = 0;                              ///< ends
  RemoteChannels::End *first = nullptr;             ///< that was gathered; all have its payload
  uint64_t sentBytes = 0;                           ///< Sending
  std::chrono::steady_clock::time_point until = {}; ///< Requested
  uint64_t number = 0;                              ///< Sent: of the last frame
};

} // namespace colldsl::protocol
