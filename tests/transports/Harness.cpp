#include "tests/transports/Harness.h"

#include "protocol/HybridEndpoint.h"
#include "protocol/local/Attach.h"
#include "protocol/open/AgreedEndpoint.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "tests/protocol/AttachAlone.h"
#include "transports/ofi/OpenOfi.h"
#include "transports/tcp/TcpTransport.h"
#include "transports/verbs/OpenVerbs.h"

#include <cstdlib>
#include <thread>

namespace colldsl::test {

std::string runThreads(uint32_t numRanks, const std::function<std::string(Rank)> &body) {
  std::vector<std::string> complaints(numRanks);
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < numRanks; ++r)
    threads.emplace_back([&, r] { complaints[r] = body(Rank{r}); });
  for (std::thread &thread : threads)
    thread.join();
  std::string all;
  for (uint32_t r = 0; r < numRanks; ++r)
    if (!complaints[r].empty())
      all += "rank " + std::to_string(r) + ": " + complaints[r] + "\n";
  return all;
}

std::string runProcesses(const LocalOptions &options, const Body &body) {
  auto outcomes = runLocalRanks(options, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    std::string complaint = body(endpoint);
    if (!complaint.empty())
      return Status::error(complaint);
    return std::vector<std::byte>();
  });
  if (!outcomes)
    return outcomes.message();
  std::string all;
  for (size_t r = 0; r < outcomes->size(); ++r)
    if (!(*outcomes)[r].status)
      all += "rank " + std::to_string(r) + ": " + (*outcomes)[r].status.message() + "\n";
  return all;
}

TransportSetup onFake(const std::string &name, const fake::Options &options, uint32_t seeds) {
  auto run = [=](uint32_t numRanks, const Body &body) {
    std::string all;
    for (uint32_t s = 0; s < seeds && all.empty(); ++s) {
      fake::Options seeded = options;
      seeded.seed += s;
      fake::World world(numRanks, seeded);
      all = runThreads(numRanks, [&](Rank r) { return body(*world.attach(r)); });
    }
    return all;
  };
  return {name, run, options.slotsPerEdge != 0};
}

namespace {

TransportSetup onThreads(const std::string &name, const shm::Options &options,
                         const Attach &attach) {
  auto run = [=](uint32_t numRanks, const Body &body) {
    auto world = shm::World::create(numRanks, options);
    if (!world)
      return world.message();
    return runThreads(numRanks, [&](Rank r) {
      auto endpoint = attach(**world, r);
      return endpoint ? body(**endpoint) : endpoint.message();
    });
  };
  return {name, run};
}

TransportSetup onProcesses(const std::string &name, const shm::Options &options,
                           const Attach &attach) {
  auto run = [=](uint32_t numRanks, const Body &body) {
    LocalOptions local;
    local.numRanks = numRanks;
    local.shm = options;
    local.attach = attach;
    local.timeout = std::chrono::seconds(60);
    return runProcesses(local, body);
  };
  return {name, run};
}

} // namespace

Attach overLocalEndpoints(const protocol::LocalOptions &options) {
  return [=](shm::World &world, Rank r) { return attachAlone(world, r, options); };
}

Attach overShm(const std::optional<protocol::LocalOptions> &options) {
  return [=](shm::World &world, Rank r) {
    return protocol::attach(world, r, options ? *options : protocol::optionsOf(world));
  };
}

namespace {

/// What an endpoint over datagrams that agrees on opens is made of.
struct DatagramParts {
  DatagramParts(shm::World &ofAll, Rank rank)
      : world(ofAll), self(rank), arena(world.arenaBegin(self), world.options().arenaBytes),
        failureDetector(world, self), bootstrap(world, self, arena, mutex, failureDetector) {}
  // A rank that fails an open ends: its peers do not take that for a death.
  ~DatagramParts() { world.control(self).left.store(1, std::memory_order_release); }

  shm::World &world;
  Rank self;
  shm::Arena arena;
  std::mutex mutex;
  shm::FailureDetector failureDetector;
  shm::ShmBootstrap bootstrap;
  std::unique_ptr<Endpoint> inner;
};

class AgreedDatagrams : std::unique_ptr<DatagramParts>, public protocol::AgreedEndpoint {
public:
  explicit AgreedDatagrams(std::unique_ptr<DatagramParts> parts)
      : std::unique_ptr<DatagramParts>(std::move(parts)),
        AgreedEndpoint(*get()->inner, get()->bootstrap,
                       protocol::RankGroup::ofAll(get()->world.numRanks(), get()->self)) {}
};

} // namespace

