/// A network that loses, repeats, reorders and spoils datagrams, by a seed.
#pragma once

#include "transports/datagram/SocketCalls.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <netinet/in.h>
#include <random>
#include <vector>

namespace colldsl::test {

/// Of a datagram, each as a probability.
struct Weather {
  double loss = 0;
  double reordering = 0; ///< some that were sent later come before it
  double duplication = 0;
  double spoiling = 0; ///< a bit of it is turned
  uint64_t seed = 1;
  double deafness = 0; ///< lost where it comes, so that not all receivers lose the same
};

/// What is sent through it; what comes is left alone, or lost. Thread safe.
class LossyCalls : public datagram::Calls {
public:
  explicit LossyCalls(const Weather &weather) : weather_(weather), random_(weather.seed) {}

  int send(int fd, mmsghdr *messages, unsigned count) override;
  int receive(int fd, mmsghdr *messages, unsigned count) override;
  datagram::TimeNs now() override;

  /// From now on time passes only by turnClock().
  void stopClock() { clock_ = Calls::now(); }
  void turnClock(datagram::TimeNs by) { clock_ += by; }

  /// Asked of each datagram, before the weather: whether to lose it.
  std::function<bool(const mmsghdr &)> loses;

  /// Asked of each socket that something came to: whether to lose it.
  std::function<bool(int)> isDeaf;

  uint64_t numLost() const { return lost_; }

private:
  struct Late {
    int fd = -1;
    sockaddr_in to = {};
    std::vector<std::byte> bytes;
    uint32_t calls = 0; ///< that it still stays back
  };

  bool happens(double probability) {
    return std::uniform_real_distribution<double>()(random_) < probability;
  }
  void sendOne(int fd, const mmsghdr &message);
  void sendLate();

  std::mutex mutex_;
  Weather weather_;
  std::mt19937_64 random_;
  std::deque<Late> late_;
  datagram::TimeNs clock_ = 0; ///< 0: it goes by itself
  uint64_t lost_ = 0;
};

} // namespace colldsl::test
