// The results of a run: times, or the ops that could not run.
#include "ir/Concat.h"
#include "simulator/EventLoop.h"

#include <algorithm>

namespace colldsl::sim {
namespace {

constexpr uint64_t kLatestNs = uint64_t{1} << 61; ///< 73 years; sums of two do not overflow
constexpr size_t kMaxRootNotes = 10;

Status checkNetwork(const Workload &workload, const SimulateOptions &options) {
  const NetworkOptions &network = options.network;
  if (network.kind == NetworkOptions::Kind::None)
    return {};
  uint32_t nodes = options.topology ? options.topology->numGroups(Level::Node) : 1;
  if (nodes > network.numNodes())
    return Status::error(concat("network: it has ", network.numNodes(), " nodes, the ",
                                workload.numRanks(), " ranks sit on ", nodes));
  if (nodes == 1 && workload.numRanks() > 1)
    return Diagnostic::error({}, "network: all ranks sit on one node",
                             "--topology says where they sit, such as 'node:16 core:4'");
  return {};
}

/// The factor by which detours stretch longer work at most; for random ones with a probability that
/// never fails.
uint64_t noiseStretch(const NoiseOptions &noise) {
  uint64_t busy = noise.lengthNs;
  for (const Detour &detour : noise.trace)
    busy += detour.lengthNs;
  uint64_t work = noise.periodNs;
  if (noise.kind != NoiseOptions::Kind::Random)
    work -= busy;
  return 64 * (1 + busy / work);
}

} // namespace

/// An error if times may overflow. No path is longer than all work one after the other.
template <bool kPlain> Status Engine<kPlain>::checkTimes() const {
  LogGop most;
  most = {0, 0, 0, PerByte(), PerByte(), 0, 0};
  auto include = [&](const LogGop &p) {
    most = {std::max(most.L, p.L),          std::max(most.o, p.o), std::max(most.g, p.g),
            std::max(most.G, p.G),          std::max(most.O, p.O), 0,
            std::max(most.notice, p.notice)};
  };
  for (unsigned d = 0; d <= kMaxDistance; ++d) {
    include(model_.distances[d]);
    for (const FromBytes<LogGop> &next : model_.longer[d])
      include(next.costs);
  }
  auto scaled = [](UInt128 bytes, PerByte rate) {
    // A sum of more than 2^64 bytes at a rate of 1 is too large anyway.
    UInt128 perByte = static_cast<UInt128>(rate.ns()) + 1;
    return bytes > kLatestNs ? UInt128{kLatestNs} * 2 : bytes * perByte;
  };
  UInt128 total = workload_.calcNs + options_.skewNs;
  total +=
      UInt128{workload_.messages} * (3 * UInt128{most.o} + 2 * most.L + 2 * most.g + most.notice);
  constexpr unsigned kEnds = 2; // the processors and interfaces of both take their time per byte
  total += (scaled(workload_.bytes, most.G) + scaled(workload_.bytes, most.O)) * kEnds;
  total += UInt128{workload_.messages} * model_.node.g * kEnds +
           scaled(workload_.bytes, model_.node.G) * kEnds;
  if (const NetworkOptions &network = options_.network; network_) {
    uint64_t mostHops = network.numNodes() + 2 * network.dims.size() + 2;
    total += scaled(workload_.bytes, network.slowestG()) * 64 * kEnds +
             UInt128{workload_.messages} * network.hopNs * mostHops;
  }
  UInt128 stretch = noise_ ? noiseStretch(options_.noise) : 1;
  if (total > kLatestNs || total * stretch > kLatestNs)
    return Status::error(concat("all ops one after the other would take more than ", kLatestNs,
                                " ns, which is longer than can be counted"));
  return {};
}

template <bool kPlain> Result<Outcome> Engine<kPlain>::outcome() {
  Outcome outcome;
  outcome.finish.resize(hosts_);
  for (uint32_t h = 0; h < hosts_; ++h)
    outcome.finish[h] = *std::max_element(clocksOf(h), clocksOf(h) + cpus_);
  for (uint64_t time : outcome.finish)
    outcome.makespan = std::max(outcome.makespan, time);
  outcome.ops = started_;
  outcome.messages = received_;
  outcome.events = outcome.ops + outcome.messages;
  if (recorder_)
    outcome.recording = recorder_->take();
  if (network_)
    outcome.links = network_->loads();
  return outcome;
}

template <bool kPlain> bool Engine<kPlain>::isMessageLeft() const {
  return std::any_of(tags_.begin(), tags_.end(),
                     [](const auto &host) { return !host.second.messages.empty(); });
}

/// The ops that cause the deadlock: those that ran and are not done, and messages without a
/// receive. The others wait for these.
template <bool kPlain> Status Engine<kPlain>::stuck() const {
  std::vector<Diagnostic> found;
  uint64_t roots = 0;
  auto tell = [&](uint32_t vertex, const std::string &why) {
    if (++roots <= kMaxRootNotes)
      found.push_back(
          Diagnostic::note(locOf(workload_, vertex), concat(nameOf(workload_, vertex), " ", why)));
  };
  for (uint32_t h = 0; h < hosts_; ++h)
    for (uint32_t op = 0; op < workload_.ranks[h].count; ++op) {
      uint32_t i = workload_.ranks[h].at(op);
      const Vertex &v = vertices_[i];
      if (v.isByTag)
        continue;
      if (v.kind == VertexKind::Recv && v.isStarted && !v.hasArrived &&
          !vertices_[v.partner].isStarted)
        tell(i, "waits for a message whose send never started");
      if (v.kind == VertexKind::Send && v.isStarted && !vertices_[v.partner].isStarted &&
          (isLong(v, costs(v)) || v.way == Way::Reader || awaitsReceive(v.way)))
        tell(i, "waits for its receive, which never started");
    }
  for (uint32_t h = 0; h < hosts_; ++h) {
    auto host = tags_.find(h);
    if (host == tags_.end())
      continue;
    for (const TagEnd &end : host->second.receives.inOrder())
      tell(end.vertex, "waits for a message that never came");
    for (const TagEnd &end : host->second.messages.inOrder())
      tell(end.vertex, "sent a message that is never received");
  }
  uint64_t left = workload_.numOps - finished_;
  Diagnostic error =
      Diagnostic::error({}, left > 0 ? concat("deadlock at ", now_, " ns: ", left, " of ",
                                              workload_.numOps, " ops cannot finish")
                                     : concat("a message is never received"));
  error.notes = std::move(found);
  if (roots > kMaxRootNotes)
    error.notes.push_back(Diagnostic::note({}, concat("and ", roots - kMaxRootNotes, " more")));
  return error;
}

template <bool kPlain>
typename Recorder::Use Engine<kPlain>::useOf(uint32_t host, Ports p, bool isRecv) {
  size_t processor = size_t{host} * stride_ + p.cpu;
  size_t gap = size_t{host} * stride_ + cpus_ + (isRecv ? nics_ : 0) + p.nic;
  return {host, processor, clocks_[processor], gap, clocks_[gap]};
}

template class Engine<true>;
template class Engine<false>;

Result<Outcome> simulate(Workload &workload, const SimulateOptions &options) {
  if (Status s = checkNoise(options.noise); !s)
    return s;
  if (Status s = checkNetwork(workload, options); !s)
    return s;
  if (isPlain(workload, options))
    return Engine<true>(workload, options).run();
  return Engine<false>(workload, options).run();
}

} // namespace colldsl::sim
