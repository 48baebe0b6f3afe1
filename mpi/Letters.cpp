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

/// The key of its run, which is that of the first message.
Tag runOf(Tag key) {
  if ((key.stream & Letters::kCountsMessages) != 0)
    key.message = 0;
  return key;
}

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
    Recall,     ///< of the invitation to place `place`
    Nothing,    ///< will be at a place that was told: it follows as it was
    Failure,    ///< why `key` failed, because of which rank; its kind stands at `place`
    HowFar,     ///< whether the receiver is over with the run of `key`
    SoFar,      ///< it is if `number` is 1
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
  bool isAsked = false; ///< the sender's question crossed it: nothing else will come for it
};

struct Letters::Aside {
  Header header;
  std::vector<std::byte> bytes;
};

Letters::Letters(std::unique_ptr<Courier> courier,
                 std::shared_ptr<const protocol::ProgressTable> book)
    : courier_(std::move(courier)), book_(std::move(book)),
      shortBytes_(courier_->letterBytes() - sizeof(Header)) {
  courier_->deliverTo(*this);
}

Letters::~Letters() { courier_->leave(); }

Letters::Peer &Letters::peer(Rank rank) {
  auto [at, isNew] = peers_.try_emplace(index(rank));
  if (isNew)
    courier_->meet(rank);
  return at->second;
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
  case Header::Kind::Nothing: {
    Courier::Place place;
    std::memcpy(&place, bytes, sizeof place);
    Peer &peer = this->peer(from);
    std::erase_if(peer.invited, [&](const Invitation &i) {
      bool isIt = i.wanted.place.number == place.number;
      if (isIt && i.isAsked)
        std::erase(peer.gone, i.key);
      return isIt;
    });
    return courier_->expectNoMore(from, place);
  }
  case Header::Kind::Taken:
    peer(from).ahead -= header.number;
    return;
  case Header::Kind::Invitation:
    return readInvitation(from, header, bytes);
  case Header::Kind::Recall:
    return readRecall(from, header.place);
  case Header::Kind::Failure:
    keepNewest(failures_, {header.key,
                           {Rank{header.number},
                            kNoOp,
                            {reinterpret_cast<const char *>(bytes), header.bytes},
                            static_cast<ErrorKind>(header.place)}});
    return refuseQuestionsOf(header.key);
  case Header::Kind::HowFar:
    return tellHowFar(from, header.key);
  case Header::Kind::SoFar:
    return hearHowFar(from, header.key, header.number != 0);
  }
}

void Letters::deliver(Rank from, const Header &header, const std::byte *bytes) {
  Peer &peer = this->peer(from);
  auto isInvited = [&](const Invitation &i) {
    return i.key == header.key && i.wanted.bytes == header.bytes;
  };
  auto invited = std::ranges::find_if(peer.invited, isInvited);
  if (header.kind == Header::Kind::Question && invited != peer.invited.end()) {
    invited->isAsked = true;
    return; // the invitation, which is on its way, is the answer
  }
  uninvite(from, peer, header.key);
  if (Message *message = peer.wanted.take(header.key))
    return accept(from, *message, header, bytes);
  auto gone = std::find(peer.gone.begin(), peer.gone.end(), header.key);
  if (gone != peer.gone.end())
    peer.gone.erase(gone);
  else if (!isRefused(header.key))
    return putAside(from, peer, header, bytes);
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
    throwAsideAway(Rank{rank}, peer, [&](const Header &header) { return isRefused(header.key); });
    dropInvitations(Rank{rank}, peer, [&](const Key &key) { return isRefused(key); });
  }
}

template <typename IsVoid> void Letters::dropInvitations(Rank from, Peer &peer, IsVoid isVoid) {
  std::erase_if(peer.invitations, [&](const Invitation &invitation) {
    bool isDropped = isVoid(invitation.key);
    if (isDropped)
      decline(from, invitation.wanted.place);
    return isDropped;
  });
}

