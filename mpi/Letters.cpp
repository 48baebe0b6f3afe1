#include "mpi/Letters.h"

#include "mpi/Elements.h"
#include "mpi/Real.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <cstring>

namespace colldsl::mpi {
namespace {

constexpr int kLetterTag = 0; // all others are for bytes that were asked about
constexpr uint32_t kEars = 16;

// Of what concerns runs that failed.
constexpr size_t kMostKept = 1024;

template <typename T> void keepNewest(std::deque<T> &list, T newest) {
  list.push_back(std::move(newest));
  if (list.size() > kMostKept)
    list.pop_front();
}

} // namespace

struct Letters::Header {
  enum class Kind : uint32_t {
    Short,    ///< the message
    Question, ///< the message waits at `place` of its sender until there is an answer
    Answer,   ///< the bytes are wanted with this tag; 0: not at all
    Taken,    ///< so many letters were taken
    Failure,  ///< why `key` failed, because of which rank; its kind stands at `place`
  };
  Kind kind;
  uint32_t place;
  uint32_t number; ///< tag, count or rank
  Key key;
  uint64_t bytes; ///< of the message
};

struct Letters::Sheet {
  Header header;
  std::byte bytes[kLetterBytes - sizeof(Header)];
};

struct Letters::Aside {
  Header header;
  std::vector<std::byte> bytes;
};

const uint64_t Letters::kShortBytes = sizeof(Sheet::bytes);

Letters::Letters(MPI_Comm world) {
  isFine(real::Comm_dup(world, &comm_), "MPI_Comm_dup");
  isFine(real::Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int *most = nullptr, isThere = 0;
  isFine(real::Comm_get_attr(world, MPI_TAG_UB, &most, &isThere), "MPI_Comm_get_attr");
  numTags_ = isThere ? static_cast<uint32_t>(*most) : 32767;
  heard_.assign(kEars, MPI_REQUEST_NULL);
  for (uint32_t ear = 0; ear < kEars; ++ear) {
    ears_.push_back(std::make_unique<Sheet>());
    listen(ear);
  }
}

// What was promised is gone before the barrier; what comes in meanwhile nobody wants.
Letters::~Letters() {
  auto areLeaving = [](const Flight &flight) { return flight.kind != Flight::Kind::BytesIn; };
  while (status_ && std::any_of(flights_.begin(), flights_.end(), areLeaving))
    poll();
  MPI_Request all = MPI_REQUEST_NULL;
  int isThere = !isFine(real::Ibarrier(comm_, &all), "MPI_Ibarrier");
  while (!isThere) {
    poll();
    isThere = !isFine(real::Test(&all, &isThere, MPI_STATUS_IGNORE), "MPI_Test") || isThere;
  }
  for (std::vector<MPI_Request> *list : {&heard_, &requests_})
    for (MPI_Request &request : *list)
      if (request != MPI_REQUEST_NULL) {
        real::Cancel(&request);
        real::Wait(&request, MPI_STATUS_IGNORE);
      }
  real::Comm_free(&comm_);
}

// The first failure counts.
bool Letters::isFine(int code, const char *function) {
  if (status_ && code != MPI_SUCCESS)
    status_ = mpiStatus(code, function);
  return code == MPI_SUCCESS;
}

void Letters::listen(uint32_t ear) {
  isFine(real::Irecv(ears_[ear].get(), sizeof(Sheet), MPI_BYTE, MPI_ANY_SOURCE, kLetterTag, comm_,
                     &heard_[ear]),
         "MPI_Irecv");
}

bool Letters::poll() {
  if (!status_)
    return false;
  bool moved = hear();
  if (!requests_.empty())
    moved |= land();
  for (size_t held = held_.size(); held > 0 && !freeTags_.empty(); --held) {
    takeBytes(held_.front());
    held_.pop_front();
  }
  return moved;
}

bool Letters::hear() {
  bool moved = false;
  for (uint32_t heard = 0; status_ && heard < 4 * kEars; ++heard) {
    int isThere = 0;
    MPI_Status from;
    if (!isFine(real::Test(&heard_[ear_], &isThere, &from), "MPI_Test") || !isThere)
      break;
    read(Rank{static_cast<uint32_t>(from.MPI_SOURCE)}, ears_[ear_]->header, ears_[ear_]->bytes);
    listen(ear_);
    ear_ = (ear_ + 1) % kEars;
    moved = true;
  }
  return moved;
}

void Letters::read(Rank from, const Header &header, const std::byte *bytes) {
  switch (header.kind) {
  case Header::Kind::Short:
  case Header::Kind::Question:
    return deliver(from, header, bytes);
  case Header::Kind::Answer:
    return giveBytes(from, header);
  case Header::Kind::Taken:
    peers_[index(from)].ahead -= header.number;
    return;
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
  Peer &peer = peers_[index(from)];
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
    countTaken(from, peer);
  else
    answer(from, header.place, 0);
}

void Letters::refuseRun(const Key &key) {
  keepNewest(refused_, key);
  for (auto &[rank, peer] : peers_)
    for (auto at = peer.aside.begin(); at != peer.aside.end();) {
      auto next = std::next(at);
      if (isRefused(at->header.key)) {
        spare_.splice(spare_.begin(), peer.aside, at);
        throwAway(Rank{rank}, peer, at->header);
      }
      at = next;
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
    answer(from, header.place, 0);
  } else {
    if (fits)
      scatter(message.payload, 0, bytes, header.bytes);
    countTaken(from, peers_[index(from)]);
  }
  message.finish();
}

void Letters::countTaken(Rank from, Peer &peer) {
  if (++peer.taken < kMostAhead / 4)
    return;
  write(from, {Header::Kind::Taken, 0, peer.taken, {}, 0});
  peer.taken = 0;
}

void Letters::recv(Rank from, Message &message) {
  ++message.tally->open;
  message.moved = 0;
  Peer &peer = peers_[index(from)];
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.key; });
  if (at == peer.aside.end())
    return peer.wanted.push(message);
  spare_.splice(spare_.begin(), peer.aside, at);
  accept(from, message, at->header, at->bytes.data());
}

bool Letters::recvNow(Rank from, const Message &message) {
  Peer &peer = peers_[index(from)];
  auto at = std::find_if(peer.aside.begin(), peer.aside.end(),
                         [&](const Aside &a) { return a.header.key == message.key; });
  if (at == peer.aside.end() || at->header.kind != Header::Kind::Short ||
      at->header.bytes != message.payload.bytes)
    return false;
  scatter(message.payload, 0, at->bytes.data(), at->bytes.size());
  spare_.splice(spare_.begin(), peer.aside, at);
  countTaken(from, peer);
  return true;
}

void Letters::send(Rank to, Message &message) {
  ++message.tally->open;
  message.moved = message.payload.bytes;
  Peer &peer = peers_[index(to)];
  if (message.payload.bytes > kShortBytes || peer.ahead >= kMostAhead)
    return ask(to, message);
  ++peer.ahead;
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
  write(to, {Header::Kind::Question, place, 0, message.key, message.payload.bytes});
}

void Letters::answer(Rank to, uint32_t question, uint32_t tag) {
  write(to, {Header::Kind::Answer, question, tag, {}, 0});
}

// The memory is posted before its tag is told.
void Letters::takeBytes(const Asked &asked) {
  if (freeTags_.empty() && usedTags_ < numTags_)
    freeTags_.push_back(++usedTags_);
  if (freeTags_.empty())
    return held_.push_back(asked);
  uint32_t tag = freeTags_.back();
  freeTags_.pop_back();
  Elements elements(asked.message->payload, asked.message->moved);
  MPI_Request request = MPI_REQUEST_NULL;
  if (!isFine(real::Irecv(elements.address, elements.count, elements.type,
                          static_cast<int>(index(asked.peer)), static_cast<int>(tag), comm_,
                          &request),
              "MPI_Irecv"))
    return;
  fly(request, {Flight::Kind::BytesIn, asked.message, tag, asked.peer});
  answer(asked.peer, asked.question, tag);
}

void Letters::giveBytes(Rank to, const Header &answer) {
  Message *message = std::exchange(questions_[answer.place], nullptr);
  freeQuestions_.push_back(answer.place);
  if (!message)
    return;
  if (answer.number == 0)
    return message->finish();
  Elements elements(message->payload, message->payload.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (isFine(real::Isend(elements.address, elements.count, elements.type,
                         static_cast<int>(index(to)), static_cast<int>(answer.number), comm_,
                         &request),
             "MPI_Isend"))
    fly(request, {Flight::Kind::BytesOut, message, 0, to});
}

// The message is done once the MPI has the letter: then nobody need look after it.
void Letters::write(Rank to, const Header &header, const Payload &payload, Message *message) {
  if (freeSheets_.empty()) {
    freeSheets_.push_back(static_cast<uint32_t>(sheets_.size()));
    sheets_.push_back(std::make_unique<Sheet>());
  }
  uint32_t place = freeSheets_.back();
  Sheet &sheet = *sheets_[place];
  sheet.header = header;
  gather(sheet.bytes, payload, 0, payload.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  int isGone = 0;
  if (!isFine(real::Isend(&sheet, static_cast<int>(sizeof(Header) + payload.bytes), MPI_BYTE,
                          static_cast<int>(index(to)), kLetterTag, comm_, &request),
              "MPI_Isend") ||
      !isFine(real::Test(&request, &isGone, MPI_STATUS_IGNORE), "MPI_Test"))
    return;
  if (!isGone) {
    freeSheets_.pop_back();
    fly(request, {Flight::Kind::Letter, message, place, to});
  } else if (message) {
    message->finish();
  }
}

void Letters::fly(MPI_Request request, Flight flight) {
  requests_.push_back(request);
  flights_.push_back(std::move(flight));
}

bool Letters::land() {
  int count = 0;
  places_.resize(requests_.size());
  if (!isFine(real::Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                             places_.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome") ||
      count == 0)
    return false;
  for (size_t at = requests_.size(); at-- > 0;)
    if (requests_[at] == MPI_REQUEST_NULL) {
      landed(flights_[at]);
      flights_[at] = std::move(flights_.back());
      requests_[at] = requests_.back();
      flights_.pop_back();
      requests_.pop_back();
    }
  return true;
}

void Letters::landed(const Flight &flight) {
  if (flight.kind == Flight::Kind::Letter)
    freeSheets_.push_back(flight.number);
  if (flight.kind == Flight::Kind::BytesIn)
    freeTags_.push_back(flight.number);
  if (flight.message)
    flight.message->finish();
}

// Who sends something that is not wanted any more gets rid of it nevertheless.
void Letters::forget(const lanes::Tally &tally) {
  auto isOurs = [&](const Message *message) { return message && message->tally == &tally; };
  for (auto &[rank, peer] : peers_)
    peer.wanted.removeIf([&, &gone = peer.gone](Message &message) {
      if (isOurs(&message))
        gone.push_back(message.key);
      return isOurs(&message);
    });
  std::replace_if(questions_.begin(), questions_.end(), isOurs, nullptr);
  std::erase_if(held_, [&](const Asked &asked) {
    if (isOurs(asked.message))
      answer(asked.peer, asked.question, 0);
    return isOurs(asked.message);
  });
  forgetFlights(tally);
}

void Letters::forgetFlights(const lanes::Tally &tally) {
  auto isOurs = [&](const Flight &f) { return f.message && f.message->tally == &tally; };
  for (size_t at = 0; at < flights_.size(); ++at) {
    if (!isOurs(flights_[at]))
      continue;
    if (flights_[at].kind == Flight::Kind::Letter)
      flights_[at].message = nullptr;
    else if (flights_[at].kind == Flight::Kind::BytesIn)
      divert(at);
  }
  while (status_ && std::any_of(flights_.begin(), flights_.end(), isOurs))
    poll();
}

// The bytes go to memory of our own, unless they are here.
void Letters::divert(size_t at) {
  Flight &flight = flights_[at];
  uint64_t bytes = std::exchange(flight.message, nullptr)->moved;
  MPI_Status status;
  int isCancelled = 0;
  if (!isFine(real::Cancel(&requests_[at]), "MPI_Cancel") ||
      !isFine(real::Wait(&requests_[at], &status), "MPI_Wait") ||
      !isFine(real::Test_cancelled(&status, &isCancelled), "MPI_Test_cancelled") || !isCancelled)
    return;
  flight.memory.reset(new std::byte[bytes]);
  iovec memory{flight.memory.get(), bytes};
  Elements elements({&memory, 1, false, false, bytes}, bytes);
  isFine(real::Irecv(elements.address, elements.count, elements.type,
                     static_cast<int>(index(flight.peer)), static_cast<int>(flight.number), comm_,
                     &requests_[at]),
         "MPI_Irecv");
}

void Letters::sendFailure(Rank to, const Key &key, const Fault &fault) {
  iovec reason{const_cast<char *>(fault.reason.data()),
               std::min<size_t>(fault.reason.size(), kShortBytes)};
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
