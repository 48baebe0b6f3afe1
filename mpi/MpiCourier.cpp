#include "mpi/MpiCourier.h"

#include "mpi/Elements.h"
#include "mpi/Real.h"
#include "transports/Pieces.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

constexpr int kLetterTag = 0; // all others are for bytes that were asked about
constexpr uint32_t kEars = 16;

} // namespace

MpiCourier::MpiCourier(MPI_Comm world) : Courier(world) {
  int *most = nullptr, isThere = 0;
  isFine(real::Comm_get_attr(world, MPI_TAG_UB, &most, &isThere), "MPI_Comm_get_attr");
  numTags_ = isThere ? static_cast<uint32_t>(*most) : 32767;
  heard_.assign(kEars, MPI_REQUEST_NULL);
  for (uint32_t ear = 0; ear < kEars; ++ear) {
    ears_.push_back(std::make_unique<Sheet>());
    listen(ear);
  }
}

bool MpiCourier::isBusy() const {
  return std::any_of(flights_.begin(), flights_.end(),
                     [](const Flight &flight) { return flight.kind != Flight::Kind::BytesIn; });
}

MpiCourier::~MpiCourier() {
  for (std::vector<MPI_Request> *list : {&heard_, &requests_})
    for (MPI_Request &request : *list)
      if (request != MPI_REQUEST_NULL) {
        real::Cancel(&request);
        real::Wait(&request, MPI_STATUS_IGNORE);
      }
}

void MpiCourier::listen(uint32_t ear) {
  isFine(real::Irecv(ears_[ear].get(), sizeof(Sheet), MPI_BYTE, MPI_ANY_SOURCE, kLetterTag, comm_,
                     &heard_[ear]),
         "MPI_Irecv");
}

bool MpiCourier::poll() {
  if (!status_)
    return false;
  bool moved = hear();
  if (!requests_.empty())
    moved |= land();
  return moved;
}

bool MpiCourier::hear() {
  bool moved = false;
  for (uint32_t heard = 0; status_ && heard < 4 * kEars; ++heard) {
    int isThere = 0;
    MPI_Status from;
    if (!isFine(real::Test(&heard_[ear_], &isThere, &from), "MPI_Test") || !isThere)
      break;
    reader_->read(Rank{static_cast<uint32_t>(from.MPI_SOURCE)}, ears_[ear_]->bytes);
    listen(ear_);
    ear_ = (ear_ + 1) % kEars;
    moved = true;
  }
  return moved;
}

// Once the MPI has the letter nobody need look after it.
void MpiCourier::write(Rank to, std::span<const std::byte> header, const Payload &payload,
                       Message *message) {
  if (freeSheets_.empty()) {
    freeSheets_.push_back(static_cast<uint32_t>(sheets_.size()));
    sheets_.push_back(std::make_unique<Sheet>());
  }
  uint32_t place = freeSheets_.back();
  Sheet &sheet = *sheets_[place];
  std::copy(header.begin(), header.end(), sheet.bytes);
  gather(sheet.bytes + header.size(), payload, 0, payload.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  int isGone = 0;
  if (!isFine(real::Isend(&sheet, static_cast<int>(header.size() + payload.bytes), MPI_BYTE,
                          static_cast<int>(index(to)), kLetterTag, comm_, &request),
              "MPI_Isend") ||
      !isFine(real::Test(&request, &isGone, MPI_STATUS_IGNORE), "MPI_Test"))
    return;
  if (!isGone) {
    freeSheets_.pop_back();
    fly(request, {Flight::Kind::Letter, message, place, to});
  } else if (message) {
    message->complete();
  }
}

// The memory is posted before its tag is told.
std::optional<Courier::Place> MpiCourier::expect(Rank from, Message &message) {
  if (freeTags_.empty() && usedTags_ < numTags_)
    freeTags_.push_back(++usedTags_);
  if (freeTags_.empty())
    return std::nullopt;
  uint32_t tag = freeTags_.back();
  freeTags_.pop_back();
  Elements elements(message.payload, message.transferred);
  MPI_Request request = MPI_REQUEST_NULL;
  if (isFine(real::Irecv(elements.address, elements.count, elements.type,
                         static_cast<int>(index(from)), static_cast<int>(tag), comm_, &request),
             "MPI_Irecv"))
    fly(request, {Flight::Kind::BytesIn, &message, tag, from});
  return Place{.number = tag};
}

// It lands as what has come does.
void MpiCourier::expectNoMore(Rank from, const Place &place) {
  for (size_t at = 0; at < flights_.size(); ++at) {
    Flight &flight = flights_[at];
    if (flight.kind != Flight::Kind::BytesIn || flight.peer != from ||
        flight.number != place.number)
      continue;
    flight.message = nullptr;
    isFine(real::Cancel(&requests_[at]), "MPI_Cancel");
  }
}

void MpiCourier::give(Rank to, Message &message, const Place &place) {
  Elements elements(message.payload, message.payload.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (isFine(real::Isend(elements.address, elements.count, elements.type,
                         static_cast<int>(index(to)), static_cast<int>(place.number), comm_,
                         &request),
             "MPI_Isend"))
    fly(request, {Flight::Kind::BytesOut, &message, 0, to});
}

void MpiCourier::fly(MPI_Request request, Flight flight) {
  requests_.push_back(request);
  flights_.push_back(std::move(flight));
}

bool MpiCourier::land() {
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

void MpiCourier::landed(const Flight &flight) {
  if (flight.kind == Flight::Kind::Letter)
    freeSheets_.push_back(flight.number);
  if (flight.kind == Flight::Kind::BytesIn)
    freeTags_.push_back(flight.number);
  if (flight.kind == Flight::Kind::BytesIn)
    reader_->arrived(flight.peer, flight.number, flight.message);
  else if (flight.message)
    flight.message->complete();
}

void MpiCourier::forget(const protocol::CompletionCounter &tally) {
  auto isOurs = [&](const Flight &f) { return f.message && f.message->counter == &tally; };
  for (size_t at = 0; at < flights_.size(); ++at) {
    if (!isOurs(flights_[at]))
      continue;
    if (flights_[at].kind == Flight::Kind::Letter)
      flights_[at].message = nullptr;
    else if (flights_[at].kind == Flight::Kind::BytesIn)
      divert(at);
  }
  while (status_ && std::any_of(flights_.begin(), flights_.end(), isOurs))
    if (!poll())
      moveOthers_();
}

// The bytes go to memory of our own, unless they are here.
void MpiCourier::divert(size_t at) {
  Flight &flight = flights_[at];
  uint64_t bytes = std::exchange(flight.message, nullptr)->transferred;
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

} // namespace colldsl::mpi