Attach overAgreedDatagrams(const datagram::Options &options) {
  return [=](shm::World &world, Rank r) -> Result<std::unique_ptr<Endpoint>> {
    auto parts = std::make_unique<DatagramParts>(world, r);
    if (Status s = parts->bootstrap.exchangePids(); !s)
      return s;
    for (uint32_t peer = 0; peer < world.numRanks(); ++peer)
      parts->failureDetector.watch(Rank{peer});
    auto inner = protocol::attach(parts->bootstrap, r, world.numRanks(), options,
                                  datagram::open(r, options));
    if (!inner)
      return inner.status();
    parts->inner = inner.take();
    return std::unique_ptr<Endpoint>(std::make_unique<AgreedDatagrams>(std::move(parts)));
  };
}

TransportSetup onShmThreads(const std::string &name, const shm::Options &shm,
                            const std::optional<protocol::LocalOptions> &options) {
  TransportSetup setup = onThreads(name, shm, overShm(options));
  setup.agreesOnTerms = true;
  return setup;
}

TransportSetup onShmProcesses(const std::string &name, const shm::Options &shm,
                              const std::optional<protocol::LocalOptions> &options) {
  TransportSetup setup = onProcesses(name, shm, overShm(options));
  setup.agreesOnTerms = true;
  return setup;
}

TransportSetup onLocalThreads(const std::string &name, const shm::Options &shm,
                              const protocol::LocalOptions &options) {
  TransportSetup setup = onThreads(name, shm, overLocalEndpoints(options));
  setup.opensAlone = true;
  return setup;
}

TransportSetup onLocalProcesses(const std::string &name, const shm::Options &shm,
                                const protocol::LocalOptions &options) {
  TransportSetup setup = onProcesses(name, shm, overLocalEndpoints(options));
  setup.opensAlone = true;
  return setup;
}

Part fakePart(const fake::Options &options) {
  return [=](uint32_t numRanks) {
    return [world = std::make_shared<fake::World>(numRanks, options)](
               Rank r) -> Result<std::unique_ptr<Endpoint>> { return world->attach(r); };
  };
}

Part shmPart(const shm::Options &options, const Attach &attach) {
  return [=](uint32_t numRanks) {
    std::shared_ptr<shm::World> world = shm::World::create(numRanks, options).take();
    return [world, attach](Rank r) { return attach(*world, r); };
  };
}

TransportSetup onHybrid(const std::string &name, const Part &even, const Part &odd,
                        bool opensAlone) {
  auto run = [=](uint32_t numRanks, const Body &body) {
    auto joinEven = even(numRanks), joinOdd = odd(numRanks);
    return runThreads(numRanks, [&](Rank r) {
      auto first = joinEven(r), second = joinOdd(r);
      if (!first || !second)
        return first ? second.message() : first.message();
      std::vector<bool> isRemote;
      for (uint32_t peer = 0; peer < numRanks; ++peer)
        isRemote.push_back((index(r) + peer) % 2 == 1);
      protocol::HybridEndpoint endpoint(**first, **second, std::move(isRemote));
      return body(endpoint);
    });
  };
  return {name, run, false, opensAlone};
}

