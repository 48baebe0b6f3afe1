#include "transports/verbs/Nearest.h"

#include "transports/verbs/Device.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace colldsl::verbs {
namespace {

std::string nameOf(ibv_device *device) { return Library::get().get_device_name(device); }

Address addressOf(const ibv_gid &gid) {
  Address address;
  std::memcpy(address.bytes.data(), gid.raw, sizeof gid.raw);
  return address;
}

struct Found {
  ibv_gid gid;
  bool isEthernet;
};

/// The addresses of the devices, of which one is open at a time; nothing: the device does not work.
std::vector<std::optional<Found>> tryAll(std::span<ibv_device *const> devices,
                                         const Options &options) {
  std::vector<std::optional<Found>> found;
  for (ibv_device *device : devices) {
    Options own = options;
    own.device = nameOf(device);
    Result<std::unique_ptr<Device>> tried = Device::look(own);
    found.push_back(tried ? std::optional(Found{(*tried)->gid(), (*tried)->isGlobal()})
                          : std::nullopt);
  }
  return found;
}

/// The places of the first device that works and of those in its network.
std::vector<size_t> equalOf(const std::vector<std::optional<Found>> &found) {
  std::vector<OwnInterface> own = ownInterfaces();
  std::vector<size_t> equal;
  for (size_t i = 0; i < found.size(); ++i) {
    auto isBesideFirst = [&] {
      const Found &first = *found[equal[0]];
      return found[i]->isEthernet == first.isEthernet &&
             areNeighbors(first.gid, found[i]->gid, first.isEthernet, own);
    };
    if (found[i] && (equal.empty() || isBesideFirst()))
      equal.push_back(i);
  }
  return equal;
}

} // namespace

// The first half of an InfiniBand address is that of its subnet. A port without a subnet has the
// default, which has no neighbors.
bool areNeighbors(const ibv_gid &one, const ibv_gid &other, bool isEthernet,
                  std::span<const OwnInterface> own) {
  if (!isEthernet)
    return one.global.subnet_prefix == other.global.subnet_prefix &&
           !(one.raw[0] == 0xfe && one.raw[1] == 0x80);
  return std::any_of(own.begin(), own.end(), [&](const OwnInterface &interface) {
    return interface.address == addressOf(one) && interface.reaches(addressOf(other));
  });
}

std::vector<ibv_device *> inOrder(std::span<ibv_device *const> devices, const Options &options) {
  std::vector<ibv_device *> order(devices.begin(), devices.end());
  if (!options.device.empty())
    std::erase_if(order, [&](ibv_device *device) { return nameOf(device) != options.device; });
  if (order.size() < 2 || !options.boundThreads)
    return order;
  std::vector<size_t> equal = equalOf(tryAll(order, options));
  if (equal.empty())
    return order;
  std::vector<NicName> names;
  for (size_t place : equal)
    names.push_back({nameOf(order[place]), ""});
  auto nearest =
      order.begin() + static_cast<std::ptrdiff_t>(equal[nearestNic(names, *options.boundThreads)]);
  std::rotate(order.begin(), nearest, nearest + 1);
  return order;
}

} // namespace colldsl::verbs
