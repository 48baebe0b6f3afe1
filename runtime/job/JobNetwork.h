/// The network of a job, as all front ends name it. No other place decides which transport carries
/// messages between nodes.
#pragma once

#include "ir/Result.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace colldsl {

enum class NetworkKind : uint8_t {
  Ofi,      ///< libfabric
  Verbs,    ///< an RDMA device
  Datagram, ///< UDP
  Tcp,      ///< TCP, without a library
};
/// By NetworkKind.
inline constexpr std::array<std::string_view, 4> kNetworkNames = {"ofi", "verbs", "datagram",
                                                                  "tcp"};

/// The name by which MPI programs choose the messages of the MPI below in place of a network.
inline constexpr std::string_view kMpiBelow = "mpi";

struct Network {
  NetworkKind kind = NetworkKind::Ofi;
  std::string options;  ///< "provider=tcp,bind=10.0.0.0/24"; all others are of the environment
  bool isAlone = false; ///< the network is used within a node, too, in place of shared memory

  /// "verbs", "ofi{provider=tcp,bind=10.0.0.0/24}". An error names what is wrong with the text.
  static Result<Network> parse(std::string_view text);
  /// Variant of parse() for MPI programs: nothing for kMpiBelow.
  static Result<std::optional<Network>> parseForMpi(std::string_view text);
  /// The network that COLLDSL_NETWORK names; libfabric if it names none, or kMpiBelow.
  static Result<Network> fromEnvironment();
  /// The network of MPI programs where COLLDSL_NETWORK names none: TCP, or libfabric if the
  /// environment has one of its options.
  static Network unnamedForMpi();

  std::string_view name() const { return kNetworkNames[static_cast<size_t>(kind)]; }

  /// "ofi{provider=tcp} alone": what all ranks of a job must have alike, the environment's options
  /// included. Shorter than ProcessInfo::network.
  std::string inWords() const;

  /// True if the options let messages go to several ranks at once by multicast.
  bool hasMulticast() const;

  /// True if this process has the libraries, and a device if one is needed. Loads them.
  bool isHere() const;
};

} // namespace colldsl
