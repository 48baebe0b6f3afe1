// Every call of the kernel fails once, or for good.
#include "tests/transports/FaultSweep.h"
#include "transports/datagram/DatagramTransport.h"

#include <atomic>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

enum class Call { Send, Receive };

struct How {
  const char *name;
  int error = 0;          ///< of the call
  bool isForGood = false; ///< from then on
  bool isHalf = false;    ///< it takes one datagram only
  bool isShort = false;   ///< what came is a byte shorter
  int quiet = 0;          ///< so many calls bring nothing
};

// The k-th call of a kind goes wrong.
class FaultyCalls : public datagram::Calls {
public:
  FaultyCalls(Call call, const How &how, uint64_t at) : call_(call), how_(how), at_(at) {}
  bool happened() const { return calls_ >= at_; }

  int send(int fd, mmsghdr *messages, unsigned count) override {
    if (!isNow(Call::Send))
      return Calls::send(fd, messages, count);
    return how_.error != 0 ? how_.error : Calls::send(fd, messages, how_.isHalf ? 1 : count);
  }
  int receive(int fd, mmsghdr *messages, unsigned count) override {
    {
      std::lock_guard lock(mutex_);
      if (quiet_ > 0 && quiet_-- > 0)
        return -EAGAIN;
    }
    int found = Calls::receive(fd, messages, count);
    bool counts = found > 0 || (how_.isForGood && happened());
    if (!counts || !isNow(Call::Receive))
      return found;
    if (how_.isShort && found > 0)
      --messages[0].msg_len;
    quiet_ = how_.quiet;
    return how_.error != 0 ? how_.error : found;
  }

private:
  bool isNow(Call call) {
    std::lock_guard lock(mutex_); // both disconnect at once
    if (call != call_)
      return false;
    uint64_t now = ++calls_;
    return how_.isForGood ? now >= at_ : now == at_;
  }

  std::mutex mutex_;
  Call call_;
  How how_;
  uint64_t at_;
  std::atomic<uint64_t> calls_ = 0;
  std::atomic<int> quiet_ = 0;
};

datagram::Options quickOptions() {
  datagram::Options options;
  options.packetBytes = 1472;
  options.windowBytes = 3000;
  options.linger = options.lingerAfterFailure = 100ms;
  return options;
}

void sweep(Call call, const How &how, bool (&isFine)(const std::string &)) {
  SCOPED_TRACE(how.name);
  auto exchangeAt = [&](uint64_t at) {
    FaultyCalls calls(call, how, at);
    return exchangeWith(
        [&](Rank r) {
          return protocol::NetworkEndpoint::make(r, 2, quickOptions(),
                                                 datagram::open(r, quickOptions(), calls));
        },
        [&] { return calls.happened(); });
  };
  test::sweep(exchangeAt, isFine, [](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, quickOptions(), datagram::open(r, quickOptions()));
  });
}

TEST(DatagramFaults, refusedOperationsAreOfferedAgain) {
  for (int error : {EAGAIN, ENOBUFS, EINTR})
    sweep(Call::Send, {"later", -error}, isNothing);
  sweep(Call::Send, {"in part", 0, false, true}, isNothing);
}

TEST(DatagramFaults, refusedPacketsAreSentAgain) {
  for (int error : {EPERM, EHOSTUNREACH})
    sweep(Call::Send, {"lost", -error}, isNothing);
}

TEST(DatagramFaults, sendsThatFailFailThePlan) {
  sweep(Call::Send, {"for good", -EIO, true}, isClean);
}

TEST(DatagramFaults, receivesThatFailNowAreTriedAgain) {
  sweep(Call::Receive, {"later", -EAGAIN}, isNothing);
  sweep(Call::Receive, {"late", 0, false, false, false, 200}, isNothing);
}

TEST(DatagramFaults, receivesThatFailFailThePlan) {
  sweep(Call::Receive, {"for good", -EIO, true}, isClean);
}

TEST(DatagramFaults, shortDatagramsAreFound) {
  sweep(Call::Receive, {"short", 0, false, false, true}, isNothing);
}

} // namespace
} // namespace colldsl::test
