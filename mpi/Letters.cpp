#include "mpi/Letters.h"

#include "transports/Pieces.h"

#include <algorithm>
#include <cstring>

namespace colldsl::mpi {
namespace {

// Of what concerns runs that failed.
constexpr size_t kMostKept = 1024;

// A look at a network is a call of the kernel.
constexpr uint32_t kGlancesPerLook = 16;

// To one peer, before one of them is used.
constexpr size_t kMostInvited = 64;

uint32_t unitsOf(uint64_t bytes) { return static_cast<uint32_t>(bytes) + Letters::kUnitsPerLetter; }

template <typename T> void keepNewest(std::deque<T> &list, T newest) {
  list.push_back(std::move(newest));
  if (list.size() > kMostKept)
    list.pop_front();
}

} // namespace

struct Letters::Header {
  enum class Kind : uint32_t {
    Short,      ///< the message
    Question,   ///< the message waits at `place` of its sender until there is an answer
    Answer,     ///< to that question: the bytes are wanted at a Courier::Place, which follows
    Refusal,    ///< they are not wanted
    Taken,      ///< so many units were taken
    Invitation, ///< the message is Wanted, which follows, though nobody asked
    Recall,     ///< the invitation to `place` is void
    Declined,   ///< it was not used, and will not be
    Failure,    ///< why `key` failed, because of which rank; its kind stands at `place`
  };
  Kind kind;
  uint32_t place;
  uint32_t number; ///< units or rank
  Key key;
  uint64_t bytes; ///< of the message
};

struct Letters::Wanted {
  Courier::Place place;
  uint64_t bytes = 0;
};

struct Letters::Invitation {
  Key key;
  Wanted wanted;
};

struct Letters::Aside {
  Header header;
  std::vector<std::byte> bytes;
};

Letters::Letters(std::unique_ptr<Courier> courier)
    : courier_(std::move(courier)), shortBytes_(courier_->letterBytes() - sizeof(Header)) {
  courier_->deliverTo(*this);
}

Letters::~Letters() { courier_->leave(); }

Letters::Peer &Letters::peer(Rank rank) {
  auto [at, isNew] = peers_.try_emplace(index(rank));
  if (isNew)
    courier_->meet(rank);
  return at->second;
}

bool Letters::poll() {
  bool moved = courier_->poll();
  for (size_t held = held_.size(); held > 0; --held) {
    Asked first = held_.front();
    held_.pop_front();
    takeBytes(first);
  }
  return moved;
}

void Letters::glance() {
  if (++glances_ < kGlancesPerLook)
    return;
  glances_ = 0;
  poll();
}

// What is no letter has come by mistake.
void Letters::read(Rank from, std::span<const std::byte> letter) {
  Header header;
  if (letter.size() < sizeof header)
    return;
  std::memcpy(&header, letter.data(), sizeof header);
  std::span<const std::byte> bytes = letter.subspan(sizeof header);
  bool isQuestion = header.kind == Header::Kind::Question;
  if (bytes.size() >= header.bytes || isQuestion)
    read(from, header, bytes.data());
}

void Letters::read(Rank from, const Header &header, const std::byte *bytes) {
  switch (header.kind) {
  case Header::Kind::Short:
  case Header::Kind::Question:
    return deliver(from, header, bytes);
  case Header::Kind::Answer: {
    Courier::Place place;
    std::memcpy(&place, bytes, sizeof place);
    return giveBytes(from, header.place, &place);
  }
  case Header::Kind::Refusal:
    return giveBytes(from, header.place, nullptr);
  case Header::Kind::Taken:
    peer(from).ahead -= header.number;
    return;
  case Header::Kind::Invitation:
    return readInvitation(from, header, bytes);
  case Header::Kind::Recall:
    return recall(from, header.place);
  case Header::Kind::Declined:
    std::erase_if(peer(from).invited, [&](const Invited &i) { return i.number == header.place; });
    return courier_->expectNoMore(header.place);
  case Header::Kind::Failure:
    keepNewest(failures_, {header.key,
                           {Rank{header.number},
                            kNoOp,
                            {reinterpret_cast<const char *>(bytes), header.bytes},
                            static_cast<ErrorKind>(header.place)}});
    return;
  }
}

void Letters::deliver(Rank from, const Header &header, const std::byte *bytes) {
  Peer &peer = this->peer(from);
  auto isInvited = [&](const Invited &i) { return i.key == header.key && i.bytes == header.bytes; };
  if (header.kind == Header::Kind::Question && std::ranges::any_of(peer.invited, isInvited))
    return; // the invitation, which is on its way, is the answer
  uninvite(peer, header.key);
  if (Message *message = peer.wanted.take(header.key))
    return accept(from, *message, header, bytes);
  auto gone = std::find(peer.gone.begin(), peer.gone.end(), header.key);
  if (gone != peer.gone.end())
    peer.gone.erase(gone);
  else if (!isRefused(header.key))
    return putAside(peer, header, bytes);
  throwAway(from, peer, header);
}

void Letters::throwAway(Rank from, Peer &peer, const Header &header) {
  if (header.kind == Header::Kind::Short)
    countTaken(from, peer, header.bytes);
  else
    refuse(from, header.place);
}

void Letters::refuseRun(const Key &key) {
  keepNewest(refused_, key);
  for (auto &[rank, peer] : peers_) {
    std::erase_if(peer.invitations, [&, from = Rank{rank}](const Invitation &invitation) {
      bool isVoid = isRefused(invitation.key);
      if (isVoid)
        decline(from, invitation.wanted.place);
      return isVoid;
    });
    for (auto at = peer.aside.begin(); at != peer.aside.end();) {
      auto next = std::next(at);
      if (isRefused(at->header.key)) {
        spare_.splice(spare_.begin(), peer.aside, at);
        throwAway(Rank{rank}, peer, at->header);
      }
      at = next;
    }
  }
}

bool Letters::isRefused(const Key &key) const {
  return std::any_of(refused_.begin(), refused_.end(), [&](const Key &refused) {
    return streamOf(refused) == streamOf(key) && refused.run == key.run;
  });
}

void Letters::putAside(Peer &peer, const Header &header, const std::byte *bytes) {
  if (spare_.empty())
    spare_.emplace_back();
  peer.aside.splice(peer.aside.end(), spare_, spare_.begin());
  Aside &aside = peer.aside.back();
  aside.header = header;
  aside.bytes.assign(bytes, bytes + (header.kind == Header::Kind::Short ? header.bytes : 0));
}

void Letters::accept(Rank from, Message &message, const Header &header, const std::byte *bytes) {
  message.moved = header.bytes;
  bool fits = accepts(message.payload, header.bytes);
  if (!fits && !message.tally->mismatched)
    message.tally->mismatched = &message;
  if (header.kind == Header::Kind::Question && fits && header.bytes > 0)
    return takeBytes({from, &message, header.place});
  if (header.kind == Header::Kind::Question) {
    refuse(from, header.place);
  } else {
    if (fits)
      scatter(message.payload, 0, bytes, header.bytes);
    countTaken(from, peer(from), header.bytes);
  }
  message.finish();
}

void Letters::countTaken(Rank from, Peer &peer, uint64_t bytes) {
  peer.taken += unitsOf(bytes);
  if (peer.taken < kWindow / 4)
    return;
  write(from, {Header::Kind::Taken, 0, peer.taken, {}, 0});
  peer.taken = 0;
}

void Letters::recv(Rank from, Message &message) {
  ++message.tally->open;
  message.moved = 0;
  Peer &peer = this->peer(from);
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.key; });
  if (at == peer.aside.end()) {
    peer.wanted.push(message);
    return invite(from, peer, message);
  }
  spare_.splice(spare_.begin(), peer.aside, at);
  accept(from, message, at->header, at->bytes.data());
}

