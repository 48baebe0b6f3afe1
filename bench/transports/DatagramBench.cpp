// The dissemination barrier over datagrams, as the transport sends it, against the same barrier
// over the same sockets and system calls without numbers, checksums and timers; and with exactly
// one packet lost in each barrier.
//
// All ranks are moved by one thread in turn, so that the time of the processor is what a barrier
// takes and other work of the machine does not count. Prints nanoseconds per barrier, medians of
// rounds that alternate; then the distribution with loss, and what it may be: the time after which
// one asks and three times there and back.
//
// Arguments: ranks, barriers per round, rounds.
#include "bench/executor/Measure.h"
#include "transports/datagram/DatagramCarrier.h"
#include "transports/datagram/Sockets.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <unistd.h>

namespace colldsl::bench {
namespace {

using datagram::PacketHeader;
using datagram::TimeNs;

/// Packets as the transport has them, without the protocol that reads them.
class BareCarrier : public network::Carrier {
public:
  explicit BareCarrier(datagram::Calls &calls) : calls_(calls) {
    in_addr loopback{htonl(INADDR_LOOPBACK)};
    socket_ = datagram::openSocket(loopback).take();
    for (size_t i = 0; i < slots_.size(); ++i) {
      pieces_[i] = {memory_[i].data(), memory_[i].size()};
      slots_[i].msg_hdr.msg_iov = &pieces_[i];
      slots_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  ~BareCarrier() override { close(socket_.file); }

  Result<std::vector<std::byte>> address() const override {
    auto bytes = std::as_bytes(std::span(&socket_.name, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  Status start(network::CarrierHandler &handler, const network::Owner &) override {
    handler_ = &handler;
    return {};
  }
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override {
    std::memcpy(&names_.emplace_back(), rankAddress.address.data(), sizeof(sockaddr_in));
    peer.handle = names_.size();
    return {};
  }
  network::PostResult send(network::Peer &to, network::Frame &frame) override {
    PacketHeader header;
    iovec pieces[] = {{&header, sizeof header}, {frame.data, frame.bytes}};
    mmsghdr message = {};
    message.msg_hdr.msg_name = &names_[to.handle - 1];
    message.msg_hdr.msg_namelen = sizeof(sockaddr_in);
    message.msg_hdr.msg_iov = pieces;
    message.msg_hdr.msg_iovlen = 2;
    calls_.send(socket_.file, &message, 1);
    handler_->onDone(frame);
    return network::PostResult::Ok;
  }
  bool poll() override {
    int count = calls_.receive(socket_.file, slots_.data(), slots_.size());
    for (int i = 0; i < count; ++i) {
      auto at = static_cast<size_t>(i);
      handler_->onBytes(
          {memory_[at].data() + sizeof(PacketHeader), slots_[at].msg_len - sizeof(PacketHeader)});
    }
    return count > 0;
  }
  std::optional<Wait> ifIdle() override { return std::nullopt; }
  void stop() override {}
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return 0; }

private:
  datagram::Calls &calls_;
  datagram::Socket socket_;
  network::CarrierHandler *handler_ = nullptr;
  std::deque<sockaddr_in> names_;
  std::array<std::array<std::byte, datagram::kMaxPacketBytes>, 16> memory_;
  std::array<iovec, 16> pieces_;
  std::array<mmsghdr, 16> slots_ = {};
};

double threadNs() { return processorNs(CLOCK_THREAD_CPUTIME_ID); }

/// Loses one packet of frames, the one that is chosen.
class OneLoss : public datagram::Calls {
public:
  bool isOn = false;
  uint32_t loses = 0; ///< the packet of this number is lost, counted from here down

  int send(int fd, mmsghdr *messages, unsigned count) override {
    PacketHeader header;
    if (isOn) {
      std::memcpy(&header, messages[0].msg_hdr.msg_iov[0].iov_base, sizeof header);
      if (header.kind == datagram::PacketKind::Data && loses-- == 0)
        return 1;
    }
    return Calls::send(fd, messages, count);
  }
  TimeNs now() override { return isOn ? static_cast<TimeNs>(threadNs()) : Calls::now(); }
};

struct Word {
  uint32_t number = 0; ///< of the barrier
  uint32_t round = 0;
  uint64_t unused[3] = {}; ///< as long as a signal's frame
};

/// One rank of the barriers.
class Member : public network::CarrierHandler {
public:
  Member(uint32_t self, uint32_t numRanks) : self_(self), numRanks_(numRanks) {
    for (uint32_t step = 1; step < numRanks; step *= 2)
      steps_.push_back(step);
    arrived_.resize(steps_.size());
  }
  std::unique_ptr<network::Carrier> carrier;
  network::Peer &peer(uint32_t rank) { return peers_[rank]; }

  void begin() {
    ++number_;
    round_ = 0;
    sayRound();
    advance();
  }
  bool isOver() const { return round_ == steps_.size(); }

  void onBytes(std::span<const std::byte> bytes) override {
    Word word;
    std::memcpy(&word, bytes.data(), sizeof word);
    arrived_[word.round] = word.number;
    advance();
  }
  void onDone(network::Operation &operation) override {
    free_.push_back(&static_cast<network::Frame &>(operation));
  }
  void onFailed(network::Operation &, const std::string &) override {}
  void onRemoteWrite(uint32_t) override {}
  void onLost(network::Peer &, const std::string &reason) override {
    std::fprintf(stderr, "bench-datagram: lost: %s\n", reason.c_str());
    std::exit(1);
  }
  void onBroken(const std::string &reason) override { onLost(peers_[self_], reason); }
  network::Peer *onConnectRequest(Rank) override { return nullptr; }
  void onNeglected() override {}

private:
  network::Peer &source() { return peers_[(self_ + numRanks_ - steps_[round_]) % numRanks_]; }
  void sayRound() {
    if (free_.empty()) {
      auto &[frame, word] = frames_.emplace_back();
      frame.kind = network::Operation::Kind::Send;
      frame.data = reinterpret_cast<std::byte *>(&word);
      frame.bytes = sizeof word;
      free_.push_back(&frame);
    }
    network::Frame &frame = *free_.back();
    free_.pop_back();
    *reinterpret_cast<Word *>(frame.data) = {number_, round_, {}};
    network::Peer &to = peers_[(self_ + steps_[round_]) % numRanks_];
    if (arrived_[round_] != number_)
      carrier->expect(source());
    carrier->send(to, frame);
  }
  void advance() {
    while (!isOver() && arrived_[round_] == number_) {
      carrier->expectLess(source());
      if (++round_ < steps_.size())
        sayRound();
    }
  }

  uint32_t self_, numRanks_;
  std::vector<uint32_t> steps_, arrived_;
  uint32_t number_ = 0, round_ = 0;
  std::map<uint32_t, network::Peer> peers_;
  std::deque<std::pair<network::Frame, Word>> frames_;
  std::vector<network::Frame *> free_;
};

/// Ranks that are moved in turn.
class Group {
public:
  using Make = std::function<std::unique_ptr<network::Carrier>(Rank)>;
  Group(uint32_t numRanks, const Make &make) {
    for (uint32_t r = 0; r < numRanks; ++r) {
      members_.push_back(std::make_unique<Member>(r, numRanks));
      members_[r]->carrier = make(Rank{r});
      (void)members_[r]->carrier->start(*members_[r], {Rank{r}, 0, 4096}).ok();
    }
    for (uint32_t r = 0; r < numRanks; ++r)
      for (uint32_t other = 0; other < numRanks; ++other)
        if (r != other)
          connect(r, other);
  }

  void barrier() {
    for (auto &member : members_)
      member->begin();
    bool isOver = false;
    while (!isOver) {
      isOver = true;
      for (auto &member : members_) {
        member->carrier->poll();
        isOver &= member->isOver();
      }
    }
  }
  Member &member(uint32_t rank) { return *members_[rank]; }

private:
  void connect(uint32_t r, uint32_t other) {
    network::RankAddress rankAddress;
    std::vector<std::byte> address = members_[other]->carrier->address().take();
    std::copy(address.begin(), address.end(), rankAddress.address.begin());
    rankAddress.addressBytes = static_cast<uint16_t>(address.size());
    network::Peer &peer = members_[r]->peer(other);
    peer.rank = Rank{other};
    (void)members_[r]->carrier->reach(peer, rankAddress).ok();
  }

  std::vector<std::unique_ptr<Member>> members_;
};

void compare(Group &reliable, Group &bare, uint32_t barriers, uint32_t rounds) {
  std::vector<double> with, without;
  for (auto begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(300);)
    reliable.barrier(); // all know how far the others are
  for (uint32_t i = 0; i < rounds; ++i) {
    without.push_back(processorNsPerCall(barriers, [&] { bare.barrier(); }));
    with.push_back(processorNsPerCall(barriers, [&] { reliable.barrier(); }));
  }
  double least = *std::min_element(with.begin(), with.end()) /
                 *std::min_element(without.begin(), without.end());
  std::printf("no loss: %.0f ns, without reliability %.0f ns: ratio %.3f, of the least %.3f\n",
              median(with), median(without), median(with) / median(without), least);
}

/// Microseconds of each of so many barriers, ascending. `lost`: in each, one of its packets.
std::vector<double> timesOf(Group &group, OneLoss &calls, uint32_t barriers, uint32_t packets,
                            bool lost) {
  std::mt19937 random(7);
  std::vector<double> times;
  for (uint32_t i = 0; i < barriers; ++i) {
    calls.loses = lost ? random() % packets : UINT32_MAX;
    double begin = threadNs();
    group.barrier();
    times.push_back((threadNs() - begin) / 1000);
  }
  std::sort(times.begin(), times.end());
  return times;
}

void loseOneEach(Group &group, OneLoss &calls, uint32_t numRanks, uint32_t barriers) {
  uint32_t packets = 0;
  for (uint32_t step = 1; step < numRanks; step *= 2)
    packets += numRanks;
  calls.isOn = true;
  auto at = [](const std::vector<double> &times, size_t percent) {
    return times[times.size() * percent / 100];
  };
  std::vector<double> none = timesOf(group, calls, barriers, packets, false);
  std::vector<double> one = timesOf(group, calls, barriers, packets, true);
  auto &carrier = static_cast<datagram::DatagramCarrier &>(*group.member(1).carrier);
  const datagram::Pace &pace = carrier.paceOf(group.member(1).peer(0));
  double timeout = static_cast<double>(pace.timeout()) / 1000;
  double roundTrip = static_cast<double>(pace.roundTrip()) / 1000;
  std::printf("none lost: median %.1f us, 99%% %.1f us\n", at(none, 50), at(none, 99));
  std::printf("one lost in each of %u: median %.1f us, 99%% %.1f us; asks after %.1f us, there and "
              "back %.1f us: may be %.1f us\n",
              barriers, at(one, 50), at(one, 99), timeout, roundTrip, timeout + 3 * roundTrip);
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  using namespace colldsl;
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench-datagram RANKS BARRIERS ROUNDS\n");
    return 2;
  }
  auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  uint32_t numRanks = std::max(2u, number(1)), barriers = number(2), rounds = number(3);
  bench::OneLoss calls, lossy;
  auto overDatagrams = [](datagram::Calls &with) {
    return [&with](Rank r) -> std::unique_ptr<network::Carrier> {
      return datagram::DatagramCarrier::open(r, {}, with).take();
    };
  };
  bench::Group reliable(numRanks, overDatagrams(calls)), unlucky(numRanks, overDatagrams(lossy));
  bench::Group bare(numRanks, [&](Rank) { return std::make_unique<bench::BareCarrier>(calls); });
  bench::compare(reliable, bare, barriers, rounds);
  bench::loseOneEach(unlucky, lossy, numRanks, barriers);
  return 0;
}