namespace {

// Over a network, whose ranks are processes of this machine.
protocol::NetworkEndpoint::MadeTransport open(const ofi::Options &options, const shm::World &) {
  return ofi::open(options);
}
protocol::NetworkEndpoint::MadeTransport open(const verbs::Options &options,
                                              const shm::World &world) {
  return verbs::open(world.numRanks(), options);
}
protocol::NetworkEndpoint::MadeTransport open(const tcp::Options &options, const shm::World &) {
  return tcp::open(options);
}
// Each rank that loads libfabric itself takes 0.3 s for it.
void loadLibrary(const ofi::Options &options) { ofi::prepare(options).wait(); }
void loadLibrary(const verbs::Options &) {}
void loadLibrary(const tcp::Options &) {}

template <typename Options>
TransportSetup onNetwork(const std::string &name, const Options &options) {
  TransportSetup setup = onProcesses(name, {}, [=](shm::World &world, Rank r) {
    return protocol::attach(world, r, options, open(options, world));
  });
  setup.run = [=, runRanks = setup.run](uint32_t numRanks, const Body &body) {
    loadLibrary(options);
    return runRanks(numRanks, body);
  };
  setup.opensAlone = setup.isOverNetwork = true;
  return setup;
}

template <typename Options> Options tight() {
  Options options;
  options.longestEagerBytes = 128;
  options.windowBytes = 512;
  options.postedReceives = 4;
  options.fragments = 1;
  return options;
}

std::vector<TransportSetup> ofiSetups() {
  if (!ofi::isBuiltIn())
    return {};
  ofi::Options net, shm, parts = tight<ofi::Options>();
  net.provider = "net";
  shm.provider = "shm";
  parts.usesRma = false;
  std::vector<TransportSetup> all = {onNetwork("ofiTcpTight", tight<ofi::Options>()),
                                     onNetwork("ofiTcpParts", parts), onNetwork("ofiNet", net),
                                     onNetwork("ofiShm", shm)};
  NetworkSettings settings("ofi", "", NetworkSettings::From::TextAndEnvironment);
  if (settings.has("COLLDSL_OFI_PROVIDER"))
    all.push_back(onNetwork("ofiGiven", *ofi::readOptions(settings)));
  return all;
}

/// Every call moves some bytes of those that it could, and every third one none.
class CuttingCalls : public tcp::Calls {
public:
  ssize_t send(int file, const iovec *pieces, int count) override {
    iovec some = cut(pieces, count);
    return some.iov_len == 0 ? -EAGAIN : Calls::send(file, &some, 1);
  }
  ssize_t receive(int file, const iovec *pieces, int count) override {
    iovec some = cut(pieces, count);
    return some.iov_len == 0 ? -EAGAIN : Calls::receive(file, &some, 1);
  }

private:
  iovec cut(const iovec *pieces, int count) {
    while (count > 1 && pieces->iov_len == 0)
      ++pieces, --count;
    ++calls_;
    return {pieces->iov_base,
            calls_ % 3 == 0 ? 0 : std::min<size_t>(pieces->iov_len, calls_ % 331)};
  }
  uint32_t calls_ = 0;
};

std::vector<TransportSetup> tcpSetups() {
  tcp::Options parts = tight<tcp::Options>();
  parts.usesRma = false;
  auto calls = std::make_shared<CuttingCalls>(); // each process has one of its own
  TransportSetup cut = onProcesses("tcpCut", {}, [=](shm::World &world, Rank r) {
    return protocol::attach(world, r, tcp::Options(), tcp::open({}, *calls));
  });
  cut.opensAlone = cut.isOverNetwork = true;
  return {onNetwork("tcpTight", tight<tcp::Options>()), onNetwork("tcpParts", parts), cut};
}

// Where there is a device.
std::vector<TransportSetup> verbsSetups() {
  if (!verbs::whyNot({}).empty())
    return {};
  verbs::Options few = tight<verbs::Options>();
  few.postedReceives = 16; // a device whose sender finds none takes its time
  few.sendsPerPeer = 4;
  few.framesPerPeer = 2;
  verbs::Options parts = few;
  parts.usesRma = false;
  return {onNetwork("verbsTight", few), onNetwork("verbsParts", parts)};
}

} // namespace

TransportSetup onDatagrams(const std::string &name, const datagram::Options &options,
                           const Weather &weather) {
  // Each process has one of its own.
  auto calls = std::make_shared<std::unique_ptr<LossyCalls>>();
  bool isFair = weather.loss + weather.reordering + weather.duplication + weather.spoiling == 0;
  auto join = [=](shm::World &world, Rank r) {
    if (isFair)
      return protocol::attach(world, r, options, datagram::open(r, options));
    Weather own = weather;
    own.seed = weather.seed * 1000 + index(r);
    *calls = std::make_unique<LossyCalls>(own);
    return protocol::attach(world, r, options, datagram::open(r, options, **calls));
  };
  TransportSetup setup = onProcesses(name, {}, join);
  setup.opensAlone = setup.isOverNetwork = true;
  return setup;
}

