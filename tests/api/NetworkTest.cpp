// Ranks of several nodes, over each network; what ranks have to agree on, and what is refused.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <numeric>

namespace colldsl::test {
namespace {

colldsl_options over(const char *network) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.network = network;
  return options;
}

/// The error of a rank that cannot make a communicator.
std::string whyNone(const colldsl_bootstrap &bootstrap, const char *network) {
  coll::Context context(over(network));
  colldsl_comm *comm = nullptr;
  colldsl_status status = colldsl_comm_create(context.get(), &bootstrap, &comm);
  colldsl_comm_destroy(comm);
  return status == COLLDSL_ERROR_SETUP ? colldsl_last_error() : "it worked";
}

/// Four ranks on two nodes. The parameter is the text of a network.
class ApiNetwork : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    setenv("COLLDSL_RANKS_PER_NODE", "2", 1);
    std::string why = launch(2, [](const colldsl_bootstrap &bootstrap) -> std::string {
      setenv("COLLDSL_RANKS_PER_NODE", "1", 1);
      std::string why = whyNone(bootstrap, GetParam());
      return why == "it worked" ? "" : why;
    });
    if (!why.empty())
      GTEST_SKIP() << why;
  }
  void TearDown() override { unsetenv("COLLDSL_RANKS_PER_NODE"); }
};

std::string sumsAndSends(coll::Communicator &comm) {
  for (size_t count : {size_t{1}, size_t{1000}, size_t{100000}}) {
    std::vector<int64_t> x(count, comm.rank() + 1), y(count), z(count);
    if (comm.rank() == 3)
      std::iota(z.begin(), z.end(), 7);
    coll::Plan sum(comm, "allreduce"), bcast(comm, "bcast");
    sum.type<int64_t>().count(count).input("x", x).bind("y", y).commit();
    bcast.type<int64_t>().count(count).set("root", 3).bind("buf", z).commit();
    for (int run = 0; run < 3; ++run) {
      sum.run(20);
      bcast.run(20);
    }
    if (std::count(y.begin(), y.end(), 10) != static_cast<ptrdiff_t>(count))
      return "the sum is " + std::to_string(y[0]);
    if (z.front() != 7 || z.back() != static_cast<int64_t>(count) + 6)
      return "the broadcast is " + std::to_string(z.back());
  }
  return "";
}

TEST_P(ApiNetwork, connectsNodes) {
  EXPECT_EQ(launch(4,
                   [](const colldsl_bootstrap &bootstrap) -> std::string {
                     coll::Context context(over(GetParam()));
                     coll::LaunchedCommunicator comm(context, bootstrap);
                     return sumsAndSends(comm);
                   }),
            "");
}

// The network of the environment, which a program does not choose.
TEST_P(ApiNetwork, isNamedByTheEnvironment) {
  setenv("COLLDSL_NETWORK", GetParam(), 1);
  EXPECT_EQ(launch(4,
                   [](const colldsl_bootstrap &bootstrap) -> std::string {
                     coll::Context context;
                     coll::LaunchedCommunicator comm(context, bootstrap);
                     return sumsAndSends(comm);
                   }),
            "");
  unsetenv("COLLDSL_NETWORK");
}

TEST_P(ApiNetwork, survivorsLearnOfADeath) {
  std::string said = launch(4, [](const colldsl_bootstrap &bootstrap) -> std::string {
    coll::Context context(over(GetParam()));
    coll::LaunchedCommunicator comm(context, bootstrap);
    std::vector<int32_t> buffer(10);
    coll::Plan bcast(comm, "bcast");
    bcast.count(buffer.size()).set("root", 2).bind("buf", buffer).commit();
    bootstrap.barrier(bootstrap.user); // a commit would notice the death, too
    if (comm.rank() == 2)
      raise(SIGKILL);
    colldsl_status status = colldsl_plan_start(bcast.get()); // may know already
    if (status == COLLDSL_OK)
      status = colldsl_plan_wait(bcast.get(), 20);
    std::string why = colldsl_last_error();
    return status == COLLDSL_ERROR_RUN && why.find("rank 2 died") == 0 ? "" : why;
  });
  EXPECT_EQ(said, "rank 2: killed by signal 9\n");
}