template <typename IsGone> void Letters::throwAsideAway(Rank from, Peer &peer, IsGone isGone) {
  for (auto at = peer.aside.begin(); at != peer.aside.end();) {
    auto next = std::next(at);
    if (isGone(at->header)) {
      spare_.splice(spare_.begin(), peer.aside, at);
      throwAway(from, peer, at->header);
    }
    at = next;
  }
}

// Their sender has failed, too, and does not ask any more how far this rank is.
void Letters::refuseQuestionsOf(const Key &run) {
  if (!book_->isOverHere(run))
    return;
  for (auto &[rank, peer] : peers_)
    throwAsideAway(Rank{rank}, peer, [&](const Header &header) {
      return header.kind == Header::Kind::Question && runOf(header.key) == run;
    });
}

bool Letters::isRefused(const Key &key) const {
  return std::find(refused_.begin(), refused_.end(), runOf(key)) != refused_.end();
}

// What is asked about is kept: its sender waits, and will ask how far this rank is.
void Letters::putAside(Rank from, Peer &peer, const Header &header, const std::byte *bytes) {
  bool isShort = header.kind == Header::Kind::Short;
  peer.gathered += unitsOf(isShort ? header.bytes : 0);
  if (peer.gathered > kWindow / 4) {
    peer.gathered = 0;
    throwAsideAway(from, peer, [&](const Header &aside) {
      return aside.kind == Header::Kind::Short && book_->isOverHere(runOf(aside.key));
    });
  }
  if (spare_.empty())
    spare_.emplace_back();
  peer.aside.splice(peer.aside.end(), spare_, spare_.begin());
  Aside &aside = peer.aside.back();
  aside.header = header;
  aside.bytes.assign(bytes, bytes + (isShort ? header.bytes : 0));
}

void Letters::accept(Rank from, Message &message, const Header &header, const std::byte *bytes) {
  message.transferred = header.bytes;
  bool fits = accepts(message.payload, header.bytes);
  if (!fits && !message.counter->mismatched)
    message.counter->mismatched = &message;
  if (header.kind == Header::Kind::Question && fits && header.bytes > 0)
    return takeBytes(from, message, header.place);
  if (header.kind == Header::Kind::Question) {
    refuse(from, header.place);
  } else {
    if (fits)
      scatter(message.payload, 0, bytes, header.bytes);
    countTaken(from, peer(from), header.bytes);
  }
  message.complete();
}

void Letters::countTaken(Rank from, Peer &peer, uint64_t bytes) {
  peer.taken += unitsOf(bytes);
  if (peer.taken < kWindow / 4)
    return;
  write(from, {Header::Kind::Taken, 0, peer.taken, {}, 0});
  peer.taken = 0;
}

void Letters::recv(Rank from, Message &message) {
  ++message.counter->outstanding;
  message.transferred = 0;
  Peer &peer = this->peer(from);
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.tag; });
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
  message.transferred = message.payload.bytes;
  Wanted wanted{courier_->expect(from, message), message.transferred};
  peer.invited.push_back({message.tag, wanted});
  iovec memory{&wanted, sizeof wanted};
  write(from, {Header::Kind::Invitation, 0, 0, message.tag, sizeof wanted},
        {&memory, 1, false, false, sizeof wanted});
}

// The sender has said, or will not say, what makes it void there.
void Letters::uninvite(Rank from, Peer &peer, const Key &key) {
  std::erase_if(peer.invited, [&](const Invitation &invited) {
    if (invited.key == key)
      courier_->expectNoMore(from, invited.wanted.place);
    return invited.key == key;
  });
}

bool Letters::recall(Rank from, const Peer &peer, const Key &key) {
  auto at = std::ranges::find(peer.invited, key, &Invitation::key);
  if (at != peer.invited.end())
    write(from, {Header::Kind::Recall, at->wanted.place.number, 0, {}, 0});
  return at != peer.invited.end();
}