void Letters::invite(Rank from, Peer &peer, Message &message) {
  if (message.payload.bytes <= shortBytes_ || !courier_->expectsInVain() ||
      peer.invited.size() == kMostInvited)
    return;
  message.moved = message.payload.bytes;
  std::optional<Courier::Place> place = courier_->expect(from, message);
  if (!place)
    return;
  peer.invited.push_back({message.key, message.moved, place->number});
  Wanted wanted{*place, message.moved};
  iovec memory{&wanted, sizeof wanted};
  write(from, {Header::Kind::Invitation, 0, 0, message.key, sizeof wanted},
        {&memory, 1, false, false, sizeof wanted});
}

// The sender has said, or will not say, what makes it void there.
void Letters::uninvite(Peer &peer, const Key &key) {
  std::erase_if(peer.invited, [&](const Invited &invited) {
    if (invited.key == key)
      courier_->expectNoMore(invited.number);
    return invited.key == key;
  });
}

void Letters::arrived(Rank from, Message &message) {
  Peer &peer = this->peer(from);
  if (std::erase_if(peer.invited, [&](const Invited &i) { return i.key == message.key; }) != 0 &&
      !peer.wanted.take(message.key))
    std::erase(peer.gone, message.key);
  message.finish();
}

void Letters::readInvitation(Rank from, const Header &header, const std::byte *bytes) {
  Invitation invitation{header.key, {}};
  std::memcpy(&invitation.wanted, bytes, sizeof invitation.wanted);
  Peer &peer = this->peer(from);
  for (uint32_t question : peer.asked)
    if (const Message *m = questions_[question]; m && m->key == header.key) {
      if (m->payload.bytes == invitation.wanted.bytes)
        giveBytes(from, question, &invitation.wanted.place);
      return; // else the question makes it void
    }
  if (isRefused(header.key))
    decline(from, invitation.wanted.place);
  else
    peer.invitations.push_back(invitation);
}

// An invitation for another length is void.
std::optional<Courier::Place> Letters::takeInvitation(Peer &peer, const Message &message) {
  auto at = std::ranges::find(peer.invitations, message.key, &Invitation::key);
  if (at == peer.invitations.end())
    return std::nullopt;
  Wanted wanted = at->wanted;
  peer.invitations.erase(at);
  return wanted.bytes == message.payload.bytes ? std::optional(wanted.place) : std::nullopt;
}