INSTANTIATE_TEST_SUITE_P(Over, ApiNetwork,
                         ::testing::Values("ofi", "verbs", "datagram", "datagram{multicast=0}",
                                           "tcp"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

std::string refusal(const char *network) {
  colldsl_options options = over(network);
  colldsl_context *context = nullptr;
  colldsl_status status = colldsl_context_create(&options, &context);
  colldsl_context_destroy(context);
  return status == COLLDSL_ERROR_ARGUMENT ? colldsl_last_error() : "it worked";
}

TEST(ApiNetworks, areNamedRight) {
  EXPECT_EQ(refusal("pigeons"), "there is no network 'pigeons'; there are ofi, verbs, datagram, "
                                "tcp, and for MPI programs mpi");
  EXPECT_EQ(refusal("mpi"),
            "there is no network 'mpi'; there are ofi, verbs, datagram, tcp, and for "
            "MPI programs mpi");
  EXPECT_EQ(refusal(""), "there is no network ''; there are ofi, verbs, datagram, tcp, and for MPI "
                         "programs mpi");
  EXPECT_EQ(refusal("ofi{provider=tcp"),
            "'ofi{provider=tcp': the options of the network do not end with '}'");
  EXPECT_EQ(refusal("verbs{devcie=x}"), "the network verbs has no option 'devcie'; it has device, "
                                        "bind, port, gid, in-order");
  EXPECT_EQ(refusal("verbs{device}"), "the option 'device' of the network verbs has no value");
  EXPECT_EQ(refusal("ofi{domain=a,domain=b}"),
            "the option 'domain' of the network ofi is given twice");
  EXPECT_EQ(refusal("verbs{port=x}"),
            "the option 'port' of the network verbs is 'x', which is no number up to 255");
  EXPECT_EQ(refusal("datagram{multicast=yes}"),
            "the option 'multicast' of the network datagram is 'yes', which is neither 0 nor 1");
  EXPECT_EQ(refusal("datagram{bind=0.0.0.0}"), "the option 'bind' of the network datagram is "
                                               "'0.0.0.0', which is not the address of one "
                                               "interface");
  EXPECT_EQ(refusal(("ofi{provider=" + std::string(65, 'x') + "}").c_str()),
            "libfabric has no provider whose name is longer than 64 bytes");
  EXPECT_EQ(refusal("ofi{}"), "it worked");
}

/// What each of four ranks on two nodes says that has the network of `networkOf`.
std::string eachSays(const char *(*networkOf)(uint32_t rank)) {
  setenv("COLLDSL_RANKS_PER_NODE", "2", 1);
  static const char *(*of)(uint32_t);
  of = networkOf;
  std::string said = launch(
      4, [](const colldsl_bootstrap &bootstrap) { return whyNone(bootstrap, of(bootstrap.rank)); });
  unsetenv("COLLDSL_RANKS_PER_NODE");
  return said;
}

std::string onAllRanks(const std::string &text) {
  std::string all;
  for (int r = 0; r < 4; ++r)
    all += "rank " + std::to_string(r) + ": " + text + "\n";
  return all;
}

TEST(ApiNetworks, areTheSameOnAllRanks) {
  EXPECT_EQ(eachSays([](uint32_t rank) { return rank == 2 ? "datagram" : "ofi"; }),
            onAllRanks("rank 0 and rank 2 disagree on the network: ofi{provider=tcp} on rank 0, "
                       "datagram{multicast=1} on rank 2"));
  EXPECT_EQ(
      eachSays([](uint32_t rank) { return rank == 3 ? "datagram{multicast=0}" : "datagram"; }),
      onAllRanks("rank 0 and rank 3 disagree on the network: datagram{multicast=1} on rank "
                 "0, datagram{multicast=0} on rank 3"));
  EXPECT_EQ(eachSays([](uint32_t rank) { return rank == 1 ? "ofi{provider=net}" : "ofi"; }),
            onAllRanks("rank 0 and rank 1 disagree on the network: ofi{provider=tcp} on rank 0, "
                       "ofi{provider=net} on rank 1"));
}

TEST(ApiNetworks, areRefusedOnAllRanks) {
  EXPECT_EQ(eachSays([](uint32_t rank) -> const char * {
              if (rank == 1)
                setenv("COLLDSL_NETWORK", "pigeons", 1);
              return nullptr;
            }),
            onAllRanks("rank 1: COLLDSL_NETWORK: there is no network 'pigeons'; there are ofi, "
                       "verbs, datagram, tcp, and for MPI programs mpi"));
  std::string said = eachSays([](uint32_t) { return "verbs{device=pigeon0}"; });
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 4) << said;
  EXPECT_EQ(said.find("it worked"), said.npos) << said;
  // The rank that cannot open its network has the reason, the others the rank, too.
  said = eachSays(
      [](uint32_t rank) { return rank == 1 ? "datagram{bind=198.51.100.7}" : "datagram"; });
  std::string why = "cannot bind a socket at 198.51.100.7: Cannot assign requested address\n";
  EXPECT_EQ(said, "rank 0: rank 1: " + why + "rank 1: " + why + "rank 2: rank 1: " + why +
                      "rank 3: rank 1: " + why);
}

// Rules choose multicast where the network has it, and all ranks do so alike.
TEST(ApiNetworks, multicastIsChosenWhereThereIsSome) {
  setenv("COLLDSL_RANKS_PER_NODE", "1", 1);
  for (const char *network : {"datagram", "datagram{multicast=0}"}) {
    static const char *text;
    text = network;
    EXPECT_EQ(launch(4,
                     [](const colldsl_bootstrap &bootstrap) -> std::string {
                       coll::Context context(over(text));
                       coll::LaunchedCommunicator comm(context, bootstrap);
                       std::vector<int32_t> buffer(5000, comm.rank() == 0 ? 7 : 0);
                       coll::Plan bcast(comm, "bcast");
                       bcast.count(buffer.size()).bind("buf", buffer).commit();
                       for (int run = 0; run < 20; ++run)
                         bcast.run(20);
                       bool isRight = std::count(buffer.begin(), buffer.end(), 7) == 5000;
                       std::string chosen = colldsl_plan_collective(bcast.get());
                       bool isMulticast = chosen == "bcast_multicast_hierarchical";
                       bool isWanted = std::string(text) == "datagram";
                       return isRight && isMulticast == isWanted ? "" : chosen;
                     }),
              "");
  }
  unsetenv("COLLDSL_RANKS_PER_NODE");
}

} // namespace
} // namespace colldsl::test
