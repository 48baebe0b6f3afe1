#include "transports/network/Interfaces.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::network {
namespace {

uint32_t addressOf(const sockaddr *name) {
  sockaddr_in known = {};
  std::memcpy(&known, name, sizeof known);
  return known.sin_addr.s_addr;
}

/// "10.0.0.0/24"; nothing: it is no network.
bool readNetwork(const std::string &text, Interface &network) {
  size_t slash = text.find('/');
  unsigned bits = 0;
  const char *end = text.data() + text.size();
  if (slash == std::string::npos ||
      inet_pton(AF_INET, text.substr(0, slash).c_str(), &network.address) != 1)
    return false;
  auto [stopped, error] = std::from_chars(text.data() + slash + 1, end, bits);
  network.mask = bits == 0 ? 0 : htonl(~uint32_t{0} << (32 - bits % 33));
  return error == std::errc() && stopped == end && bits <= 32;
}

} // namespace

std::vector<Interface> ownInterfaces() {
  std::vector<Interface> own;
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    return own;
  for (const ifaddrs *i = first; i; i = i->ifa_next) {
    bool isUp = (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0;
    if (isUp && i->ifa_addr && i->ifa_netmask && i->ifa_addr->sa_family == AF_INET)
      own.push_back({addressOf(i->ifa_addr), addressOf(i->ifa_netmask)});
  }
  freeifaddrs(first);
  return own;
}

std::string inWords(uint32_t address) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

Result<std::string> addressAt(const std::string &place) {
  if (place.find('/') == std::string::npos)
    return place;
  Interface network;
  if (!readNetwork(place, network))
    return Status::error("'" + place + "' is no network such as 10.0.0.0/24");
  for (const Interface &own : ownInterfaces())
    if (network.reaches(own.address))
      return inWords(own.address);
  return Status::error("this machine has no address in " + place);
}

// Connecting a datagram socket sends nothing, but has the kernel choose.
Result<std::string> addressTowards(uint32_t other) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = other;
  name.sin_port = htons(9);
  socklen_t bytes = sizeof name;
  int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool isFine = file >= 0 && connect(file, reinterpret_cast<sockaddr *>(&name), bytes) == 0 &&
                getsockname(file, reinterpret_cast<sockaddr *>(&name), &bytes) == 0;
  int error = errno;
  if (file >= 0)
    close(file);
  if (!isFine)
    return Status::error("cannot reach " + inWords(other) + ": " + std::strerror(error));
  return inWords(name.sin_addr.s_addr);
}

} // namespace colldsl::network
