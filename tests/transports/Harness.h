/// Runs one body per rank on any of the transports: as threads of this process or as
/// forked processes.
#pragma once

#include "protocol/fake/FakeWorld.h"
#include "protocol/local/LocalEndpoint.h"
#include "runtime/job/LocalRanks.h"
#include "tests/transports/LossyCalls.h"
#include "transports/datagram/DatagramTransport.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace colldsl::test {

/// What a rank does; empty if all is well, else what is wrong.
using Body = std::function<std::string(Endpoint &)>;

/// How a rank joins the others of a world.
using Attach = std::function<Result<std::unique_ptr<Endpoint>>(shm::World &, Rank)>;
Attach overLocalEndpoints(const protocol::LocalOptions &options);
/// The same with opens that all ranks agree on; without options those of the world.
Attach overShm(const std::optional<protocol::LocalOptions> &options = {});
/// Over datagrams, with opens that all ranks agree on.
Attach overAgreedDatagrams(const datagram::Options &options);

/// A transport and the way in which its ranks run.
struct TransportSetup {
  std::string name;
  /// Empty if no rank complained, else all complaints.
  std::function<std::string(uint32_t numRanks, const Body &)> run;
  bool strict = false;     ///< finite and head-of-line: messages must be received in order
  bool opensAlone = false; ///< as Caps says
  bool isOverNetwork = false;
  bool agreesOnTerms = false; ///< all ranks, when they open
};

/// For the names of tests.
inline void PrintTo(const TransportSetup &setup, std::ostream *out) { *out << setup.name; }

/// Threads on the fake, one after the other on many seeds.
TransportSetup onFake(const std::string &name, const fake::Options &options, uint32_t seeds = 1);
TransportSetup onShmThreads(const std::string &name, const shm::Options &shm,
                            const std::optional<protocol::LocalOptions> &options = {});
TransportSetup onShmProcesses(const std::string &name, const shm::Options &shm,
                              const std::optional<protocol::LocalOptions> &options = {});
TransportSetup onLocalThreads(const std::string &name, const shm::Options &shm,
                              const protocol::LocalOptions &options);
TransportSetup onLocalProcesses(const std::string &name, const shm::Options &shm,
                                const protocol::LocalOptions &options);

/// One of the transports that a hybrid one is made of: makes a world for so many ranks, says how
/// each joins it.
using Part =
    std::function<std::function<Result<std::unique_ptr<Endpoint>>(Rank)>(uint32_t numRanks)>;
Part fakePart(const fake::Options &options);
Part shmPart(const shm::Options &options, const Attach &attach);

/// Threads on two transports: ranks whose numbers differ by an odd number are connected by the
/// second one.
TransportSetup onHybrid(const std::string &name, const Part &even, const Part &odd,
                        bool opensAlone);

/// Processes over datagrams, in this weather.
TransportSetup onDatagrams(const std::string &name, const datagram::Options &options,
                           const Weather &weather = {});

/// Options with small everything, so that all limits are met.
shm::Options tightOptions();
protocol::LocalOptions tightProtocol();

/// The transports that plans run on, each at least once.
std::vector<TransportSetup> allSetups();

/// Other providers of libfabric, that of COLLDSL_OFI_PROVIDER among them, other sizes and weathers,
/// for the contract suite alone.
std::vector<TransportSetup> networkSetups();

/// Runs one body per thread, joins them, gathers the complaints.
std::string runThreads(uint32_t numRanks, const std::function<std::string(Rank)> &body);

std::string runProcesses(const LocalOptions &options, const Body &body);

/// Polls until the condition holds or 20 s have passed; false then, and when the channels
/// failed.
bool pollUntil(Channels &channels, std::vector<Completion> &done,
               const std::function<bool()> &condition);

} // namespace colldsl::test
