#include "mpi/remote/MpiCarrier.h"

#include "mpi/Real.h"

#include <algorithm>
#include <climits>

namespace colldsl::mpi {
namespace {

using network::Access;
using network::PostResult;
using network::Region;

constexpr int kFrameTag = 0; // all others are for writes
constexpr uint32_t kReceives = 16;
// Short for any MPI.
constexpr uint32_t kFrameBytes = 4032;
// The MPI counts by int.
constexpr uint64_t kLongestBlock = uint64_t{1} << 30;

void end(MPI_Request &request) {
  if (request == MPI_REQUEST_NULL)
    return;
  real::Cancel(&request);
  real::Wait(&request, MPI_STATUS_IGNORE);
}

int rankOf(const network::Peer &peer) { return static_cast<int>(peer.handle); }

/// The first `bytes` bytes of a payload: `count` elements of `type` at `address`. May be destroyed
/// as soon as the call that takes them has begun.
struct PayloadElements {
  PayloadElements(const Payload &payload, uint64_t bytes);
  ~PayloadElements();
  PayloadElements(const PayloadElements &) = delete;
  PayloadElements &operator=(const PayloadElements &) = delete;

  void *address = MPI_BOTTOM;
  int count = 1;
  MPI_Datatype type = MPI_BYTE;
};

PayloadElements::PayloadElements(const Payload &payload, uint64_t bytes) {
  if (payload.count == 1 && bytes <= INT_MAX) {
    address = payload.pieces[0].iov_base;
    count = static_cast<int>(bytes);
    return;
  }
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (uint32_t i = 0; i < payload.count && bytes > 0; ++i) {
    auto *at = static_cast<std::byte *>(payload.pieces[i].iov_base);
    for (uint64_t left = std::min<uint64_t>(payload.pieces[i].iov_len, bytes); left > 0;) {
      uint64_t block = std::min(left, kLongestBlock);
      lengths.push_back(static_cast<int>(block));
      places.push_back(reinterpret_cast<MPI_Aint>(at));
      at += block;
      left -= block;
      bytes -= block;
    }
  }
  real::Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                             MPI_BYTE, &type);
  real::Type_commit(&type);
}

PayloadElements::~PayloadElements() {
  if (type != MPI_BYTE)
    real::Type_free(&type);
}

} // namespace

/// A posted receive of a write. Its end cancels it, unless the bytes are here or on their way.
class MpiCarrier::PostedMemory : public Region::Registration {
public:
  PostedMemory(MpiCarrier &carrier, int tag) : carrier_(carrier) {
    key = static_cast<uint64_t>(tag);
  }
  ~PostedMemory() override { carrier_.cancel(static_cast<int>(key)); }

private:
  MpiCarrier &carrier_;
};

