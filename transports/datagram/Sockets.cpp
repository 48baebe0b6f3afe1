#include "transports/datagram/Sockets.h"

#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace colldsl::datagram {
namespace {

// The MTU of Ethernet.
constexpr uint32_t kCommonMtu = 1500;
// The buffer where packets wait that come between polls, as far as the kernel agrees.
constexpr int kBufferBytes = 4 << 20;

std::string inWords(const in_addr &address) {
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &address, text, sizeof text);
}

Status failure(const std::string &what, const in_addr &address) {
  std::string reason = std::strerror(errno);
  return Status::error("cannot " + what + " at " + inWords(address) + ": " + reason);
}

} // namespace

Result<Socket> openSocket(const in_addr &address) {
  Socket made;
  made.file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made.file < 0)
    return failure("make a socket", address);
  (void)setsockopt(made.file, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  made.name.sin_family = AF_INET;
  made.name.sin_addr = address;
  socklen_t bytes = sizeof made.name;
  if (bind(made.file, reinterpret_cast<sockaddr *>(&made.name), bytes) == 0 &&
      getsockname(made.file, reinterpret_cast<sockaddr *>(&made.name), &bytes) == 0)
    return made;
  Status why = failure("bind a socket", address);
  close(made.file);
  return why;
}

Result<int> openListener(const sockaddr_in &group, const in_addr &interface) {
  int file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0)
    return failure("make a socket", interface);
  int yes = 1, no = 0;
  ip_mreq where = {group.sin_addr, interface};
  (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  bool isFine = setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                setsockopt(file, IPPROTO_IP, IP_MULTICAST_ALL, &no, sizeof no) == 0 &&
                bind(file, reinterpret_cast<const sockaddr *>(&group), sizeof group) == 0 &&
                setsockopt(file, IPPROTO_IP, IP_ADD_MEMBERSHIP, &where, sizeof where) == 0;
  if (isFine)
    return file;
  Status why = failure("join " + inWords(group.sin_addr), interface);
  close(file);
  return why;
}

Status sendToGroupsOn(int file, const in_addr &interface) {
  int yes = 1, hops = 1;
  bool isFine = setsockopt(file, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof interface) == 0 &&
                setsockopt(file, IPPROTO_IP, IP_MULTICAST_LOOP, &yes, sizeof yes) == 0 &&
                setsockopt(file, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops) == 0;
  return isFine ? Status() : failure("send by multicast", interface);
}

uint32_t mtuOf(const in_addr &address) {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return kCommonMtu;
  ifreq request = {};
  for (ifaddrs *one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET)
      continue;
    sockaddr_in name;
    std::memcpy(&name, one->ifa_addr, sizeof name);
    if (name.sin_addr.s_addr == address.s_addr)
      std::strncpy(request.ifr_name, one->ifa_name, IFNAMSIZ - 1);
  }
  freeifaddrs(all);
  int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool isKnown = any >= 0 && request.ifr_name[0] && ioctl(any, SIOCGIFMTU, &request) == 0;
  if (any >= 0)
    close(any);
  return isKnown ? static_cast<uint32_t>(request.ifr_mtu) : kCommonMtu;
}

} // namespace colldsl::datagram
