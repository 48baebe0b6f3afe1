#include "wireup/ProcessInfo.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl {
namespace {

// Leaves the id empty if the kernel does not show it: then hosts are known by their names.
void readBootId(ProcessInfo &info) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ssize_t length = read(file, info.boot, sizeof info.boot - 1);
  close(file);
  info.boot[std::max<ssize_t>(length, 0)] = '\0';
}

template <size_t N> void copyText(std::string_view text, char (&to)[N]) {
  size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

uint64_t namespaceAt(const char *path) {
  struct stat space {};
  return stat(path, &space) == 0 ? space.st_ino : 0;
}

/// By rank, the first rank that is together with it, by `areTogether` of two ranks.
template <typename Together>
std::vector<uint32_t> firstOf(std::span<const ProcessInfo> processes, Together areTogether) {
  std::vector<uint32_t> first, leaders;
  for (uint32_t r = 0; r < processes.size(); ++r) {
    auto at = std::find_if(leaders.begin(), leaders.end(),
                           [&](uint32_t leader) { return areTogether(leader, r); });
    if (at == leaders.end())
      at = leaders.insert(at, r);
    first.push_back(*at);
  }
  return first;
}

bool has(const ProcessInfo &info, auto condition) {
  return std::any_of(info.interfaces.begin(), info.interfaces.end(), [&](const Interface &own) {
    return own.address != Address() && condition(own);
  });
}

} // namespace

bool isSameMachine(const ProcessInfo &a, const ProcessInfo &b) {
  return std::strcmp(a.boot, b.boot) == 0 && (a.boot[0] || std::strcmp(a.host, b.host) == 0);
}

uint32_t countOnMachine(std::span<const ProcessInfo> processes, uint32_t self) {
  return static_cast<uint32_t>(
      std::count_if(processes.begin(), processes.end(),
                    [&](const ProcessInfo &info) { return isSameMachine(info, processes[self]); }));
}

ProcessInfo ownProcessInfo(const Oob &oob) {
  ProcessInfo info;
  info.numRanks = oob.numRanks;
  info.process = getpid();
  gethostname(info.host, sizeof info.host - 1);
  readBootId(info);
  info.processNamespace = namespaceAt("/proc/self/ns/pid");
  info.networkNamespace = namespaceAt("/proc/self/ns/net");
  sched_getaffinity(0, sizeof info.allowed, &info.allowed);
  return info;
}

void noteTrouble(ProcessInfo &info, std::string_view text) { copyText(text, info.trouble); }

void noteNetwork(ProcessInfo &info, std::string_view words) { copyText(words, info.network); }

Status exchangeProcessInfo(const Oob &oob, const ProcessInfo &mine,
                           std::vector<ProcessInfo> &processes) {
  processes.resize(oob.numRanks);
  if (Status s = oob.allgather(&mine, processes.data(), sizeof mine); !s)
    return s;
  for (ProcessInfo &info : processes) { // what another process wrote
    info.host[sizeof info.host - 1] = info.boot[sizeof info.boot - 1] = '\0';
    info.trouble[sizeof info.trouble - 1] = info.network[sizeof info.network - 1] = '\0';
  }
  return {};
}

Status compare(std::span<const ProcessInfo> processes) {
  for (uint32_t r = 0; r < processes.size(); ++r) {
    if (processes[r].trouble[0])
      return Status::error(concat("rank ", r, ": ", processes[r].trouble));
    if (processes[r].numRanks != processes[0].numRanks)
      return Status::error(concat("rank 0 says that there are ", processes[0].numRanks,
                                  " ranks, rank ", r, " says ", processes[r].numRanks));
    if (std::strcmp(processes[r].network, processes[0].network) != 0)
      return Status::error(concat("rank 0 and rank ", r,
                                  " disagree on the network: ", processes[0].network,
                                  " on rank 0, ", processes[r].network, " on rank ", r));
  }
  return {};
}

std::vector<uint32_t> firstOfNodes(std::span<const ProcessInfo> processes, uint32_t ranksPerNode) {
  return firstOf(processes, [&](uint32_t a, uint32_t b) {
    return isSameMachine(processes[a], processes[b]) &&
           processes[a].processNamespace == processes[b].processNamespace &&
           (ranksPerNode == 0 || a / ranksPerNode == b / ranksPerNode);
  });
}

std::vector<uint32_t> firstOfHosts(std::span<const ProcessInfo> processes) {
  return firstOf(processes, [&](uint32_t a, uint32_t b) {
    return isSameMachine(processes[a], processes[b]) &&
           processes[a].networkNamespace == processes[b].networkNamespace;
  });
}

// The first address that no other host has, and in whose network all hosts are. If there is none,
// the first that no other host has: routes must lead there.
Result<Address> reachableAddress(std::span<const ProcessInfo> processes,
                                 std::span<const uint32_t> hosts) {
  Address routed;
  for (const Interface &mine : processes[0].interfaces) {
    bool isUnique = mine.address != Address(), isCommon = true;
    for (uint32_t r = 0; r < processes.size() && isUnique; ++r) {
      if (hosts[r] == hosts[0])
        continue;
      isUnique = !has(processes[r], [&](const auto &own) { return own.address == mine.address; });
      isCommon =
          isCommon && has(processes[r], [&](const auto &own) { return mine.reaches(own.address); });
    }
    if (isUnique && isCommon)
      return mine.address;
    if (isUnique && routed == Address())
      routed = mine.address;
  }
  if (routed != Address())
    return routed;
  return Status::error(
      concat("host ", processes[0].host, " of rank 0 has no address for the others to reach"));
}

} // namespace colldsl