MpiCarrier::MpiCarrier(MPI_Comm world) {
  capabilities_ = {.name = "the MPI below",
                   .frameBytes = kFrameBytes,
                   .pieces = network::kMaxPieces,
                   .remoteIovs = network::kMaxRemoteIovs,
                   .registersPieces = true,
                   .hasRma = true,
                   .pinsPages = true,
                   .immediateIsKey = true,
                   .isWatched = false};
  int *most = nullptr, isThere = 0;
  if (isFine(real::Comm_dup(world, &comm_), "MPI_Comm_dup") &&
      isFine(real::Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler") &&
      isFine(real::Comm_get_attr(world, MPI_TAG_UB, &most, &isThere), "MPI_Comm_get_attr"))
    mostTag_ = isThere ? *most : 32767;
}

MpiCarrier::~MpiCarrier() {
  stop();
  if (comm_ != MPI_COMM_NULL)
    real::Comm_free(&comm_);
}

// The first failure counts.
bool MpiCarrier::isFine(int code, const char *function) {
  if (code == MPI_SUCCESS)
    return true;
  if (status_) {
    status_ = mpiStatus(code, function);
    if (handler_)
      handler_->onBroken("cannot use the MPI below: " + status_.message());
  }
  return false;
}

Status MpiCarrier::start(network::CarrierHandler &handler, const network::Owner &owner) {
  frameBytes_ = owner.frameBytes;
  frames_.resize(uint64_t{kReceives} * frameBytes_);
  receives_.assign(kReceives, MPI_REQUEST_NULL);
  for (uint32_t i = 0; i < kReceives && status_; ++i)
    post(i);
  handler_ = &handler;
  return status_;
}

Status MpiCarrier::reach(network::Peer &peer, const network::RankAddress &) {
  peer.handle = index(peer.rank);
  return {};
}

bool MpiCarrier::post(uint32_t receive) {
  return isFine(real::Irecv(&frames_[uint64_t{receive} * frameBytes_],
                            static_cast<int>(frameBytes_), MPI_BYTE, MPI_ANY_SOURCE, kFrameTag,
                            comm_, &receives_[receive]),
                "MPI_Irecv");
}

// Frames of one peer match the receives in the order of posting, and are taken in that order.
bool MpiCarrier::receive() {
  bool moved = false;
  for (uint32_t taken = 0; taken < 4 * kReceives && status_; ++taken) {
    int isHere = 0, bytes = 0;
    MPI_Status status;
    if (!isFine(real::Test(&receives_[next_], &isHere, &status), "MPI_Test") || !isHere ||
        !isFine(real::Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count"))
      break;
    handler_->onBytes({&frames_[uint64_t{next_} * frameBytes_], static_cast<size_t>(bytes)});
    post(next_);
    next_ = (next_ + 1) % kReceives;
    moved = true;
  }
  return moved;
}

PostResult MpiCarrier::offered(int code, MPI_Request request, network::Operation &operation) {
  if (code != MPI_SUCCESS) {
    reason_ = mpiStatus(code, "MPI_Isend").message();
    return PostResult::Error;
  }
  add(request, {&operation, 0});
  return PostResult::Ok;
}

PostResult MpiCarrier::send(network::Peer &to, network::Frame &frame) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Isend(frame.data, static_cast<int>(frame.bytes), MPI_BYTE, rankOf(to), kFrameTag,
                         comm_, &request);
  return offered(code, request, frame);
}

PostResult MpiCarrier::read(network::RmaOperation &, const network::RmaSpec &) {
  reason_ = "its memory cannot be read over the MPI below";
  return PostResult::Error;
}

PostResult MpiCarrier::write(network::RmaOperation &rma, const network::RmaSpec &spec) {
  PayloadElements elements({spec.pieces, spec.count, true, false, spec.bytes}, spec.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Isend(elements.address, elements.count, elements.type, rankOf(*rma.peer),
                         static_cast<int>(spec.key), comm_, &request);
  return offered(code, request, rma);
}

Result<Region> MpiCarrier::registerMemory(std::span<const iovec> pieces, Access access) {
  if (access != Access::RemoteWrite)
    return Status::error("over the MPI below memory can be written, and nothing else");
  if (freeTags_.empty() && usedTags_ < mostTag_)
    freeTags_.push_back(++usedTags_);
  if (freeTags_.empty())
    return Status::error("the MPI below has no more tags");
  int tag = freeTags_.back();
  Payload memory = {.pieces = pieces.data(), .count = static_cast<uint32_t>(pieces.size())};
  for (const iovec &piece : pieces)
    memory.bytes += piece.iov_len;
  PayloadElements elements(memory, memory.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Irecv(elements.address, elements.count, elements.type, MPI_ANY_SOURCE, tag,
                         comm_, &request);
  if (!isFine(code, "MPI_Irecv"))
    return status_;
  freeTags_.pop_back();
  add(request, {nullptr, tag});
  return Region(std::make_unique<PostedMemory>(*this, tag));
}

void MpiCarrier::cancel(int tag) {
  for (size_t at = requests_.size(); at-- > 0;)
    if (outstanding_[at].tag == tag) {
      end(requests_[at]);
      remove(at);
    }
  std::erase_if(completed_, [&](const Outstanding &completed) { return completed.tag == tag; });
  freeTags_.push_back(tag);
}

void MpiCarrier::add(MPI_Request request, Outstanding outstanding) {
  requests_.push_back(request);
  outstanding_.push_back(outstanding);
}

void MpiCarrier::remove(size_t at) {
  outstanding_[at] = outstanding_.back();
  requests_[at] = requests_.back();
  outstanding_.pop_back();
  requests_.pop_back();
}

bool MpiCarrier::poll() {
  if (!status_)
    return false;
  bool moved = receive();
  return (!requests_.empty() && findCompleted() && reportCompleted()) || moved;
}

bool MpiCarrier::findCompleted() {
  int count = 0;
  places_.resize(requests_.size());
  if (!isFine(real::Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                             places_.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome"))
    return false;
  for (size_t at = requests_.size(); at-- > 0 && count > 0;)
    if (requests_[at] == MPI_REQUEST_NULL) {
      completed_.push_back(outstanding_[at]);
      remove(at);
    }
  return !completed_.empty();
}

// The reader may cancel other operations meanwhile.
bool MpiCarrier::reportCompleted() {
  while (!completed_.empty()) {
    Outstanding first = completed_.front();
    completed_.pop_front();
    if (first.operation)
      handler_->onDone(*first.operation);
    else
      handler_->onRemoteWrite(static_cast<uint32_t>(first.tag));
  }
  return true;
}

void MpiCarrier::stop() {
  for (std::vector<MPI_Request> *list : {&receives_, &requests_})
    for (MPI_Request &request : *list)
      end(request);
  requests_.clear();
  outstanding_.clear();
  completed_.clear();
}

} // namespace colldsl::mpi
