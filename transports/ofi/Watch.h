/// Notices that the processes of other ranks are gone: a connection to each whose plans are shared,
/// over which nothing is said once it stands. The kernel that survives ends it, whatever
/// the provider of messages does.
///
/// The socket that others come to is bound to the address that was asked for. Whoever comes
/// says the rank's token first, or is sent away.
///
/// Not thread safe.
#pragma once

#include "ir/Result.h"
#include "transports/ofi/Wire.h"

#include <memory>
#include <poll.h>
#include <vector>

namespace colldsl::ofi {

class Watch {
public:
  /// `address`: IPv4, of this machine. `token`: this rank's.
  static Result<std::unique_ptr<Watch>> open(const std::string &address, uint64_t token);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  /// Writes into the card where others come to.
  void describe(Card &card) const;

  /// Watches a rank from now on. Without effect if it is watched already.
  void add(Rank rank, const Card &card);

  /// Ranks whose processes are gone are appended, each once. Three system calls and more only
  /// where something happened.
  void look(std::vector<Rank> &gone);

  uint64_t numRefused() const { return refused_; } ///< strangers

private:
  Watch(uint64_t token) : token_(token) {}
  void acceptAll();
  void hearGuest(size_t i);
  bool greet(size_t i);
  bool isGone(size_t i, short events);

  uint64_t token_;
  uint64_t refused_ = 0;
  int listener_ = -1;
  struct Watched {
    Rank rank;
    uint64_t token; ///< what it wants to hear; 0: it was told
  };
  std::vector<Watched> watched_;
  std::vector<pollfd> dialed_; ///< parallel to watched_; fd < 0: gone
  struct Guest {
    int fd;
    bool isKnown = false;
  };
  std::vector<Guest> guests_;
};

} // namespace colldsl::ofi
