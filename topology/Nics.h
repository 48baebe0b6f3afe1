/// Network interfaces of a machine, the places where they are plugged in, and the ranks that take
/// them.
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

/// The names of an interface in libraries and in the kernel.
struct NicName {
  std::string name;
  std::string bus; ///< of its PCI function, by pciName(); empty: not known
};

struct Nic : NicName {
  uint32_t numa = 0; ///< the NUMA node next to it, counted within its node
  /// The threads next to it, then those of each larger part of the machine around these, except the
  /// whole machine. Empty: its place is not known, or does not matter.
  std::vector<Threads> around;
};

/// The interfaces of this machine (empty name), or of one that hwloc exported as XML with its
/// devices.
Result<std::vector<Nic>> discoverNics(const std::string &xmlFile);

/// The number of hardware threads in the smallest part of the machine that holds both the interface
/// and all threads of a rank. Interfaces that only the whole machine holds are equally far.
uint32_t distance(const Nic &nic, const Threads &threads);

/// Per rank of a machine: the index in `nics` of the interface that it takes. `boundThreads` has
/// the threads of each rank. `nics` is not empty.
std::vector<uint32_t> shareNics(std::span<const Nic> nics, std::span<const Threads> boundThreads);

/// The index of the interface that the last rank of `boundThreads` takes, of the named ones of this
/// machine; 0 if `boundThreads` is empty. Looks at the machine once per process, and only if there
/// are two names or more.
uint32_t nearestNic(std::span<const NicName> names, std::span<const Threads> boundThreads);

} // namespace colldsl
