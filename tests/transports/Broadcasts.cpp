#include "tests/transports/Broadcasts.h"

#include "tests/transports/TransportPair.h"

#include <algorithm>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::vector<std::byte> bytesOf(uint32_t run, uint32_t message, uint64_t size) {
  return makeFrame(run * 1000 + message, size);
}

} // namespace

Broadcasts::Broadcasts(uint32_t ranks, const OptionsOf &optionsOf, const Weather &weather)
    : ranks_(ranks) {
  std::vector<network::RankAddress> rankAddresses;
  for (uint32_t r = 0; r < ranks && trouble.empty(); ++r) {
    One &one = ranks_[r];
    Weather own = weather;
    own.seed = weather.seed * 1000 + r;
    one.calls = std::make_unique<LossyCalls>(own);
    datagram::Options options = optionsOf(Rank{r});
    auto transport = datagram::DatagramTransport::open(Rank{r}, options, *one.calls);
    if (!transport) {
      trouble = transport.message();
      return;
    }
    one.transport = transport->get();
    auto endpoint = protocol::NetworkEndpoint::make(
        Rank{r}, ranks, options, std::unique_ptr<network::Transport>(transport.take()));
    if (!endpoint) {
      trouble = endpoint.message();
      return;
    }
    one.endpoint = endpoint.take();
    rankAddresses.push_back(one.endpoint->rankAddress());
  }
  for (One &one : ranks_)
    if (Status s = one.endpoint->start([rankAddresses](Rank r) -> Result<network::RankAddress> {
          return rankAddresses[index(r)];
        });
        !s)
      trouble = s.message();
}

// Each waits until its peers have taken what it said.
Broadcasts::~Broadcasts() {
  close();
  std::vector<std::thread> threads;
  for (One &one : ranks_)
    threads.emplace_back([&one] { one.endpoint.reset(); });
  for (std::thread &thread : threads)
    thread.join();
}

void Broadcasts::close() {
  for (One &one : ranks_)
    one.channels.reset();
}

bool Broadcasts::open(const std::vector<uint64_t> &sizes, bool isMulticast) {
  sizes_ = sizes;
  std::vector<MessageId> ids;
  for (uint32_t m = 0; m < sizes.size(); ++m)
    ids.push_back(makeMessageId(5, m));
  std::vector<Transfer> ways(sizes.size(), Transfer{.multicast = isMulticast});
  for (uint32_t r = 0; r < numRanks(); ++r) {
    std::vector<EdgeSpec> out, in;
    if (r != 0)
      in.push_back({Rank{0}, ids, ways});
    for (uint32_t peer = 1; r == 0 && peer < numRanks(); ++peer)
      out.push_back({Rank{peer}, ids, ways});
    auto opened = ranks_[r].endpoint->open({out, in});
    if (!opened)
      return false;
    ranks_[r].channels = opened.take();
  }
  return true;
}

void Broadcasts::begin(uint32_t rank, uint32_t run) {
  One &one = ranks_[rank];
  one.pending = one.done = 0;
  one.buffers.clear();
  one.pieces.clear();
  for (uint32_t m = 0; m < sizes_.size(); ++m) {
    one.buffers.push_back(rank == 0 ? bytesOf(run, m, sizes_[m])
                                    : std::vector<std::byte>(sizes_[m], std::byte{9}));
    one.pieces.push_back({one.buffers[m].data(), sizes_[m]});
  }
  one.channels->start();
  for (uint32_t m = 0; m < sizes_.size(); ++m) {
    Payload payload{&one.pieces[m], 1, true, false, sizes_[m]};
    for (uint32_t edge = 0; edge < (rank == 0 ? numRanks() - 1 : 1); ++edge) {
      Posted posted = rank == 0 ? one.channels->send({edge, m}, OpId{m}, payload)
                                : one.channels->recv({edge, m}, OpId{m}, payload);
      one.pending += posted == Posted::Pending;
    }
  }
}

void Broadcasts::poll() {
  if (eachPoll)
    eachPoll();
  for (One &one : ranks_) {
    if (!one.channels || one.channels->failed())
      continue;
    one.done += one.channels->poll().size();
    one.channels->check();
    if (one.channels->failed())
      one.channels->abort(one.channels->fault());
  }
}

bool Broadcasts::membersAreOver(uint32_t butOf) const {
  for (uint32_t r = 1; r < numRanks(); ++r)
    if (r != butOf && ranks_[r].done < ranks_[r].pending)
      return false;
  return true;
}

std::string Broadcasts::check(uint32_t run) const {
  for (uint32_t r = 0; r < numRanks(); ++r) {
    const One &one = ranks_[r];
    std::string who = "rank " + std::to_string(r) + ": ";
    if (one.channels && one.channels->failed())
      return who + one.channels->fault().reason;
    if (one.done < one.pending)
      return who + "stuck in run " + std::to_string(run);
    for (uint32_t m = 0; m < sizes_.size(); ++m)
      if (one.buffers[m] != bytesOf(run, m, sizes_[m]))
        return who + "wrong bytes in message " + std::to_string(m) + " of run " +
               std::to_string(run);
  }
  return "";
}

bool Broadcasts::areOver() const {
  return std::none_of(ranks_.begin(), ranks_.end(), [](const One &one) {
    return one.channels && !one.channels->failed() && one.done < one.pending;
  });
}

std::string Broadcasts::run(uint32_t runs, std::optional<uint32_t> late) {
  auto until = Clock::now() + 60s;
  std::string complaint;
  for (uint32_t i = 0; i < runs && complaint.empty(); ++i, ++runs_) {
    for (uint32_t r = 0; r < numRanks(); ++r)
      if (r != late)
        begin(r, runs_);
    bool isLate = late.has_value();
    while ((isLate || !areOver()) && Clock::now() < until) {
      poll();
      if (isLate && membersAreOver(*late)) {
        begin(*late, runs_);
        isLate = false;
      }
    }
    complaint = check(runs_);
  }
  return complaint;
}

std::string Broadcasts::runAndLeave() {
  begin(0, runs_);
  if (ranks_[0].pending != 0)
    poll();
  if (ranks_[0].done < ranks_[0].pending)
    return "the root has to wait";
  ranks_[0].channels.reset();
  for (uint32_t r = 1; r < numRanks(); ++r)
    begin(r, runs_);
  auto until = Clock::now() + 20s;
  while (!areOver() && Clock::now() < until)
    poll();
  return check(runs_++);
}

bool Broadcasts::waitForGroup(std::chrono::nanoseconds atMost) {
  auto until = Clock::now() + atMost;
  while (!transport(0).multicast()->isReady(0)) {
    if (Clock::now() > until)
      return false;
    poll();
  }
  return true;
}

} // namespace colldsl::test
