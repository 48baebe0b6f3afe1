#include "transports/verbs/Nearest.h"

#include "transports/verbs/Device.h"

#include <algorithm>
#include <cstring>

namespace colldsl::verbs {
namespace {

std::string nameOf(ibv_device *device) { return Library::get().get_device_name(device); }

network::Address addressOf(const ibv_gid &gid) {
  network::Address address;
  std::memcpy(address.bytes.data(), gid.raw, sizeof gid.raw);
  return address;
}

/// Those that work, each opened; null: it does not.
std::vector<std::unique_ptr<Device>> tryAll(std::span<ibv_device *const> devices,
                                            const Options &options) {
  std::vector<std::unique_ptr<Device>> opened;
  for (ibv_device *device : devices) {
    Options own = options;
    own.device = nameOf(device);
    Result<std::unique_ptr<Device>> tried = Device::open(own);
    opened.push_back(tried ? tried.take() : nullptr);
  }
  return opened;
}

/// The places of the first and of those in its network.
std::vector<size_t> equalOf(const std::vector<std::unique_ptr<Device>> &opened) {
  std::vector<network::OwnInterface> own = network::ownInterfaces();
  std::vector<size_t> equal;
  for (size_t i = 0; i < opened.size(); ++i) {
    auto isBesideFirst = [&] {
      const Device &first = *opened[equal[0]];
      return opened[i]->isGlobal() == first.isGlobal() &&
             areNeighbors(first.gid(), opened[i]->gid(), first.isGlobal(), own);
    };
    if (opened[i] && (equal.empty() || isBesideFirst()))
      equal.push_back(i);
  }
  return equal;
}

} // namespace

// Of InfiniBand the first half of an address is that of its subnet.
bool areNeighbors(const ibv_gid &one, const ibv_gid &other, bool isEthernet,
                  std::span<const network::OwnInterface> own) {
  if (!isEthernet)
    return one.global.subnet_prefix == other.global.subnet_prefix;
  return std::any_of(own.begin(), own.end(), [&](const network::OwnInterface &interface) {
    return interface.address == addressOf(one) && interface.reaches(addressOf(other));
  });
}

std::vector<ibv_device *> inOrder(std::span<ibv_device *const> devices, const Options &options) {
  std::vector<ibv_device *> order(devices.begin(), devices.end());
  if (!options.device.empty())
    std::erase_if(order, [&](ibv_device *device) { return nameOf(device) != options.device; });
  if (order.size() < 2 || !options.seats)
    return order;
  std::vector<size_t> equal = equalOf(tryAll(order, options));
  if (equal.empty())
    return order;
  std::vector<NicName> names;
  for (size_t place : equal)
    names.push_back({nameOf(order[place]), ""});
  auto nearest =
      order.begin() + static_cast<std::ptrdiff_t>(equal[nearestNic(names, *options.seats)]);
  std::rotate(order.begin(), nearest, nearest + 1);
  return order;
}

} // namespace colldsl::verbs
