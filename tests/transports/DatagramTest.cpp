// Packets, and frames that are made of them, under every weather.
#include "tests/transports/LossyCalls.h"
#include "tests/transports/TransportPair.h"
#include "transports/datagram/Crc32c.h"

#include <arpa/inet.h>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using datagram::PacketHeader;
using datagram::PacketKind;

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Crc32c, isCastagnolis) {
  EXPECT_EQ(datagram::crc32c(bytesOf("123456789")), 0xe3069283u);
  EXPECT_EQ(datagram::crc32c({}), 0u);
}

/// Bit by bit, as the polynomial is divided.
uint32_t slowCrc32c(std::span<const std::byte> bytes) {
  uint32_t crc = ~0u;
  for (std::byte b : bytes) {
    crc ^= static_cast<uint8_t>(b);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, isThatOfTheDivisionAndOfPieces) {
  for (uint32_t size = 0; size < 300; ++size) {
    std::vector<std::byte> bytes = makeFrame(size, size);
    uint32_t whole = slowCrc32c(bytes);
    EXPECT_EQ(datagram::crc32c(bytes), whole);
    auto [front, rest] =
        std::pair(std::span(bytes).first(size / 3), std::span(bytes).subspan(size / 3));
    EXPECT_EQ(datagram::crc32c(rest, datagram::crc32c(front)), whole);
  }
}

std::vector<std::byte> makePacket(PacketKind kind, uint64_t token, Rank from, size_t bodyBytes) {
  PacketHeader header;
  header.kind = kind;
  header.token = token;
  header.from = from;
  std::vector<std::byte> body = makeFrame(1, bodyBytes), packet(sizeof header);
  datagram::seal(header, body);
  std::memcpy(packet.data(), &header, sizeof header);
  packet.insert(packet.end(), body.begin(), body.end());
  return packet;
}

TEST(Packet, isWholeUnchangedAndForUsOrNothing) {
  std::vector<std::byte> packet = makePacket(PacketKind::Data, 7, Rank{3}, 100);
  auto view = datagram::parse(packet, 7);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.from, Rank{3});
  EXPECT_EQ(view->body.size(), 100u);
  EXPECT_FALSE(datagram::parse(packet, 8));
  for (size_t bytes = 0; bytes < packet.size(); ++bytes)
    EXPECT_FALSE(datagram::parse(std::span(packet).first(bytes), 7));
  for (size_t bit = 0; bit < packet.size() * 8; ++bit) {
    packet[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(datagram::parse(packet, 7)) << "bit " << bit;
    packet[bit / 8] ^= std::byte{1} << bit % 8;
  }
}

// Random bytes; then those of a sender that knows the token and the checksum, with any content.
TEST(Packet, parserTakesAnything) {
  std::mt19937_64 random(11);
  uint32_t taken = 0;
  for (int i = 0; i < 200000; ++i) {
    std::vector<std::byte> bytes = makePacket(PacketKind::Data, 7, Rank{3}, random() % 64);
    if (i % 2 == 0)
      bytes.resize(random() % (bytes.size() + 8));
    for (uint64_t changes = random() % 4; changes > 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (i % 4 == 1) {
      uint32_t checksum = datagram::crc32c(std::span(bytes).subspan(4));
      std::memcpy(bytes.data(), &checksum, sizeof checksum);
    }
    if (auto view = datagram::parse(bytes, 7)) {
      ++taken;
      EXPECT_LE(view->header.kind, PacketKind::Last);
      EXPECT_EQ(view->body.size() + sizeof(PacketHeader), bytes.size());
    }
  }
  EXPECT_GT(taken, 10000u);
}

/// Frames of many sizes both ways. Empty if all came once, in order and as they were.
std::string exchange(TransportPair &pair, uint32_t count, size_t mostBytes,
                     const std::function<void()> &each = {}) {
  std::array<uint32_t, 2> said = {};
  auto bytesOfFrame = [&](uint32_t i) { return 1 + size_t{i} * 7919 % mostBytes; };
  auto until = Clock::now() + 20s;
  auto isOver = [&](uint32_t r) {
    return said[r] == count && pair.ends[r].isDone() && pair.ends[r].received.size() == count;
  };
  while (!(isOver(0) && isOver(1))) {
    for (uint32_t r = 0; r < 2; ++r)
      if (said[r] < count && said[r] < pair.ends[r].received.size() + 8)
        pair.ends[r].sendOne(makeFrame(r, bytesOfFrame(said[r]++)));
    pair.poll();
    if (each)
      each();
    for (TransportEnd &end : pair.ends)
      if (!end.trouble.empty())
        return end.trouble;
    if (Clock::now() > until)
      return "stuck at " + std::to_string(pair.ends[0].received.size()) + " and " +
             std::to_string(pair.ends[1].received.size());
  }
  for (uint32_t r = 0; r < 2; ++r)
    for (uint32_t i = 0; i < count; ++i)
      if (pair.ends[r].received[i] != makeFrame(1 - r, bytesOfFrame(i)))
        return "frame " + std::to_string(i) + " is wrong";
  for (TransportEnd &end : pair.ends)
    end.received.clear();
  return "";
}

TEST(Datagram, framesComeOnceInOrderAndWhole) {
  LossyCalls calls({});
  for (uint32_t packetBytes : {0u, 112u, 1472u}) {
    datagram::Options options;
    options.packetBytes = packetBytes;
    TransportPair pair(options, calls);
    ASSERT_EQ(pair.trouble, "");
    EXPECT_EQ(exchange(pair, 300, 9000), "");
    EXPECT_EQ(pair.ends[0].transport->counts().repeated, 0u);
  }
}

TEST(Datagram, everyByteIsRightInEveryWeather) {
  for (double loss : {0.001, 0.01, 0.05, 0.2})
    for (uint64_t seed : {1u, 2u, 3u}) {
      LossyCalls calls({loss, loss, loss, loss / 4, seed});
      datagram::Options options;
      options.packetBytes = 512;
      TransportPair pair(options, calls);
      ASSERT_EQ(pair.trouble, "");
      auto begin = Clock::now();
      ASSERT_EQ(exchange(pair, 300, 9000), "") << loss << " " << seed;
      std::chrono::duration<double, std::milli> took = Clock::now() - begin;
      const datagram::Counts &counts = pair.ends[0].transport->counts();
      std::printf("%g lost, reordered and repeated: %.1f ms, %lu packets, %lu again, %lu reports\n",
                  loss, took.count(), counts.packets, counts.repeated, counts.reports);
      EXPECT_GT(counts.repeated, 0u);
      EXPECT_GT(counts.refused + pair.ends[1].transport->counts().refused, loss < 0.01 ? 0u : 5u);
      // The receives, and a window of packets that came early.
      EXPECT_LT(pair.ends[0].transport->bytes(), 400000u);
    }
}

/// The header of a datagram that is sent.
PacketHeader headerOf(const mmsghdr &message) {
  PacketHeader header;
  std::memcpy(&header, message.msg_hdr.msg_iov[0].iov_base, sizeof header);
  return header;
}

// Loses the first packet of this number that rank 0 sends.
void loseOnce(LossyCalls &calls, uint32_t sequence) {
  calls.loses = [&calls, sequence](const mmsghdr &message) {
    PacketHeader header = headerOf(message);
    bool isIt = header.kind == PacketKind::Data && header.from == Rank{0} &&
                header.sequence == sequence && calls.numLost() == 0;
    return isIt;
  };
}

TEST(Datagram, gapsAreReportedAtOnce) {
  LossyCalls calls({});
  calls.stopClock();
  TransportPair pair({}, calls);
  ASSERT_EQ(pair.trouble, "");
  loseOnce(calls, 0);
  pair.ends[0].sendOne(makeFrame(1, 100));
  pair.ends[0].sendOne(makeFrame(2, 100));
  calls.turnClock(1000);
  for (int i = 0; i < 3; ++i)
    pair.poll(); // no time passes
  EXPECT_EQ(calls.numLost(), 1u);
  EXPECT_EQ(pair.ends[1].received.size(), 2u);
}

// Of time: as long as a poll takes. The clock is read in one of some.
constexpr datagram::TimeNs kStep = 1000, kCoarse = 20 * kStep;

/// How long it takes until what was lost is there, in time of its own.
datagram::TimeNs timeOfLastPacket(bool isExpected) {
  LossyCalls calls({});
  calls.stopClock();
  TransportPair pair({}, calls);
  for (uint32_t i = 0; i < 50; ++i) { // both learn how far the other is
    pair.ends[i % 2].sendOne(makeFrame(1, 8));
    for (int step = 0; step < 20; ++step, calls.turnClock(kStep))
      pair.poll();
  }
  loseOnce(calls, 25);
  if (isExpected)
    pair.ends[1].transport->expect(pair.ends[1].peer);
  pair.ends[0].sendOne(makeFrame(1, 8));
  datagram::TimeNs begin = calls.now();
  for (; pair.ends[1].received.size() < 26 && calls.now() - begin < 1'000'000'000;
       calls.turnClock(kStep))
    pair.poll();
  EXPECT_EQ(calls.numLost(), 1u);
  return calls.now() - begin;
}

TEST(Datagram, aWaitingReceiverProbesAfterItsTimeout) {
  datagram::TimeNs least = datagram::Options().minTimeout.count();
  EXPECT_LT(timeOfLastPacket(true), least + kCoarse);
  EXPECT_GE(timeOfLastPacket(true), least);
}

// The receiver does not wait for it: its sender takes care of it.
TEST(Datagram, unexpectedPacketsComeToo) {
  datagram::TimeNs least = datagram::Options().minTimeout.count();
  EXPECT_LT(timeOfLastPacket(false), 4 * least + kCoarse);
}

datagram::Options impatient() {
  datagram::Options options;
  options.silence = 200ms;
  return options;
}

TEST(Datagram, aSilentPeerIsDeadInTime) {
  TransportPair pair(impatient(), datagram::Calls::real());
  pair.ends[1].transport.reset();
  pair.ends[0].transport->expect(pair.ends[0].peer);
  auto begin = Clock::now();
  while (pair.ends[0].trouble.empty() && Clock::now() - begin < 5s)
    pair.poll();
  EXPECT_EQ(pair.ends[0].trouble, "it has sent nothing for 200 ms");
  EXPECT_GE(Clock::now() - begin, 200ms);
  EXPECT_LT(Clock::now() - begin, 200ms + 20ms + 3 * 50ms + 100ms); // and a busy machine
}

// Its process answers.
TEST(Datagram, aBusyPeerIsNotDead) {
  TransportPair pair(impatient(), datagram::Calls::real());
  pair.ends[0].transport->expect(pair.ends[0].peer);
  pair.ends[0].sendOne(makeFrame(1, 8));
  for (auto begin = Clock::now(); Clock::now() - begin < 1s;)
    pair.ends[0].transport->poll();
  EXPECT_EQ(pair.ends[0].trouble, "");
  pair.ends[1].sendOne(makeFrame(2, 8));
  auto isOver = [&] {
    return pair.ends[0].received.size() == 1 && pair.ends[1].received.size() == 1;
  };
  for (auto begin = Clock::now(); !isOver() && Clock::now() - begin < 5s;)
    pair.poll();
  EXPECT_TRUE(isOver());
  EXPECT_EQ(pair.ends[0].trouble, "");
}

// A member of the job that says what cannot be true, and strangers.
TEST(Datagram, forgedDatagramsChangeNothing) {
  LossyCalls calls({});
  TransportPair pair({}, calls);
  ASSERT_EQ(pair.trouble, "");
  std::vector<std::byte> address = pair.ends[1].transport->address().take();
  uint64_t token;
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  std::memcpy(&token, address.data(), sizeof token);
  std::memcpy(&name.sin_addr, address.data() + 8, sizeof name.sin_addr);
  std::memcpy(&name.sin_port, address.data() + 12, sizeof name.sin_port);
  EXPECT_EQ(name.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  int stranger = socket(AF_INET, SOCK_DGRAM, 0);
  std::mt19937_64 random(5);
  auto forge = [&] {
    auto kind = static_cast<PacketKind>(random() % 4);
    bool knowsToken = random() % 2 == 0;
    std::vector<std::byte> packet =
        makePacket(kind, knowsToken ? token : random(), Rank{static_cast<uint32_t>(random() % 3)},
                   kind == PacketKind::Data ? 1 + random() % 100 : 0);
    PacketHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    header.acked = static_cast<uint32_t>(random() % 2 == 0 ? random() : 0x70000000);
    header.sequence = static_cast<uint32_t>(random()) | 0x40000000;
    header.beyond = random();
    datagram::seal(header, std::span(packet).subspan(sizeof header));
    std::memcpy(packet.data(), &header, sizeof header);
    (void)!sendto(stranger, packet.data(), packet.size(), 0,
                  reinterpret_cast<const sockaddr *>(&name), sizeof name);
  };
  EXPECT_EQ(exchange(pair, 500, 3000, forge), "");
  EXPECT_GT(pair.ends[1].transport->counts().refused, 300u);
  close(stranger);
}

TEST(Datagram, socketsAreBoundToTheGivenAddress) {
  datagram::Options options;
  options.bind = "198.51.100.7"; // no address of ours
  auto transport = datagram::DatagramTransport::open(Rank{0}, options);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.message().find("198.51.100.7"), std::string::npos) << transport.message();
  options.bind = "everywhere";
  EXPECT_FALSE(datagram::DatagramTransport::open(Rank{0}, options).ok());
}

} // namespace
} // namespace colldsl::test