void Letters::arrived(Rank from, uint32_t number, Message *message) {
  Peer &peer = this->peer(from);
  auto at = std::ranges::find_if(
      peer.invited, [&](const Invitation &i) { return i.wanted.place.number == number; });
  if (at != peer.invited.end()) {
    if (!peer.wanted.take(at->key))
      std::erase(peer.gone, at->key);
    peer.invited.erase(at);
  }
  if (message)
    message->complete();
}

void Letters::readInvitation(Rank from, const Header &header, const std::byte *bytes) {
  Invitation invitation{header.key, {}};
  std::memcpy(&invitation.wanted, bytes, sizeof invitation.wanted);
  Peer &peer = this->peer(from);
  for (uint32_t number : peer.questions)
    if (questions_[number].key == header.key) {
      if (questions_[number].bytes == invitation.wanted.bytes)
        giveBytes(from, number, &invitation.wanted.place);
      return; // else the question makes it void
    }
  dropInvitations(from, peer, [&](const Key &key) { return book_->isOverHere(runOf(key)); });
  if (isRefused(header.key) || book_->isOverHere(runOf(header.key)))
    decline(from, invitation.wanted.place);
  else
    peer.invitations.push_back(invitation);
}

// An invitation for another length is void.
std::optional<Courier::Place> Letters::takeInvitation(Peer &peer, const Message &message) {
  auto at = std::ranges::find(peer.invitations, message.tag, &Invitation::key);
  if (at == peer.invitations.end())
    return std::nullopt;
  Wanted wanted = at->wanted;
  peer.invitations.erase(at);
  return wanted.bytes == message.payload.bytes ? std::optional(wanted.place) : std::nullopt;
}

// What was used, or made void by a letter, is known there.
void Letters::readRecall(Rank from, uint32_t number) {
  std::list<Invitation> &invitations = peer(from).invitations;
  auto at = std::ranges::find_if(
      invitations, [&](const Invitation &i) { return i.wanted.place.number == number; });
  if (at == invitations.end())
    return;
  decline(from, at->wanted.place);
  invitations.erase(at);
}

void Letters::decline(Rank from, const Courier::Place &place) {
  writePlace(from, {Header::Kind::Nothing, 0, 0, {}, sizeof place}, place);
}

bool Letters::recvNow(Rank from, const Message &message) {
  Peer &peer = this->peer(from);
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.tag; });
  if (at == peer.aside.end() || at->header.kind != Header::Kind::Short ||
      at->header.bytes != message.payload.bytes)
    return false;
  scatter(message.payload, 0, at->bytes.data(), at->bytes.size());
  spare_.splice(spare_.begin(), peer.aside, at);
  countTaken(from, peer, message.payload.bytes);
  return true;
}

void Letters::send(Rank to, Message &message) {
  ++message.counter->outstanding;
  message.transferred = message.payload.bytes;
  Peer &peer = this->peer(to);
  uint64_t bytes = message.payload.bytes;
  if (std::optional<Courier::Place> place = takeInvitation(peer, message))
    return courier_->give(to, message, *place);
  if (bytes > shortBytes_ || peer.ahead + unitsOf(bytes) > kWindow)
    return ask(to, message);
  peer.ahead += unitsOf(bytes);
  write(to, {Header::Kind::Short, 0, 0, message.tag, message.payload.bytes}, message.payload,
        &message);
}

void Letters::ask(Rank to, Message &message) {
  if (freeQuestions_.empty()) {
    freeQuestions_.push_back(static_cast<uint32_t>(questions_.size()));
    questions_.emplace_back();
  }
  uint32_t place = freeQuestions_.back();
  freeQuestions_.pop_back();
  questions_[place] = {&message, message.tag, message.payload.bytes};
  peer(to).questions.push_back(place);
  write(to, {Header::Kind::Question, place, 0, message.tag, message.payload.bytes});
}

void Letters::refuse(Rank to, uint32_t question) {
  write(to, {Header::Kind::Refusal, question, 0, {}, 0});
}

