/// Network interfaces of a machine, where they are plugged in, and which rank takes which.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace colldsl {

/// Hardware threads by the kernel's numbers, ascending.
using Threads = std::vector<uint32_t>;

/// "0000:81:00.0"
std::string pciName(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function);

/// As libraries and the kernel name an interface.
struct NicName {
  std::string name;
  std::string bus; ///< of its PCI function, by pciName(); empty: not known
};

struct Nic : NicName {
  uint32_t numa = 0; ///< the NUMA node next to it, counted within its node
  /// The threads next to it, then those of each larger part of the machine around these, but for
  /// all of it. Empty: where it is plugged in is not known, or does not matter.
  std::vector<Threads> around;
};

/// Of this machine (empty name), or of one that hwloc exported as XML with its devices.
Result<std::vector<Nic>> discoverNics(const std::string &xmlFile);

/// How many hardware threads the smallest part of the machine has that holds both the interface
/// and all threads of a rank. All that only the whole machine holds are equally far.
uint32_t distance(const Nic &nic, const Threads &threads);

/// Per rank of a machine, of which `boundThreads` has the threads: the place in `nics` of the one
/// it takes. `nics` is not empty.
std::vector<uint32_t> shareNics(std::span<const Nic> nics, std::span<const Threads> boundThreads);

/// The place of the interface that the last rank of `boundThreads` takes, of some of this machine;
/// 0 if `boundThreads` is empty. Looks at the machine once in a process, and only if there are two
/// or more.
uint32_t nearestNic(std::span<const NicName> names, std::span<const Threads> boundThreads);

} // namespace colldsl
