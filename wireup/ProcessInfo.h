/// The facts that each process sends all others of itself, and conclusions from all of these.
#pragma once

#include "wireup/Interfaces.h"
#include "wireup/Oob.h"

#include <array>
#include <sched.h>
#include <span>
#include <string_view>
#include <vector>

namespace colldsl {

struct ProcessInfo {
  uint32_t numRanks = 0;
  int32_t process = 0;
  int32_t descriptor = -1;   ///< of the memory that it made
  uint32_t ranksPerNode = 0; ///< at most, by this rank's settings; 0: as many as share memory
  uint64_t processNamespace = 0;
  uint64_t networkNamespace = 0;
  uint64_t profile = 0; ///< of its machine profile's decisions; 0: it has none
  char host[65] = {};
  char boot[37] = {};     ///< the machine, since it was started
  char trouble[160] = {}; ///< empty: none
  char network[96] = {};  ///< by which it reaches other nodes, in words; alike on all ranks
  cpu_set_t allowed = {};
  std::array<Interface, 8> interfaces = {}; ///< none: zeros
};

/// The facts of this process.
ProcessInfo ownProcessInfo(const Oob &oob);

/// True if both are on one machine, perhaps as hosts of their own.
bool isSameMachine(const ProcessInfo &a, const ProcessInfo &b);

/// The number of processes that share the cores of rank `self`, it included.
uint32_t countOnMachine(std::span<const ProcessInfo> processes, uint32_t self);

void noteTrouble(ProcessInfo &info, std::string_view text);
void noteNetwork(ProcessInfo &info, std::string_view words);

/// Collective. Fetches the facts of the processes of all ranks.
Status exchangeProcessInfo(const Oob &oob, const ProcessInfo &mine,
                           std::vector<ProcessInfo> &processes);

/// An error: these ranks cannot work together, for this reason. All of them get the same answer.
Status compare(std::span<const ProcessInfo> processes);

/// By rank, the first one of its node: the ranks that share its memory and, unless ranksPerNode is
/// 0, are of the same `ranksPerNode` ranks in a row.
std::vector<uint32_t> firstOfNodes(std::span<const ProcessInfo> processes, uint32_t ranksPerNode);

/// Variant of firstOfNodes() for hosts: machines with addresses of their own.
std::vector<uint32_t> firstOfHosts(std::span<const ProcessInfo> processes);

/// The address of rank 0 at which the others reach it.
/// Example: 192.168.1.1/24 and 10.0.0.1/24, but the other host has 192.168.1.1/24 and 10.0.0.2/24:
/// it is 10.0.0.1, for both have 192.168.1.1, where neither finds the other.
Result<Address> reachableAddress(std::span<const ProcessInfo> processes,
                                 std::span<const uint32_t> hosts);

} // namespace colldsl