void Letters::takeBytes(Rank from, Message &message, uint32_t question) {
  Courier::Place place = courier_->expect(from, message);
  writePlace(from, {Header::Kind::Answer, question, 0, {}, sizeof place}, place);
}

void Letters::writePlace(Rank to, const Header &header, Courier::Place place) {
  iovec memory{&place, sizeof place};
  write(to, header, {&memory, 1, false, false, sizeof place});
}

void Letters::giveBytes(Rank to, uint32_t question, const Courier::Place *place) {
  Message *message = std::exchange(questions_[question].message, nullptr);
  std::erase(peer(to).questions, question);
  freeQuestions_.push_back(question);
  if (message && place)
    courier_->give(to, *message, *place);
  else if (message)
    message->complete();
  else if (place) // whoever gives up, too, waits for these bytes
    decline(to, *place);
}

void Letters::look() {
  auto now = std::chrono::steady_clock::now();
  if (now < nextDoubt_)
    return;
  nextDoubt_ = now + kPatience;
  for (Doubter *doubter : doubters_)
    doubter->doubt();
}

void Letters::askHowFar(Rank to, const Key &run) {
  std::vector<Key> &asked = peer(to).asked;
  if (std::find(asked.begin(), asked.end(), run) != asked.end())
    return;
  asked.push_back(run);
  write(to, {Header::Kind::HowFar, 0, 0, run, 0});
}

// The answer first: what is refused behind it is nobody's any more.
void Letters::tellHowFar(Rank to, const Key &run) {
  bool isOver = book_->isOverHere(run);
  write(to, {Header::Kind::SoFar, 0, isOver, run, 0});
  if (isOver)
    throwAsideAway(to, peer(to), [&](const Header &header) { return runOf(header.key) == run; });
}

void Letters::hearHowFar(Rank from, const Key &run, bool isOver) {
  std::erase(peer(from).asked, run);
  if (isOver)
    for (Doubter *doubter : doubters_)
      doubter->onOver(from, run);
}

// What is refused later was asked about by nobody.
bool Letters::abandon(Rank from, Message &message) {
  auto isIt = [&](const Message *other) { return other == &message; };
  auto asked = std::ranges::find_if(questions_, isIt, &Question::message);
  if (asked != questions_.end()) {
    asked->message = nullptr;
    return true;
  }
  return !recall(from, peer(from), message.tag) &&
         peer(from).wanted.removeIf([&](const Message &other) { return isIt(&other); }) != 0;
}

void Letters::write(Rank to, const Header &header, const Payload &payload, Message *message) {
  courier_->write(to, std::as_bytes(std::span(&header, 1)), payload, message);
}

// What does not come although its run is over here will perhaps never come.
void Letters::noteGone(Peer &peer, const Key &key) {
  if (peer.gone.size() >= kMostKept)
    std::erase_if(peer.gone, [&](const Key &old) { return book_->isOverHere(runOf(old)); });
  peer.gone.push_back(key);
}

// Who sends something that is not wanted any more gets rid of it nevertheless.
void Letters::forget(const protocol::CompletionCounter &tally) {
  auto isOurs = [&](const Message *message) { return message && message->counter == &tally; };
  for (auto &[rank, peer] : peers_)
    peer.wanted.removeIf([&, &peer = peer, from = Rank{rank}](Message &message) {
      if (isOurs(&message)) {
        noteGone(peer, message.tag);
        recall(from, peer, message.tag);
      }
      return isOurs(&message);
    });
  for (Question &question : questions_)
    if (isOurs(question.message))
      question.message = nullptr;
  courier_->forget(tally);
}

size_t Letters::numOpen() const {
  size_t count = questions_.size() - freeQuestions_.size();
  for (const auto &[rank, peer] : peers_)
    count += !peer.wanted.empty() + peer.aside.size() + peer.gone.size() + peer.asked.size() +
             peer.questions.size() + peer.invitations.size() + peer.invited.size();
  return count;
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