// What was used, or made void by a letter, is known there.
void Letters::recall(Rank from, uint32_t number) {
  std::list<Invitation> &invitations = peer(from).invitations;
  auto at = std::ranges::find_if(
      invitations, [&](const Invitation &i) { return i.wanted.place.number == number; });
  if (at == invitations.end())
    return;
  decline(from, at->wanted.place);
  invitations.erase(at);
}

void Letters::decline(Rank from, const Courier::Place &place) {
  write(from, {Header::Kind::Declined, place.number, 0, {}, 0});
}

bool Letters::recvNow(Rank from, const Message &message) {
  Peer &peer = this->peer(from);
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.key; });
  if (at == peer.aside.end() || at->header.kind != Header::Kind::Short ||
      at->header.bytes != message.payload.bytes)
    return false;
  scatter(message.payload, 0, at->bytes.data(), at->bytes.size());
  spare_.splice(spare_.begin(), peer.aside, at);
  countTaken(from, peer, message.payload.bytes);
  return true;
}

void Letters::send(Rank to, Message &message) {
  ++message.tally->open;
  message.moved = message.payload.bytes;
  Peer &peer = this->peer(to);
  uint64_t bytes = message.payload.bytes;
  if (std::optional<Courier::Place> place = takeInvitation(peer, message))
    return courier_->give(to, message, *place);
  if (bytes > shortBytes_ || peer.ahead + unitsOf(bytes) > kWindow)
    return ask(to, message);
  peer.ahead += unitsOf(bytes);
  write(to, {Header::Kind::Short, 0, 0, message.key, message.payload.bytes}, message.payload,
        &message);
}

void Letters::ask(Rank to, Message &message) {
  if (freeQuestions_.empty()) {
    freeQuestions_.push_back(static_cast<uint32_t>(questions_.size()));
    questions_.push_back(nullptr);
  }
  uint32_t place = freeQuestions_.back();
  freeQuestions_.pop_back();
  questions_[place] = &message;
  peer(to).asked.push_back(place);
  write(to, {Header::Kind::Question, place, 0, message.key, message.payload.bytes});
}

void Letters::refuse(Rank to, uint32_t question) {
  write(to, {Header::Kind::Refusal, question, 0, {}, 0});
}

void Letters::takeBytes(const Asked &asked) {
  std::optional<Courier::Place> place = courier_->expect(asked.peer, *asked.message);
  if (!place)
    return held_.push_back(asked);
  iovec memory{&*place, sizeof *place};
  write(asked.peer, {Header::Kind::Answer, asked.question, 0, {}, sizeof *place},
        {&memory, 1, false, false, sizeof *place});
}

void Letters::giveBytes(Rank to, uint32_t question, const Courier::Place *place) {
  Message *message = std::exchange(questions_[question], nullptr);
  std::erase(peer(to).asked, question);
  freeQuestions_.push_back(question);
  if (message && place)
    courier_->give(to, *message, *place);
  else if (message)
    message->finish();
}

void Letters::write(Rank to, const Header &header, const Payload &payload, Message *message) {
  courier_->write(to, std::as_bytes(std::span(&header, 1)), payload, message);
}

// Who sends something that is not wanted any more gets rid of it nevertheless.
void Letters::forget(const lanes::Tally &tally) {
  auto isOurs = [&](const Message *message) { return message && message->tally == &tally; };
  for (auto &[rank, peer] : peers_)
    peer.wanted.removeIf([&, &peer = peer, from = Rank{rank}](Message &message) {
      if (isOurs(&message)) {
        peer.gone.push_back(message.key);
        for (const Invited &invited : peer.invited)
          if (invited.key == message.key)
            write(from, {Header::Kind::Recall, invited.number, 0, {}, 0});
      }
      return isOurs(&message);
    });
  std::replace_if(questions_.begin(), questions_.end(), isOurs, nullptr);
  std::erase_if(held_, [&](const Asked &asked) {
    if (isOurs(asked.message))
      refuse(asked.peer, asked.question);
    return isOurs(asked.message);
  });
  courier_->forget(tally);
}

// What failed for good was told with its reason, of which this is a consequence.
void Letters::sendFailure(Rank to, const Key &key, const Fault &fault) {
  if (!status())
    return;
  iovec reason{const_cast<char *>(fault.reason.data()),
               std::min<size_t>(fault.reason.size(), shortBytes_)};
  write(to,
        {Header::Kind::Failure, static_cast<uint32_t>(fault.kind), index(fault.peer), key,
         reason.iov_len},
        {&reason, 1, false, false, reason.iov_len}, nullptr);
}

const Fault *Letters::findFailure(const Key &key) const {
  for (const auto &[failed, fault] : failures_)
    if (failed == key)
      return &fault;
  return nullptr;
}

} // namespace colldsl::mpi
