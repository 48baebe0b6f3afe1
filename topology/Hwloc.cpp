// hwloc stays in this file.
#include "topology/Machine.h"
#include "topology/MachineProfile.h"
#include "topology/Nics.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <hwloc.h>
#include <memory>

namespace colldsl {

namespace {

struct Destroy {
  void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, Destroy>;

/// Flags for this machine. By default hwloc would move this thread to each hardware thread in turn,
/// and wait wherever a program spins. Linux describes the machine as well.
constexpr unsigned long kHere =
    HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
/// The part of this machine that the process may use, by its cgroup and its CPU binding.
constexpr unsigned long kAllowed = kHere | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING;
constexpr unsigned long kWhole = kHere | HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

// Linux itself reports all devices. libpciaccess would report the same, and leak memory; the other
// components would load drivers of graphics, and ask X servers. A component that hwloc does not
// have cannot be left out, which is no error.
void leaveOutComponents(hwloc_topology_t topology) {
  for (const char *name : {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"})
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, name);
}

Result<HwlocTopology> load(const std::string &xmlFile, unsigned long flags,
                           bool withDevices = false) {
  std::string what = xmlFile.empty() ? "this machine" : "'" + xmlFile + "'";
  auto failed = [&] {
    return Status::error("topology: hwloc cannot read " + what + ": " + std::strerror(errno));
  };
  std::error_code error;
  if (std::filesystem::exists(xmlFile, error) && !std::filesystem::is_regular_file(xmlFile, error))
    return Status::error("topology: cannot read " + what + ": it is not an ordinary file");
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return failed();
  HwlocTopology topology(raw);
  if (!xmlFile.empty() && hwloc_topology_set_xml(raw, xmlFile.c_str()) != 0)
    return failed();
  if (xmlFile.empty() && hwloc_topology_set_flags(raw, flags) != 0)
    return failed();
  if (withDevices)
    leaveOutComponents(raw);
  if (withDevices && hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0)
    return failed();
  if (hwloc_topology_load(raw) != 0)
    return failed();
  return topology;
}

hwloc_obj_t outermostCache(hwloc_obj_t pu) {
  hwloc_obj_t found = nullptr;
  for (hwloc_obj_t at = pu->parent; at; at = at->parent)
    if (hwloc_obj_type_is_dcache(at->type))
      found = at;
  return found;
}

/// The board of a thread. hwloc has no boards; the largest groups of packages stand for them.
hwloc_obj_t board(hwloc_topology_t topology, hwloc_obj_t pu) {
  hwloc_obj_t found = nullptr;
  hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
  for (hwloc_obj_t at = package; at; at = at->parent)
    if (at->type == HWLOC_OBJ_GROUP)
      found = at;
  return found;
}

/// The closest memory of a thread. Where several are equally close (DRAM and
/// high-bandwidth memory), the first.
uint32_t numaNode(hwloc_topology_t topology, hwloc_obj_t pu) {
  hwloc_obj_t found = nullptr;
  for (hwloc_obj_t at = nullptr;
       (at = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, at));)
    if (hwloc_bitmap_isset(at->cpuset, pu->os_index) &&
        (!found || hwloc_bitmap_weight(at->cpuset) < hwloc_bitmap_weight(found->cpuset)))
      found = at;
  return found ? found->logical_index : 0;
}

/// Numbers the objects above successive threads. Threads come in hwloc's logical order,
/// in which those below one object are neighbours. Without an object above them,
/// threads count as below a common one, or each as below its own.
class Numbering {
public:
  explicit Numbering(bool alone) : alone_(alone) {}
  uint32_t next(hwloc_obj_t object) {
    if (first_ || object != last_ || (!object && alone_))
      ++count_;
    first_ = false;
    last_ = object;
    return count_ - 1;
  }

private:
  bool alone_;
  bool first_ = true;
  hwloc_obj_t last_ = nullptr;
  uint32_t count_ = 0;
};

Threads threadsOf(hwloc_const_cpuset_t set) {
  Threads threads;
  for (int pu = hwloc_bitmap_first(set); pu >= 0; pu = hwloc_bitmap_next(set, pu))
    threads.push_back(static_cast<uint32_t>(pu));
  return threads;
}

std::vector<Threads> partsAround(hwloc_topology_t topology, hwloc_obj_t beside) {
  std::vector<Threads> around;
  hwloc_const_cpuset_t all = hwloc_get_root_obj(topology)->cpuset;
  for (; !hwloc_bitmap_isequal(beside->cpuset, all); beside = beside->parent)
    if (Threads part = threadsOf(beside->cpuset); around.empty() || around.back() != part)
      around.push_back(std::move(part));
  return around;
}

/// "0000:81:00.0", if the device is plugged into PCI.
std::string busOf(hwloc_obj_t device) {
  while (device && device->type != HWLOC_OBJ_PCI_DEVICE)
    device = device->parent;
  if (!device)
    return "";
  const auto &pci = device->attr->pcidev;
  return pciName(pci.domain, pci.bus, pci.dev, pci.func);
}

Nic nicOf(hwloc_topology_t topology, hwloc_obj_t device) {
  Nic nic;
  nic.name = device->name ? device->name : "unnamed";
  nic.bus = busOf(device);
  hwloc_obj_t beside = hwloc_get_non_io_ancestor_obj(topology, device);
  nic.around = partsAround(topology, beside);
  for (hwloc_obj_t memory = nullptr;
       (memory = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, memory));)
    if (hwloc_bitmap_intersects(memory->cpuset, beside->cpuset)) {
      nic.numa = memory->logical_index;
      break;
    }
  return nic;
}

Result<std::vector<Place>> placesOf(hwloc_topology_t topology) {
  Numbering boards(false), sockets(false), caches(true), cores(true);
  auto above = [&](hwloc_obj_type_t type, hwloc_obj_t pu) {
    return hwloc_get_ancestor_obj_by_type(topology, type, pu);
  };
  std::vector<Place> places;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
    hwloc_obj_t core = above(HWLOC_OBJ_CORE, pu);
    hwloc_obj_t cache = outermostCache(pu);
    Place place;
    place.board = boards.next(board(topology, pu));
    place.socket = sockets.next(above(HWLOC_OBJ_PACKAGE, pu));
    place.numa = place.numaOfNode = numaNode(topology, pu);
    place.cache = caches.next(cache ? cache : core);
    place.core = cores.next(core);
    place.pu = pu->os_index;
    places.push_back(place);
  }
  if (places.empty())
    return Status::error("topology: hwloc sees no hardware threads");
  return places;
}

/// This machine in full, beyond the part that the process may use.
struct WholeNode {
  Result<std::vector<Place>> places;
  std::string processor; ///< its model
};

// hwloc knows the model from /proc/cpuinfo, or from the processor itself.
WholeNode discoverThisMachine() {
  Result<HwlocTopology> loaded = load("", kWhole);
  if (!loaded)
    return {loaded.status(), ""};
  hwloc_topology_t topology = loaded->get();
  hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
  hwloc_obj_t known = package ? package : hwloc_get_root_obj(topology);
  WholeNode node{placesOf(topology), ""};
  if (const char *model = hwloc_obj_get_info_by_name(known, "CPUModel"))
    node.processor = model;
  node.processor.erase(node.processor.find_last_not_of(' ') + 1); // some are padded
  return node;
}

// hwloc reads hundreds of files.
const WholeNode &wholeNode() {
  static const WholeNode node = discoverThisMachine();
  return node;
}

} // namespace

Result<std::vector<Place>> discoverNode(const std::string &xmlFile) {
  Result<HwlocTopology> loaded = load(xmlFile, kAllowed);
  if (!loaded)
    return loaded.status();
  return placesOf(loaded->get());
}

Result<MachineFingerprint> fingerprintOfThisMachine() {
  const WholeNode &node = wholeNode();
  if (!node.places)
    return node.places.status();
  MachineFingerprint machine;
  machine.processor = node.processor;
  machine.cores = node.places->back().core + 1;
  machine.topologyHash = Topology::fromPlaces(*node.places).hash();
  return machine;
}

Result<std::vector<Nic>> discoverNics(const std::string &xmlFile) {
  Result<HwlocTopology> loaded = load(xmlFile, kWhole, true);
  if (!loaded)
    return loaded.status();
  hwloc_topology_t topology = loaded->get();
  std::vector<Nic> nics;
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_osdev(topology, device));) {
    hwloc_obj_osdev_type_t type = device->attr->osdev.type;
    if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS)
      continue;
    nics.push_back(nicOf(topology, device));
  }
  return nics;
}

Result<std::vector<Place>> discoverWholeNode() { return wholeNode().places; }

} // namespace colldsl
