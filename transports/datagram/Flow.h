/// The packets between this rank and one peer, in both directions. Knows no socket: the transport
/// takes from it what to send, and gives it what came.
///
/// Packets are numbered. The sender keeps each until it is acknowledged, which every packet of the
/// other direction does: all up to a number, and a bit for each of the 64 after it. The
/// receiver keeps packets that came early.
///
/// A receiver that misses a packet probes: at once, if a later packet came; else after
/// Pace::timeout(), if one is expected. A sender without an acknowledgement probes, too, later.
///
/// Not thread safe.
#pragma once

#include "transports/datagram/Pace.h"
#include "transports/datagram/Packet.h"
#include "transports/network/ActiveMessages.h"

#include <netinet/in.h>

namespace colldsl::datagram {

/// A part of a frame on its way out; the frame belongs to the caller that offered it.
struct OutPacket {
  OutPacket *next = nullptr;
  network::Frame *frame = nullptr;
  TimeNs sentAt = 0; ///< the last time
  uint32_t offset = 0;
  uint32_t sequence = 0;
  uint16_t bytes = 0;
  uint8_t flags = 0;
};

/// Grows when there is none left; what was given back is used again.
class OutPackets {
public:
  OutPacket &take();
  void give(OutPacket &packet) {
    packet.next = free_;
    free_ = &packet;
  }
  uint64_t bytes() const { return blocks_.size() * kGrowth * sizeof(OutPacket); }

private:
  static constexpr uint32_t kGrowth = 64;
  OutPacket *free_ = nullptr;
  std::vector<std::unique_ptr<OutPacket[]>> blocks_;
};

/// A packet that came before those that it follows.
struct Early {
  std::vector<std::byte> body;
  uint8_t flags = 0;
};

class Flow {
public:
  /// `peer` outlives it. `packetBytes`: the longest datagram to it, header included.
  Flow(network::Peer &peer, const Options &options, uint32_t packetBytes)
      : peer(peer), packetBytes(packetBytes), pace(options), flightBytes_(options.flightBytes),
        flushes_(options.flushes), longestPause_(options.longestPause.count()) {}

  network::Peer &peer;
  const uint32_t packetBytes;
  uint64_t token = 0; ///< of the peer
  sockaddr_in address = {};
  sockaddr_in keepalive = {}; ///< where its process answers while its rank is busy
  Pace pace;
  std::vector<std::byte> assembly; ///< of a frame that is not complete

  // Sending.

  /// Adds all packets of a frame to those that are to be sent.
  void append(network::Frame &frame, OutPackets &pool);
  /// Packets that were not sent and that the window has room for, in order. Returns their number.
  uint32_t sendable(std::span<OutPacket *> packets) const;
  void noteSent(OutPacket &packet, TimeNs now);
  bool isAllAcked() const { return oldest_ == nullptr; }
  bool hasUnsent() const { return unsent_ != nullptr; }
  bool isInFlight() const { return sent_ != base_; }

  /// The result of a report.
  struct ReportResult {
    std::vector<network::Frame *> done; ///< the peer has all of them
    std::vector<OutPacket *> lost;      ///< the peer misses them
  };
  /// Takes the acknowledgements of the peer. False: they are impossible, and nothing was changed.
  bool takeReport(const PacketHeader &header, TimeNs now, OutPackets &pool, ReportResult &result);
  /// Drops all frames that are not done.
  void cancel(OutPackets &pool, ReportResult &result);

  // Receiving.

  enum class Arrival : uint8_t { Next, Early, Useless };
  Arrival place(uint32_t sequence) const;
  /// Keeps a packet that came early. `spare`: memory to use.
  void hold(uint32_t sequence, uint8_t flags, std::span<const std::byte> body,
            std::vector<std::vector<std::byte>> &spare);
  /// Notes that the next packet was taken. Returns the one after it, if it came early; else null.
  Early *advance(uint32_t bodyBytes);

  bool hasGap() const { return beyond_ != 0; }
  /// True if an acknowledgement is due: the peer waits for it, or so much came.
  bool owesReport() const {
    return isReportWanted_ || received_ - reported_ >= kWindow / 4 * 3 ||
           bytesSinceReport_ >= flightBytes_ / 2;
  }
  bool owesAnything() const { return received_ != reported_; }
  /// True if the peer has sent packets that did not come.
  bool misses(uint32_t sentThere) const { return static_cast<int32_t>(sentThere - received_) > 0; }
  /// True: a gap is to be reported now, once in half a round trip. Notes the report.
  bool mayNack(TimeNs now);

  /// Notes that the peer lives, and has sent the expected packet.
  void noteExpected(TimeNs now) {
    silentSince_ = 0;
    isProbed_ = false;
    noteProgress(now);
  }
  /// True if the peer wants to know how long its packet took.
  bool owesEcho() const { return owesEcho_; }
  /// Fills in the common fields of a header. `isNow`: the clock was read just before.
  void describe(PacketHeader &header, TimeNs now, bool isNow);
  /// Takes the common fields of a header, but for its report.
  void noteHeader(const PacketHeader &header, TimeNs now, bool isNow);

  // Probing.

  /// Notes that a packet is expected. True: none was before.
  bool expect() { return expected_++ == 0 && (isNewWait_ = true); }
  void expectLess() { expected_ -= expected_ > 0; }
  bool isWaiting() const { return expected_ > 0 || hasGap() || isInFlight(); }
  /// Begins a wait, or begins it again; its time comes with beginWait(). True: the last one has its
  /// time.
  bool waitLater() { return !std::exchange(isUntimed_, true); }
  void beginWait(TimeNs now);
  TimeNs probeAt() const { return probeAt_; }
  /// Notes a probe. True: the peer was probed before, and the rank itself has sent nothing since.
  bool noteProbe(TimeNs now);
  /// The time since which the peer is silent in spite of probes; 0: it is not.
  TimeNs silentSince() const { return silentSince_; }
  void clearSilence() { silentSince_ = 0; }

  /// Bytes of memory for packets that came early.
  uint64_t bytes() const;
  bool isTouched = false; ///< in a list of the transport

private:
  void dropOldest(OutPackets &pool, ReportResult &result);
  void noteProgress(TimeNs now);

  OutPacket *oldest_ = nullptr, *newest_ = nullptr, *unsent_ = nullptr;
  uint32_t given_ = 0;  ///< numbers
  uint32_t base_ = 0;   ///< of the oldest packet
  uint32_t sent_ = 0;   ///< all before it
  uint32_t flight_ = 0; ///< bytes sent and not acknowledged
  uint32_t flightBytes_;
  bool flushes_; ///< the rank waits until its frames are done

  uint32_t received_ = 0;
  uint64_t beyond_ = 0;
  std::vector<Early> early_; ///< by number modulo kWindow; empty until one came
  uint32_t reported_ = 0;    ///< of received_
  uint32_t bytesSinceReport_ = 0;
  bool isReportWanted_ = false;
  TimeNs nackedAt_ = 0;

  uint32_t lastStamp_ = 0;
  TimeNs stampAt_ = 0;
  bool owesEcho_ = false;

  uint32_t expected_ = 0;
  TimeNs longestPause_;
  TimeNs pause_ = 0;
  TimeNs probeAt_ = 0;
  TimeNs silentSince_ = 0;
  bool isUntimed_ = false;
  bool isNewWait_ = false;
  bool isProbed_ = false; ///< and its rank has sent nothing since
};

} // namespace colldsl::datagram
