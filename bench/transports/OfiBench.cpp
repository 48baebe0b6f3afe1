// A message there and back over libfabric between two ranks of this machine, as plans send it;
// fi_pingpong measures the provider by itself. bench/ofi-pingpong runs both in turns. Or over
// verbs, where a waiting thread sleeps; bench/verbs runs ibv_rc_pingpong in turns with it.
//
// Arguments: provider, or "verbs"; bytes, round trips. Prints the microseconds of one way.
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "runtime/job/LocalRanks.h"
#include "transports/ofi/OpenOfi.h"
#include "transports/verbs/OpenVerbs.h"

namespace colldsl::bench {
namespace {

// Vain looks before one for dead peers, as of plans.
constexpr uint32_t kChecks = 64;

class Player {
public:
  Player(Endpoint &endpoint, uint64_t bytes, bool sleeps)
      : endpoint_(endpoint), sleeps_(sleeps), first_(endpoint.rank() == Rank{0}),
        memory_(bytes), piece_{memory_.data(), bytes}, payload_{&piece_, 1, true, false, bytes} {
    EdgeSpec edge{Rank{first_ ? 1u : 0u}, {makeMessageId(1, 0)}};
    auto opened = endpoint.open({{&edge, 1}, {&edge, 1}});
    if (opened)
      channels_ = opened.take();
  }

  bool play(uint32_t times) {
    for (uint32_t i = 0; channels_ && i < times; ++i) {
      channels_->start();
      if (first_ ? !(send() && receive()) : !(receive() && send()))
        return false;
    }
    return channels_ != nullptr;
  }

private:
  bool send() { return await(channels_->send({0, 0}, OpId{0}, payload_)); }
  bool receive() { return await(channels_->recv({0, 0}, OpId{1}, payload_)); }
  bool await(Posted posted) {
    if (posted != Posted::Pending)
      return posted == Posted::Done;
    for (uint32_t vain = 1; channels_->poll().empty(); ++vain) {
      if (channels_->failed() || (vain % kChecks == 0 && !channels_->check()))
        return false;
      if (sleeps_ && hasNewsOrSleeps())
        return true;
    }
    return true;
  }
  bool hasNewsOrSleeps() {
    WakeupEpoch epoch = endpoint_.armSleep();
    if (!channels_->poll().empty())
      return true;
    endpoint_.sleep(epoch, std::chrono::milliseconds(10));
    return false;
  }

  Endpoint &endpoint_;
  bool sleeps_;
  bool first_;
  std::vector<std::byte> memory_;
  iovec piece_;
  Payload payload_;
  std::unique_ptr<Channels> channels_;
};

using Join = decltype(LocalOptions::attach);

void measure(const Join &join, bool sleeps, uint64_t bytes, uint32_t times) {
  LocalOptions local;
  local.numRanks = 2;
  local.bindToCores = true;
  local.timeout = std::chrono::seconds(120);
  local.attach = join;
  auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    Player player(endpoint, bytes, sleeps);
    bool isFine = player.play(times / 10 + 1);
    double ns = nsPerCall(1, [&] { isFine = isFine && player.play(times); });
    if (!isFine)
      return Status::error("it did not come through");
    return pack(std::vector<double>{ns / 1000 / 2 / times});
  });
  std::printf("%.3f\n", unpack<double>(require(std::move(outcomes))[0])[0]);
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench-ofi PROVIDER|verbs BYTES ROUND-TRIPS\n");
    return 2;
  }
  colldsl::ofi::Options options;
  options.provider = argv[1];
  bool isVerbs = options.provider == "verbs";
  colldsl::bench::Join join = [=](colldsl::shm::World &world, colldsl::Rank rank) {
    return isVerbs ? colldsl::protocol::attach(
                         world, rank, colldsl::verbs::Options(),
                         colldsl::verbs::open(world.numRanks(), colldsl::verbs::Options()))
                   : colldsl::protocol::attach(world, rank, options, colldsl::ofi::open(options));
  };
  colldsl::bench::measure(join, isVerbs, std::strtoull(argv[2], nullptr, 10),
                          static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)));
}
