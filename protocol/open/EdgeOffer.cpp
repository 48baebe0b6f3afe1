#include "protocol/open/EdgeOffer.h"

#include "protocol/open/PlanTerms.h"

#include <cstring>
#include <map>

namespace colldsl::protocol {
namespace {

uint64_t hashOf(std::span<const MessageId> messages) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over 64-bit words
  for (MessageId m : messages)
    hash = (hash ^ value(m)) * 0x100000001b3u;
  return hash;
}

std::string messagesWord(uint64_t messages) {
  return messages == EdgeOffer::kNone ? "no message"
         : messages == 1              ? "1 message"
                                      : std::to_string(messages) + " messages";
}

Status compareEdge(Rank from, uint64_t numSends, uint64_t sendHash, Rank to, uint64_t numReceives,
                   uint64_t receiveHash) {
  if (numSends == numReceives && (numSends == EdgeOffer::kNone || sendHash == receiveHash))
    return {};
  std::string sender = "rank " + std::to_string(index(from));
  std::string receiver = "rank " + std::to_string(index(to));
  std::string ranks = sender + " and " + receiver;
  if (numSends == numReceives)
    return Status::error(ranks + " disagree on which messages go from one to the other");
  return Status::error(ranks + " disagree: " + sender + " sends " + messagesWord(numSends) + ", " +
                       receiver + " expects " + messagesWord(numReceives));
}

} // namespace

std::vector<BootstrapData> makeOffers(const OpenRequest &request) {
  std::map<Rank, EdgeOffer> offers;
  for (const EdgeSpec &edge : request.out) {
    offers[edge.peer].numSends = edge.messages.size();
    offers[edge.peer].sendHash = hashOf(edge.messages);
  }
  for (const EdgeSpec &edge : request.in) {
    offers[edge.peer].numReceives = edge.messages.size();
    offers[edge.peer].receiveHash = hashOf(edge.messages);
  }
  std::vector<BootstrapData> offered;
  uint64_t termsHash = hashOfTerms(request.terms);
  for (auto &[peer, offer] : offers) {
    offer.termsHash = termsHash;
    offered.push_back({peer, std::vector<std::byte>(sizeof offer)});
    std::memcpy(offered.back().bytes.data(), &offer, sizeof offer);
  }
  return offered;
}

EdgeOffer readOffer(const BootstrapData &data) {
  EdgeOffer offer;
  if (data.bytes.size() == sizeof offer)
    std::memcpy(&offer, data.bytes.data(), sizeof offer);
  return offer;
}

Status compareOffers(Rank self, const EdgeOffer &own, Rank peer, const EdgeOffer &theirs) {
  if (Status s = compareEdge(self, own.numSends, own.sendHash, peer, theirs.numReceives,
                             theirs.receiveHash);
      !s)
    return s;
  if (Status s = compareEdge(peer, theirs.numSends, theirs.sendHash, self, own.numReceives,
                             own.receiveHash);
      !s)
    return s;
  if (own.termsHash == theirs.termsHash)
    return {};
  return Status::error("rank " + std::to_string(index(self)) + " and rank " +
                       std::to_string(index(peer)) + " disagree on what the plan is");
}

} // namespace colldsl::protocol
