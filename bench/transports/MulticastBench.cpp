// Broadcasts over datagrams: the same schedule, a message from the root to each, by IP multicast
// and one at a time, in turns. All ranks are in one thread, so that time of the processor counts
// every rank's work, and there is no waiting but for what was lost.
//
// With a loss, in per cent, each rank loses so much of what comes to it; then the time is that of
// the wall, since lost packets are waited for.
#include "bench/executor/Measure.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "transports/datagram/DatagramCarrier.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

namespace colldsl::bench {
namespace {

using namespace std::chrono_literals;

class CountingCalls : public datagram::Calls {
public:
  explicit CountingCalls(double loss) : loss_(loss) {}
  int send(int fd, mmsghdr *messages, unsigned count) override {
    int sent = Calls::send(fd, messages, count);
    sent_ += sent > 0 ? static_cast<uint64_t>(sent) : 0;
    return sent;
  }
  int receive(int fd, mmsghdr *messages, unsigned count) override {
    int found = Calls::receive(fd, messages, count);
    for (int i = 0; i < found && loss_ > 0; ++i)
      if (std::uniform_real_distribution<double>(0, 100)(random_) < loss_)
        messages[i].msg_len = 0;
    return found;
  }
  uint64_t sent() const { return sent_; }

private:
  double loss_;
  std::mt19937 random_{1};
  uint64_t sent_ = 0;
};

class Job {
public:
  Job(uint32_t numRanks, double loss) : calls_(loss) {
    std::vector<network::RankAddress> rankAddresses;
    for (uint32_t r = 0; r < numRanks; ++r) {
      auto carrier = datagram::DatagramCarrier::open(Rank{r}, {}, calls_).take();
      carriers_.push_back(carrier.get());
      endpoints_.push_back(
          protocol::NetworkEndpoint::make(Rank{r}, numRanks, {},
                                          std::unique_ptr<network::Carrier>(std::move(carrier)))
              .take());
      rankAddresses.push_back(endpoints_.back()->rankAddress());
    }
    for (auto &endpoint : endpoints_)
      (void)endpoint->start([rankAddresses](Rank r) -> Result<network::RankAddress> {
        return rankAddresses[index(r)];
      });
  }
  ~Job() {
    std::vector<std::thread> threads;
    for (auto &endpoint : endpoints_)
      threads.emplace_back([&endpoint] { endpoint.reset(); });
    for (std::thread &thread : threads)
      thread.join();
  }

  std::vector<std::unique_ptr<Channels>> open(bool isMulticast) {
    std::vector<std::unique_ptr<Channels>> plan;
    std::vector<MessageId> ids{makeMessageId(1, 0)};
    std::vector<Transfer> ways{Transfer{.multicast = isMulticast}};
    for (uint32_t r = 0; r < endpoints_.size(); ++r) {
      std::vector<EdgeSpec> out, in;
      for (uint32_t peer = 1; r == 0 && peer < endpoints_.size(); ++peer)
        out.push_back({Rank{peer}, ids, ways});
      if (r != 0)
        in.push_back({Rank{0}, ids, ways});
      plan.push_back(endpoints_[r]->open({out, in}).take());
    }
    for (auto begin = Clock::now(); isMulticast && Clock::now() - begin < 5s;) {
      for (auto &channels : plan)
        channels->poll();
      if (plan.size() < 3 || carriers_[0]->multicast()->isReady(0))
        break;
    }
    return plan;
  }

  static void broadcast(std::vector<std::unique_ptr<Channels>> &plan,
                        std::vector<std::vector<std::byte>> &buffers) {
    size_t open = 0;
    std::vector<iovec> pieces;
    for (auto &buffer : buffers)
      pieces.push_back({buffer.data(), buffer.size()});
    for (size_t r = plan.size(); r-- > 0;) {
      plan[r]->start();
      Payload payload{&pieces[r], 1, true, false, buffers[r].size()};
      for (uint32_t edge = 0; edge < (r == 0 ? plan.size() - 1 : 1); ++edge)
        open += (r == 0 ? plan[r]->send({edge, 0}, OpId{edge}, payload)
                        : plan[r]->recv({edge, 0}, OpId{edge}, payload)) == Posted::Pending;
    }
    while (open > 0)
      for (auto &channels : plan)
        open -= channels->poll().size();
  }

  uint64_t sent() const { return calls_.sent(); }

private:
  CountingCalls calls_;
  std::vector<datagram::DatagramCarrier *> carriers_;
  std::vector<std::unique_ptr<protocol::NetworkEndpoint>> endpoints_;
};

struct Cost {
  double us = 1e300, worstUs = 0; ///< the least of the rounds, and 99 % of all calls are faster
  double datagrams = 0;
};

void compare(uint32_t numRanks, size_t bytes, uint32_t calls, uint32_t rounds, double loss) {
  clockid_t clock = loss > 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  Job job(numRanks, loss);
  std::vector<std::vector<std::byte>> buffers(numRanks, std::vector<std::byte>(bytes));
  Cost cost[2];
  std::vector<double> times[2];
  std::vector<std::unique_ptr<Channels>> plans[2] = {job.open(false), job.open(true)};
  for (uint32_t round = 0; round <= rounds; ++round) // the first one warms up
    for (int way : {0, 1}) {
      uint64_t before = job.sent();
      double sum = 0;
      for (uint32_t i = 0; i < calls; ++i) {
        double begin = processorNs(clock);
        Job::broadcast(plans[way], buffers);
        double us = (processorNs(clock) - begin) / 1000;
        sum += us;
        if (round > 0)
          times[way].push_back(us);
      }
      if (round == 0)
        continue;
      cost[way].us = std::min(cost[way].us, sum / calls);
      cost[way].datagrams = static_cast<double>(job.sent() - before) / calls;
    }
  for (int way : {0, 1}) {
    std::sort(times[way].begin(), times[way].end());
    cost[way].worstUs = times[way][times[way].size() * 99 / 100];
  }
  std::printf("%5u %8zu %10.1f %10.1f %6.2f %9.1f %9.1f %10.0f %10.0f\n", numRanks - 1, bytes,
              cost[1].us, cost[0].us, cost[0].us / cost[1].us, cost[1].datagrams, cost[0].datagrams,
              cost[1].worstUs, cost[0].worstUs);
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: bench-multicast CALLS ROUNDS [LOSS]\n");
    return 2;
  }
  auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  double loss = argc == 4 ? std::strtod(argv[3], nullptr) : 0;
  std::printf("%s: all at once, one at a time, ratio; datagrams; 99 %%\n",
              loss > 0 ? "us of the wall" : "us of the processor, all ranks");
  std::printf("%5s %8s %10s %10s %6s %9s %9s %10s %10s\n", "to", "bytes", "all", "one", "ratio",
              "all", "one", "all", "one");
  for (uint32_t receivers : {2u, 4u, 8u})
    for (size_t bytes : {8u, 1024u, 16384u, 262144u})
      colldsl::bench::compare(receivers + 1, bytes, number(1), number(2), loss);
  return 0;
}
