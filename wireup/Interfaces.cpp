#include "wireup/Interfaces.h"

#include "ir/Numbers.h"

#include <algorithm>
#include <arpa/inet.h>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

namespace colldsl {
namespace {

constexpr uint32_t kBits = 128, kBitsOfIpv4 = 32;
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

template <typename Name> Name as(const sockaddr_storage &name) {
  Name known = {};
  std::memcpy(&known, &name, sizeof known);
  return known;
}

SocketName nameOf(const sockaddr *given) {
  SocketName name;
  bool isLong = given->sa_family == AF_INET6;
  name.bytes = isLong ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&name.name, given, name.bytes);
  return name;
}

bool isOfInternet(const sockaddr *name) {
  return name && (name->sa_family == AF_INET || name->sa_family == AF_INET6);
}

// Further addresses may have names of their own: eth0:1.
std::string deviceOf(std::string_view name) { return std::string(name.substr(0, name.find(':'))); }

bool isOfOneCable(const Address &address) {
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

// Ones come before zeros.
uint32_t bitsOf(const SocketName &mask) {
  Address words = mask.address();
  auto begin = words.bytes.begin() + (mask.name.ss_family == AF_INET ? kMapped.size() : 0);
  uint32_t bits = mask.name.ss_family == AF_INET ? kBits - kBitsOfIpv4 : 0;
  for (; begin != words.bytes.end(); ++begin)
    bits += static_cast<uint32_t>(std::popcount(*begin));
  return bits;
}

/// "10.0.0.0/24"; nothing: it is no network.
bool readNetwork(const std::string &text, Interface &network) {
  size_t slash = text.find('/');
  Result<Address> address = readAddress(text.substr(0, slash));
  if (!address)
    return false;
  network.address = *address;
  std::optional<uint32_t> bits = parseWhole<uint32_t>(std::string_view(text).substr(slash + 1));
  uint32_t most = address->isOfIpv4() ? kBitsOfIpv4 : kBits;
  if (!bits || *bits > most)
    return false;
  network.bits = *bits + kBits - most;
  return true;
}

// All interfaces, or several machines.
bool isOfOneInterface(const Address &address) {
  bool isShort = address.isOfIpv4();
  uint8_t first = address.bytes[isShort ? kMapped.size() : 0];
  return isShort ? first != 0 && first < 0xe0 : first != 0xff && address != Address();
}

// Greater numbers are loose, or off: of the two that are set the greater one holds.
bool isStrict(const std::string &name) {
  int strictest = 0;
  for (const std::string &of : {std::string("all"), name})
    if (int filter = 0; std::ifstream("/proc/sys/net/ipv4/conf/" + of + "/rp_filter") >> filter)
      strictest = std::max(strictest, filter);
  return strictest == 1;
}

} // namespace

bool Address::isOfIpv4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes.begin()); }

SocketName::SocketName(const Address &address, uint16_t port) {
  if (address.isOfIpv4()) {
    sockaddr_in known = {};
    known.sin_family = AF_INET;
    known.sin_port = port;
    std::memcpy(&known.sin_addr, &address.bytes[kMapped.size()], sizeof known.sin_addr);
    std::memcpy(&name, &known, bytes = sizeof known);
  } else {
    sockaddr_in6 known = {};
    known.sin6_family = AF_INET6;
    known.sin6_port = port;
    std::memcpy(&known.sin6_addr, address.bytes.data(), sizeof known.sin6_addr);
    std::memcpy(&name, &known, bytes = sizeof known);
  }
}

Address SocketName::address() const {
  Address address;
  if (name.ss_family == AF_INET6) {
    in6_addr known = as<sockaddr_in6>(name).sin6_addr;
    std::memcpy(address.bytes.data(), &known, sizeof known);
    return address;
  }
  in_addr known = as<sockaddr_in>(name).sin_addr;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
  std::memcpy(&address.bytes[kMapped.size()], &known, sizeof known);
  return address;
}

