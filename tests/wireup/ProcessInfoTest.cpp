// How ranks find the ranks of their own node, and the addresses of the others.
#include "wireup/ProcessInfo.h"
#include "transports/network/AddressExchange.h"
#include "wireup/NetworkSettings.h"
#include "wireup/Nodes.h"
#include "wireup/OobBootstrap.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <thread>

namespace colldsl {
namespace {

Interface at(const char *text) {
  Address address = *readAddress(text);
  return {address, address.isOfIpv4() ? 120u : 64u};
}

/// A rank of a host with these interfaces.
ProcessInfo onHost(const char *boot, std::initializer_list<Interface> interfaces = {}) {
  ProcessInfo rankAddress;
  std::strcpy(rankAddress.boot, boot);
  std::copy(interfaces.begin(), interfaces.end(), rankAddress.interfaces.begin());
  return rankAddress;
}

std::string meetAt(const std::vector<ProcessInfo> &processes) {
  Result<Address> point = reachableAddress(processes, firstOfHosts(processes));
  return point ? inWords(*point) : point.message();
}

TEST(Nodes, AreMachinesAndNamespacesAndRanksInARow) {
  std::vector<ProcessInfo> processes(6, onHost("a"));
  processes[1] = processes[4] = onHost("b");
  processes[5].processNamespace = 7;
  processes[2].networkNamespace = 8;
  using Ranks = std::vector<uint32_t>;
  EXPECT_EQ(firstOfNodes(processes, 0), (Ranks{0, 1, 0, 0, 1, 5}));
  EXPECT_EQ(firstOfNodes(processes, 2), (Ranks{0, 1, 2, 2, 4, 5}));
  EXPECT_EQ(firstOfHosts(processes), (Ranks{0, 1, 2, 0, 1, 0}));
}

// Also those in other namespaces: they share its cores.
TEST(Nodes, OfAMachineAreCountedAcrossNamespaces) {
  Oob oob;
  oob.numRanks = 4;
  oob.allgather = [](const void *mine, void *all, size_t bytes) {
    EXPECT_EQ(bytes, sizeof(ProcessInfo));
    auto *processes = static_cast<ProcessInfo *>(all);
    std::fill_n(processes, 4, *static_cast<const ProcessInfo *>(mine));
    ++processes[1].processNamespace;
    ++processes[2].networkNamespace;
    std::strcpy(processes[3].boot, "another machine");
    return Status();
  };
  EXPECT_EQ(*countOnMachine(oob), 3u);
  oob.allgather = [](const void *, void *, size_t) { return Status::error("no rank came"); };
  EXPECT_EQ(countOnMachine(oob).message(), "no rank came");
}

TEST(Nodes, MeetWithAllRanksOnce) {
  ProcessInfo first = onHost("a", {at("192.168.1.1"), at("172.16.0.1"), at("10.0.0.1")});
  ProcessInfo second = onHost("b", {at("192.168.1.1"), at("10.0.0.2")});
  EXPECT_EQ(meetAt({first, second}), "10.0.0.1");
  EXPECT_EQ(meetAt({first, first, second}), "10.0.0.1");
  // No network has all: the first address that is not taken, and routes.
  EXPECT_EQ(meetAt({first, second, onHost("c", {at("10.9.0.3")})}), "172.16.0.1");
  // Machines with IPv6 alone, or in common.
  ProcessInfo longOnly = onHost("d", {at("fd00::4")});
  EXPECT_EQ(meetAt({onHost("e", {at("fd00::5")}), longOnly}), "fd00::5");
  EXPECT_EQ(meetAt({onHost("e", {at("10.0.0.5"), at("fd01::5"), at("fd00::5")}), longOnly}),
            "fd00::5");
  first = onHost("a", {at("192.168.1.1")});
  std::strcpy(first.host, "lonely");
  EXPECT_EQ(meetAt({first, second}),
            "host lonely of rank 0 has no address for the others to reach");
}

TEST(Interfaces, AreNamedByVariables) {
  const char *variable = "COLLDSL_TEST_BIND";
  std::string bind = "127.0.0.1";
  NetworkSettings settings("test", "", NetworkSettings::From::TextAndEnvironment);
  auto read = [&](const char *text) {
    setenv(variable, text, 1);
    Status status = settings.readBind(variable, bind);
    return status ? std::string() : status.message();
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(bind, "127.0.0.1");
  for (const char *text : {"10.0.0.1", "fd00::1", "10.0.0.0/8", "::/0"}) {
    EXPECT_EQ(read(text), "");
    EXPECT_EQ(bind, text);
  }
  for (const char *wrong : {" ", "localhost", "10.0.0.0/33", "-1"})
    EXPECT_EQ(read(wrong), std::string(variable) + " is '" + wrong +
                               "', which is no address such as 10.0.0.1 or fd00::1, and no network "
                               "such as 10.0.0.0/24");
  for (const char *all : {"0.0.0.0", "::", "239.1.2.3", "255.255.255.255", "ff02::1"})
    EXPECT_EQ(read(all), std::string(variable) + " is '" + all +
                             "', which is not the address of one interface");
  unsetenv(variable);
}

TEST(Interfaces, AreFoundByTheirNetwork) {
  EXPECT_EQ(*addressAt("10.1.2.3"), "10.1.2.3");
  for (const char *wrong :
       {"10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "x/8", "10.0.0.0/8x", "fd00::/129"})
    EXPECT_EQ(addressAt(wrong).message(),
              std::string("'") + wrong + "' is no network such as 10.0.0.0/24 or fd00::/64");
  EXPECT_EQ(addressAt("203.0.113.0/28").message(), "this machine has no address in 203.0.113.0/28");
  for (const Interface &own : ownInterfaces()) {
    std::string address = inWords(own.address);
    EXPECT_EQ(*addressAt(address + (own.address.isOfIpv4() ? "/32" : "/128")), address);
  }
  using Own = OwnInterface;
  std::vector<Own> own{{at("192.0.2.1"), "a0"},
                       {at("10.0.0.1"), "a0"},
                       {at("10.0.0.9"), "a1"},
                       {at("10.0.0.2"), "a1"},
                       {at("10.0.1.3"), "a2"},
                       {at("fd00::3"), "a3"},
                       {{at("10.0.0.4").address, 112}, "a4"}};
  auto namesBeside = [&](const char *address) {
    std::string names;
    for (const Own &one : besides(own, at(address).address))
      names += one.name + " " + inWords(one.address) + " ";
    return names;
  };
  EXPECT_EQ(namesBeside("10.0.0.2"), "a0 10.0.0.1 a1 10.0.0.2 ");
  EXPECT_EQ(namesBeside("10.0.0.1"), "a0 10.0.0.1 a1 10.0.0.9 ");
  EXPECT_EQ(namesBeside("fd00::3"), "a3 fd00::3 ");
  EXPECT_EQ(namesBeside("10.0.0.7"), "");
  EXPECT_EQ(*addressTowards(at("127.0.0.1").address), "127.0.0.1");
}

TEST(Interfaces, ReachAddressesOfTheirSubnet) {
  Interface own{at("10.1.128.1").address, 96 + 17};
  EXPECT_TRUE(own.reaches(at("10.1.255.9").address));
  EXPECT_FALSE(own.reaches(at("10.1.127.9").address));
  EXPECT_FALSE(own.reaches(at("fd00::1").address));
  own = {at("fd00:0:0:8000::1").address, 49};
  EXPECT_TRUE(own.reaches(at("fd00:0:0:ffff::2").address));
  EXPECT_FALSE(own.reaches(at("fd00:0:0:7fff::2").address));
  EXPECT_EQ(inWords(own.address), "fd00:0:0:8000::1");
  EXPECT_EQ(readAddress("10.0.0.256").message(),
            "'10.0.0.256' is not an address such as 10.0.0.1 or fd00::1");
}

/// Threads whose allgather is memory.
class Gathering {
public:
  explicit Gathering(uint32_t numRanks) : numRanks_(numRanks), barrier_(numRanks) {}

  Oob of(uint32_t rank) {
    Oob oob;
    oob.rank = rank;
    oob.numRanks = numRanks_;
    oob.allgather = [this, rank](const void *mine, void *all, size_t bytes) {
      if (rank == 0)
        bytes_.assign(bytes * numRanks_, std::byte{});
      barrier_.arrive_and_wait();
      std::memcpy(bytes_.data() + rank * bytes, mine, bytes);
      most_ = std::max(most_.load(), bytes);
      if (rank == 0) {
        ++calls_;
        told_ += bytes;
      }
      barrier_.arrive_and_wait();
      if (damage_ && bytes > sizeof(uint64_t) && rank == 0)
        std::memset(bytes_.data(), 0xff, bytes);
      barrier_.arrive_and_wait();
      std::memcpy(all, bytes_.data(), bytes_.size());
      barrier_.arrive_and_wait();
      return Status();
    };
    return oob;
  }

  void damage() { damage_ = true; }
  size_t longest() const { return most_; }
  /// Of rank 0, as of any: how often it told something, and how many bytes.
  std::pair<size_t, size_t> told() const { return {calls_, told_}; }

  void run(const std::function<void(Bootstrap &, uint32_t)> &body) {
    std::vector<std::thread> threads;
    for (uint32_t r = 0; r < numRanks_; ++r)
      threads.emplace_back([&, r] {
        Oob oob = of(r);
        OobBootstrap bootstrap(oob);
        body(bootstrap, r);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  uint32_t numRanks_;
  std::barrier<> barrier_;
  std::vector<std::byte> bytes_;
  std::atomic<size_t> most_{0};
  size_t calls_ = 0, told_ = 0;
  bool damage_ = false;
};

std::vector<std::byte> dataFor(uint32_t from, uint32_t to) {
  return std::vector<std::byte>(from * 3 + to, static_cast<std::byte>(16 * from + to));
}

TEST(OobBootstrap, DataReachThoseTheyAreFor) {
  Gathering gathering(4);
  gathering.run([](Bootstrap &bootstrap, uint32_t self) {
    for (int round = 0; round < 2; ++round) {
      std::vector<BootstrapData> out, in;
      for (uint32_t peer = 0; peer < 4; ++peer) {
        if (peer != 2) // rank 2 gets no data
          out.push_back({Rank{peer}, dataFor(self, peer)});
        in.push_back({Rank{3 - peer}, {std::byte{1}}});
      }
      ASSERT_TRUE(bootstrap.exchange(out, in));
      for (const BootstrapData &data : in)
        EXPECT_EQ(data.bytes,
                  self == 2 ? std::vector<std::byte>() : dataFor(index(data.peer), self));
      ASSERT_TRUE(bootstrap.exchange({}, in)); // nothing at all
      EXPECT_TRUE(in[0].bytes.empty());
      ASSERT_TRUE(bootstrap.barrier());
    }
  });
}

TEST(OobBootstrap, DataForAllRanksTravelsOnce) {
  Gathering gathering(8);
  gathering.run([](Bootstrap &bootstrap, uint32_t self) {
    std::vector<BootstrapData> out;
    for (uint32_t peer = 0; peer < 8; ++peer)
      out.push_back({Rank{peer}, dataFor(self, 100)});
    BootstrapData in{Rank{5}, {}};
    ASSERT_TRUE(bootstrap.exchange(out, {&in, 1}));
    EXPECT_EQ(in.bytes, dataFor(5, 100));
  });
  EXPECT_LT(gathering.longest(), 2 * dataFor(7, 100).size());
}

// What a rank has to tell so that all others find it does not grow with their number.
TEST(OobBootstrap, addressesAreExchangedOnce) {
  std::pair<size_t, size_t> toldOfTwo;
  for (uint32_t numRanks : {2u, 8u, 32u}) {
    Gathering gathering(numRanks);
    gathering.run([=](Bootstrap &bootstrap, uint32_t self) {
      network::RankAddress rankAddress;
      rankAddress.token = 1000 + self;
      auto directory = network::exchangeAddresses(bootstrap, rankAddress, numRanks);
      ASSERT_TRUE(directory.ok()) << directory.message();
      for (uint32_t r = 0; r < numRanks; ++r)
        EXPECT_EQ((*directory)(Rank{r})->token, 1000 + r);
    });
    if (numRanks == 2)
      toldOfTwo = gathering.told();
    EXPECT_EQ(gathering.told(), toldOfTwo) << numRanks;
    EXPECT_EQ(gathering.told().first, 2u); // lengths, processes
    EXPECT_LT(gathering.told().second, sizeof(network::RankAddress) + 32);
  }
}

TEST(OobBootstrap, DamagedDataIsRefused) {
  Gathering gathering(2);
  gathering.damage();
  gathering.run([](Bootstrap &bootstrap, uint32_t self) {
    BootstrapData out{Rank{1 - self}, dataFor(1, 9)}, in{Rank{0}, {}};
    Status s = bootstrap.exchange({&out, 1}, {&in, 1});
    EXPECT_EQ(s.message(), "the data of rank 0 over the launcher is damaged");
  });
}

} // namespace
} // namespace colldsl