std::vector<TransportSetup> networkSetups() {
  datagram::Options tight, ethernet;
  ethernet.packetBytes = 1472;
  tight.packetBytes = 160;
  tight.flightBytes = 1000;
  tight.longestEagerBytes = 128;
  tight.windowBytes = 512;
  tight.fragments = 1;
  std::vector<TransportSetup> all = ofiSetups();
  for (const auto &setups : {tcpSetups(), verbsSetups()})
    all.insert(all.end(), setups.begin(), setups.end());
  all.push_back(onDatagrams("datagramTight", tight));
  all.push_back(onDatagrams("datagramEthernet", ethernet));
  const std::pair<const char *, double> losses[] = {{"datagramLoses1in1000", 0.001},
                                                    {"datagramLoses1", 0.01},
                                                    {"datagramLoses5", 0.05},
                                                    {"datagramLoses20", 0.2}};
  for (auto [name, loss] : losses)
    all.push_back(onDatagrams(name, ethernet, {loss, loss, loss, loss / 10}));
  return all;
}

shm::Options tightOptions() {
  shm::Options options;
  options.arenaBytes = 128 << 10;
  options.singleCopy = shm::SingleCopy::Off;
  return options;
}

protocol::LocalOptions tightProtocol() {
  protocol::LocalOptions options;
  options.fifo.ringBytes = 1024;
  options.rendezvousThresholdBytes = 128;
  options.fragmentBytes = 448;
  options.unexpectedBytes = 256;
  return options;
}

std::vector<TransportSetup> allSetups() {
  fake::Options rendezvous;
  rendezvous.synchronous = true;
  fake::Options strict;
  strict.slotsPerEdge = 2;
  fake::Options gathering;
  gathering.batches = true;
  shm::Options copies;
  copies.singleCopy = shm::SingleCopy::Off;
  shm::Options singleCopy;
  singleCopy.singleCopyMinBytes = 1;
  shm::Options refused = singleCopy;
  refused.singleCopy = shm::SingleCopy::Refused;
  protocol::LocalOptions reading = tightProtocol();
  reading.singleCopyMinBytes = 1;
  Part onFakes = fakePart({}), onLocal = shmPart({}, overLocalEndpoints({}));
  Part onShm = shmPart({}, overShm());
  std::vector<TransportSetup> all = {
      onFake("fake", {}, 10),
      onFake("fakeSynchronous", rendezvous, 3),
      onFake("fakeStrict", strict, 3),
      onFake("fakeGathers", gathering, 3),
      onShmThreads("shmThreads", {}),
      onShmThreads("shmThreadsTight", tightOptions(), tightProtocol()),
      onShmProcesses("shm", copies),
      onShmProcesses("shmTight", tightOptions(), tightProtocol()),
      onShmProcesses("shmCma", singleCopy),
      onShmProcesses("shmCmaRefused", refused),
      onLocalThreads("localThreads", {}, {}),
      onLocalThreads("localThreadsTight", tightOptions(), tightProtocol()),
      onLocalProcesses("local", {}, {}),
      onLocalProcesses("localTight", tightOptions(), tightProtocol()),
      onLocalProcesses("localCma", {}, reading),
      onHybrid("hybridTwoFakes", onFakes, onFakes, false),
      onHybrid("hybridLocalAndFake", onLocal, onFakes, true),
      onHybrid("hybridFakeAndLocal", onFakes, onLocal, true),
      onHybrid("hybridShmAndFake", onShm, onFakes, false),
      onHybrid("hybridLocalAndShm", onLocal, onShm, true)};
  if (ofi::isBuiltIn())
    all.push_back(onNetwork("ofiTcp", ofi::Options()));
  all.push_back(onNetwork("tcp", tcp::Options()));
  if (verbs::whyNot({}).empty())
    all.push_back(onNetwork("verbs", verbs::Options()));
  all.push_back(onDatagrams("datagram", {}));
  all.push_back(onProcesses("datagramAgreed", {}, overAgreedDatagrams({})));
  all.back().isOverNetwork = true;
  return all;
}

bool pollUntil(Channels &channels, std::vector<Completion> &done,
               const std::function<bool()> &condition) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    auto now = channels.poll();
    done.insert(done.end(), now.begin(), now.end());
    if (channels.failed())
      return false;
    if (!now.empty())
      continue;
    if (!channels.check() || std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace colldsl::test