uint16_t SocketName::port() const {
  return name.ss_family == AF_INET6 ? as<sockaddr_in6>(name).sin6_port
                                    : as<sockaddr_in>(name).sin_port;
}

bool Interface::reaches(const Address &other) const {
  for (uint32_t bit = 0; bit < bits; bit += 8) {
    auto mask = static_cast<uint8_t>(bits - bit >= 8 ? 0xff : 0xff00 >> (bits - bit));
    if (((address.bytes[bit / 8] ^ other.bytes[bit / 8]) & mask) != 0)
      return false;
  }
  return true;
}

std::vector<OwnInterface> ownInterfaces() {
  std::vector<OwnInterface> own;
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    return own;
  for (const ifaddrs *i = first; i; i = i->ifa_next) {
    constexpr unsigned kUp = IFF_UP | IFF_RUNNING;
    bool isUp = (i->ifa_flags & kUp) == kUp && (i->ifa_flags & IFF_LOOPBACK) == 0;
    if (!isUp || !isOfInternet(i->ifa_addr) || !i->ifa_netmask)
      continue;
    Address address = nameOf(i->ifa_addr).address();
    if (!isOfOneCable(address))
      own.push_back({{address, bitsOf(nameOf(i->ifa_netmask))}, deviceOf(i->ifa_name)});
  }
  freeifaddrs(first);
  return own;
}

std::vector<OwnInterface> besides(const std::vector<OwnInterface> &own, const Address &address) {
  std::vector<OwnInterface> found;
  auto known = std::find_if(own.begin(), own.end(),
                            [&](const OwnInterface &one) { return one.address == address; });
  if (known == own.end())
    return found;
  for (const OwnInterface &one : own) {
    bool isNew = std::none_of(found.begin(), found.end(),
                              [&](const OwnInterface &other) { return other.name == one.name; });
    bool isBeside = one.bits == known->bits && one.reaches(address);
    if (isNew && one.name == known->name)
      found.push_back(*known);
    else if (isNew && isBeside && !(address.isOfIpv4() && isStrict(one.name)))
      found.push_back(one);
  }
  return found;
}

std::string inWords(const Address &address) {
  char text[INET6_ADDRSTRLEN] = {};
  bool isShort = address.isOfIpv4();
  inet_ntop(isShort ? AF_INET : AF_INET6, &address.bytes[isShort ? kMapped.size() : 0], text,
            sizeof text);
  return text;
}

Result<Address> readAddress(const std::string &text) {
  Address address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1)
    return address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
  if (inet_pton(AF_INET, text.c_str(), &address.bytes[kMapped.size()]) == 1)
    return address;
  return Status::error("'" + text + "' is not an address such as 10.0.0.1 or fd00::1");
}

Status checkBind(const std::string &text) {
  Result<Address> address = readAddress(text);
  Interface network;
  if (!address && !readNetwork(text, network))
    return Status::error(
        "no address such as 10.0.0.1 or fd00::1, and no network such as 10.0.0.0/24");
  if (address && !isOfOneInterface(*address))
    return Status::error("not the address of one interface");
  return {};
}

Result<std::string> addressAt(const std::string &place) {
  if (place.find('/') == std::string::npos)
    return place;
  Interface network;
  if (!readNetwork(place, network))
    return Status::error("'" + place + "' is no network such as 10.0.0.0/24 or fd00::/64");
  for (const Interface &own : ownInterfaces())
    if (network.reaches(own.address))
      return inWords(own.address);
  return Status::error("this machine has no address in " + place);
}

// Connecting a datagram socket sends nothing, but has the kernel choose.
Result<std::string> addressTowards(const Address &other) {
  SocketName there(other, htons(9)), here;
  int file = socket(there.name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool isFine = file >= 0 && connect(file, there.get(), there.bytes) == 0 &&
                getsockname(file, here.get(), &here.bytes) == 0;
  int error = errno;
  if (file >= 0)
    close(file);
  if (!isFine)
    return Status::error("cannot reach " + inWords(other) + ": " + std::strerror(error));
  return inWords(here.address());
}

} // namespace colldsl
