// A switch for frames of Ethernet that loses, repeats and reorders datagrams of UDP, by a seed; all
// else goes through. Each frame goes to all other ports; what is lost on the way to one may reach
// another.
//
// Arguments: seed, and per cent of loss, of reordering and of duplication, then the ports, which
// are interfaces of this network namespace. Says "ready"; runs until it is killed.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace colldsl::test {
namespace {

// A frame that is held back goes on after so many others, or when nothing comes for so long.
constexpr uint32_t kMaxFramesLate = 6;
constexpr int kQuietMs = 1;
constexpr size_t kMaxFrameBytes = 80 << 10; // what an interface splits by itself comes whole

struct Frame {
  size_t port = 0;              ///< where it came from
  std::vector<std::byte> bytes; ///< what the kernel says of it, and Ethernet's
  uint32_t late = 0;
};

class Relay {
public:
  Relay(uint64_t seed, double loss, double reordering, double duplication)
      : random_(seed), loss_(loss), reordering_(reordering), duplication_(duplication) {}

  bool add(const char *name) {
    int file = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    int yes = 1;
    sockaddr_ll port = {};
    port.sll_family = AF_PACKET;
    port.sll_protocol = htons(ETH_P_ALL);
    port.sll_ifindex = static_cast<int>(if_nametoindex(name));
    // Checksums may not have been written yet: the kernel says so, and is told so again.
    bool isFine = file >= 0 && port.sll_ifindex != 0 &&
                  setsockopt(file, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes) == 0 &&
                  setsockopt(file, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 &&
                  bind(file, reinterpret_cast<sockaddr *>(&port), sizeof port) == 0;
    if (!isFine)
      std::perror(name);
    ports_.push_back({file, POLLIN, 0});
    return isFine;
  }

  [[noreturn]] void run() {
    std::vector<std::byte> bytes(kMaxFrameBytes);
    for (;;) {
      if (::poll(ports_.data(), ports_.size(), late_.empty() ? -1 : kQuietMs) == 0)
        sendLate(kMaxFramesLate);
      for (size_t i = 0; i < ports_.size(); ++i)
        while (true) {
          ssize_t size = recv(ports_[i].fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
          if (size <= 0)
            break;
          pass({i, {bytes.begin(), bytes.begin() + size}, 0});
        }
    }
  }

private:
  static bool isDatagram(const Frame &frame) {
    constexpr size_t kEthernet = 10; // after virtio_net_hdr, whose header C++ does not take
    constexpr size_t kProtocol = kEthernet + ETH_HLEN + 9;
    return frame.bytes.size() > kProtocol && frame.bytes[kEthernet + 12] == std::byte{8} &&
           frame.bytes[kEthernet + 13] == std::byte{0} &&
           frame.bytes[kProtocol] == std::byte{IPPROTO_UDP};
  }
  bool happens(double percent) {
    return std::uniform_real_distribution<double>(0, 100)(random_) < percent;
  }
  void send(const Frame &frame) {
    bool mayBeLost = isDatagram(frame);
    for (size_t i = 0; i < ports_.size(); ++i)
      if (i != frame.port && !(mayBeLost && happens(loss_)))
        (void)!write(ports_[i].fd, frame.bytes.data(), frame.bytes.size());
  }
  void pass(Frame frame) {
    if (!isDatagram(frame))
      return send(frame);
    if (happens(duplication_))
      send(frame);
    if (happens(reordering_)) {
      frame.late = 1 + static_cast<uint32_t>(random_() % kMaxFramesLate);
      late_.push_back(std::move(frame));
      return;
    }
    send(frame);
    sendLate(1);
  }
  void sendLate(uint32_t passed) {
    std::erase_if(late_, [&](Frame &frame) {
      frame.late -= std::min(frame.late, passed);
      if (frame.late == 0)
        send(frame);
      return frame.late == 0;
    });
  }

  std::mt19937_64 random_;
  double loss_, reordering_, duplication_;
  std::vector<pollfd> ports_;
  std::deque<Frame> late_;
};

} // namespace
} // namespace colldsl::test

int main(int argc, char **argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: relay SEED LOSS REORDERING DUPLICATION PORT...\n");
    return 2;
  }
  colldsl::test::Relay relay(std::strtoull(argv[1], nullptr, 10), std::strtod(argv[2], nullptr),
                             std::strtod(argv[3], nullptr), std::strtod(argv[4], nullptr));
  for (int i = 5; i < argc; ++i)
    if (!relay.add(argv[i]))
      return 1;
  std::printf("ready\n");
  std::fflush(stdout);
  relay.run();
}
