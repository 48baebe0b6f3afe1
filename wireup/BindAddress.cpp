#include "wireup/BindAddress.h"

#include "ir/Concat.h"
#include "wireup/Nodes.h"

namespace colldsl {
namespace {

/// The address of the nearest interface among those in the network of `address`.
std::string nearestTo(const std::string &address, std::span<const Threads> boundThreads) {
  Result<Address> known = readAddress(address);
  if (!known)
    return address;
  std::vector<OwnInterface> equal = besides(ownInterfaces(), *known);
  std::vector<NicName> names;
  for (const OwnInterface &one : equal)
    names.push_back({one.name, ""});
  return equal.empty() ? address : inWords(equal[nearestNic(names, boundThreads)].address);
}

} // namespace

Status chooseBindAddress(std::span<const ProcessInfo> processes, NetworkSettings &settings,
                         std::span<const Threads> boundThreads, std::string &bind) {
  std::vector<uint32_t> hosts = firstOfHosts(processes);
  std::string variable = settings.bindVariable();
  if (settings.has(variable)) {
    Result<std::string> address = addressAt(bind);
    if (!address)
      return address.status();
    if (*address != bind)
      bind = nearestTo(*address, boundThreads);
    return {};
  }
  if (isOneNode(hosts))
    return {};
  Result<Address> common = reachableAddress(processes, hosts);
  if (!common)
    return Status::error(concat(common.message(), "; ", variable, " names one, on each host"));
  Result<std::string> address = addressTowards(*common);
  if (!address)
    return Status::error(
        concat(address.message(), ", where rank 0 is; ", variable, " names another address"));
  bind = nearestTo(*address, boundThreads);
  return {};
}

} // namespace colldsl
