/// Pairs sends with receives, for all ranks and iterations at once.
#pragma once

#include "parameterized/Body.h"

namespace colldsl::parameterized {

/// Messages from one statement to another: pairs of executions. Each end knows the indices of the
/// other one's loops as formulas of its own coordinates, its rank and the indices of its loops.
/// Each is the other end of its other end, so a link pairs one with one.
struct Link {
  size_t send, recv; ///< into Body::sites
  Terms recvIndices; ///< of a send: of its receive
  Term sendHolds;    ///< whether a send is one of these
  Terms sendIndices; ///< of a receive: of its send
  Term recvHolds;    ///< whether a receive is one of these
};

class Messages {
public:
  /// Proves that the messages of each key (from, to, tag) are as many at both ends, meet in the
  /// order of the text and are as long at both ends.
  Messages(Body &body, Prover &prover, const Axioms &axioms, const Ranks &ranks);

  const std::vector<Link> &links() const { return links_; }

  /// A formula of the sender in the coordinates of the receiver.
  Term atReceiver(const Link &link, const Term &ofSender) const;
  /// A formula: the execution of `a` with its indices comes before that of `b` with its own in the
  /// text.
  Term isBefore(const Site &a, const Site &b) const;
  /// The site with other constants for its loops; its indices are distinct from those of the body.
  Site renamed(const Site &site, const std::string &suffix) const;
  /// The link with these constants for the loops of its send.
  Link renamedAtSender(const Link &link, const Site &from, const Site &to) const;

private:
  /// Indices of loops that are tried for the other end of a message.
  enum class Search : uint8_t {
    Solved, ///< those that solve the peer's expression, else those of the same iteration
    Near,   ///< also the iterations next to it, and the first
    Ends,   ///< also the last
  };
  bool hasDigits() const;
  void pair(int firstStep, const std::vector<Search> &searches);
  void addLinks(size_t send, size_t recv, int firstStep, Search search);
  std::vector<Terms> indexCandidates(const Site &from, const Site &to, int firstStep,
                                     Search search);
  Term meets(const Site &from, const Site &to, const Terms &indices) const;
  void proveComplete();
  void proveOrder();
  void proveLengths();
  void proveLabels();

  Body &body_;
  Prover &prover_;
  const Axioms &axioms_;
  const Ranks &ranks_;
  std::vector<Link> links_;
};

constexpr bool isSend(SiteKind k) { return k == SiteKind::Send || k == SiteKind::Signal; }
constexpr bool isRecv(SiteKind k) { return k == SiteKind::Recv || k == SiteKind::Wait; }

} // namespace colldsl::parameterized
