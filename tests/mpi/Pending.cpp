#include "tests/mpi/Pending.h"

#include <algorithm>

namespace conformance {
namespace {

constexpr int kTag = 4711;

/// Ints that go from one rank to the other.
class Data {
public:
  Data(Pending::Roles roles, int count, bool fromOrigin)
      : isReceived_(fromOrigin ? roles.isPartner : roles.isOrigin), ints_(count) {
    bool isSent = fromOrigin ? roles.isOrigin : roles.isPartner;
    for (int i = 0; i < count; ++i)
      ints_[i] = isSent ? 3 * i + 1 : -1;
  }
  int *data() { return ints_.data(); }
  int count() const { return static_cast<int>(ints_.size()); }
  void check(Report &report) const {
    for (int i = 0; isReceived_ && i < count(); ++i)
      if (ints_[i] != 3 * i + 1)
        return report.mismatch("a pending operation", "wrong data at " + std::to_string(i));
  }

private:
  bool isReceived_;
  std::vector<int> ints_;
};

using SendCall = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/// A message that the origin sends.
class Sent : public Pending {
public:
  Sent(Roles roles, int count, SendCall call)
      : Pending(roles), data_(roles, count, true), call_(call) {}
  void begin() override {
    requests_.resize(1);
    call_(data_.data(), data_.count(), MPI_INT, roles_.partner, kTag, MPI_COMM_WORLD,
          requests_.data());
  }
  void answer() override {
    MPI_Recv(data_.data(), data_.count(), MPI_INT, roles_.origin, kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  void check(Report &report) const override { data_.check(report); }

protected:
  Data data_;

private:
  SendCall call_;
};

/// The same out of a buffer that is attached.
class Buffered : public Sent {
public:
  Buffered(Roles roles, int count)
      : Sent(roles, count, MPI_Ibsend), buffer_(4 * static_cast<size_t>(count) + 4096) {
    MPI_Buffer_attach(buffer_.data(), static_cast<int>(buffer_.size()));
  }
  ~Buffered() override {
    void *buffer;
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
  }

private:
  std::vector<char> buffer_;
};

/// A message that the origin receives.
class Received : public Pending {
public:
  Received(Roles roles, int count, bool isSynchronous)
      : Pending(roles), data_(roles, count, false), isSynchronous_(isSynchronous) {}
  void begin() override {
    requests_.resize(1);
    MPI_Irecv(data_.data(), data_.count(), MPI_INT, roles_.partner, kTag, MPI_COMM_WORLD,
              requests_.data());
  }
  void answer() override {
    auto send = isSynchronous_ ? MPI_Ssend : MPI_Send;
    send(data_.data(), data_.count(), MPI_INT, roles_.origin, kTag, MPI_COMM_WORLD);
  }
  void check(Report &report) const override { data_.check(report); }

private:
  Data data_;
  bool isSynchronous_;
};

class Persistent : public Sent {
public:
  Persistent(Roles roles, int count) : Sent(roles, count, MPI_Isend) {}
  ~Persistent() override {
    for (MPI_Request &request : made_)
      MPI_Request_free(&request);
  }
  void begin() override {
    made_.resize(1);
    MPI_Send_init(data_.data(), data_.count(), MPI_INT, roles_.partner, kTag, MPI_COMM_WORLD,
                  made_.data());
    MPI_Startall(1, made_.data());
    requests_ = made_;
  }

private:
  std::vector<MPI_Request> made_;
};

#if MPI_VERSION >= 4
/// In two partitions, the second of which is ready first.
class Partitioned : public Pending {
public:
  Partitioned(Roles roles, int count) : Pending(roles), data_(roles, 2 * (count / 2 + 1), true) {
    if (roles.isOrigin)
      MPI_Psend_init(data_.data(), 2, data_.count() / 2, MPI_INT, roles.partner, kTag,
                     MPI_COMM_WORLD, MPI_INFO_NULL, &made_);
    if (roles.isPartner)
      MPI_Precv_init(data_.data(), 2, data_.count() / 2, MPI_INT, roles.origin, kTag,
                     MPI_COMM_WORLD, MPI_INFO_NULL, &made_);
  }
  ~Partitioned() override {
    if (made_ != MPI_REQUEST_NULL)
      MPI_Request_free(&made_);
  }
  void begin() override {
    MPI_Start(&made_);
    MPI_Pready(1, made_);
    MPI_Pready(0, made_);
    requests_ = {made_};
  }
  void answer() override {
    MPI_Start(&made_);
    MPI_Wait(&made_, MPI_STATUS_IGNORE);
  }
  void check(Report &report) const override { data_.check(report); }

private:
  Data data_;
  MPI_Request made_ = MPI_REQUEST_NULL;
};
#endif

/// The ranks below a border on one side, the others on the other; the border lies between origin
/// and partner.
class Between : public Pending {
public:
  explicit Between(Roles roles) : Pending(roles) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int border = std::max(roles.origin, roles.partner);
    bool isLow = rank < border;
    MPI_Comm_split(MPI_COMM_WORLD, isLow, rank, &side_);
    MPI_Intercomm_create(side_, 0, MPI_COMM_WORLD, isLow ? border : 0, kTag, &comm_);
    peer_ = roles.isOrigin ? roles.partner : roles.origin;
    peer_ -= peer_ < border ? 0 : border;
  }
  ~Between() override {
    MPI_Comm_free(&comm_);
    MPI_Comm_free(&side_);
  }

protected:
  MPI_Comm side_, comm_;
  int peer_; ///< the other of origin and partner, in its group
};

class BetweenMessage : public Between {
public:
  BetweenMessage(Roles roles, int count) : Between(roles), data_(roles, count, true) {}
  void begin() override {
    requests_.resize(1);
    MPI_Issend(data_.data(), data_.count(), MPI_INT, peer_, kTag, comm_, requests_.data());
  }
  void answer() override {
    MPI_Recv(data_.data(), data_.count(), MPI_INT, peer_, kTag, comm_, MPI_STATUS_IGNORE);
  }
  void check(Report &report) const override { data_.check(report); }

private:
  Data data_;
};

/// A nonblocking collective of an intercommunicator, which only the partner waits for at once.
class BetweenAll : public Between {
public:
  explicit BetweenAll(Roles roles) : Between(roles) {}
  ~BetweenAll() override { MPI_Waitall(1, &standing_, MPI_STATUSES_IGNORE); }
  void begin() override {
    requests_.resize(1);
    MPI_Iallreduce(&one_, &sum_, 1, MPI_INT, MPI_SUM, comm_, requests_.data());
  }
  void answer() override {
    MPI_Request request;
    MPI_Iallreduce(&one_, &sum_, 1, MPI_INT, MPI_SUM, comm_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  void stand() override { MPI_Iallreduce(&one_, &sum_, 1, MPI_INT, MPI_SUM, comm_, &standing_); }
  void check(Report &report) const override {
    int others;
    MPI_Comm_remote_size(comm_, &others);
    report.expect(sum_ == others, "MPI_Iallreduce", "wrong sum on an intercommunicator");
  }

private:
  MPI_Request standing_ = MPI_REQUEST_NULL;
  int one_ = 1, sum_ = 0;
};

/// A duplicate that is being made. Of a communicator of its own: Open MPI 4.1.4 mixes the messages
/// up of what it does for that and of other nonblocking calls on the original.
class Duplicate : public Pending {
public:
  explicit Duplicate(Roles roles) : Pending(roles) { MPI_Comm_dup(MPI_COMM_WORLD, &original_); }
  ~Duplicate() override {
    MPI_Waitall(1, &standing_, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&made_);
    MPI_Comm_free(&original_);
  }
  void begin() override {
    requests_.resize(1);
    MPI_Comm_idup(original_, &made_, requests_.data());
  }
  void answer() override {
    MPI_Request request;
    MPI_Comm_idup(original_, &made_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  void stand() override { MPI_Comm_idup(original_, &made_, &standing_); }
  void check(Report &report) const override {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(MPI_COMM_WORLD, made_, &result);
    report.expect(result == MPI_CONGRUENT, "MPI_Comm_idup", "the duplicate is of other ranks");
  }

private:
  MPI_Comm original_, made_ = MPI_COMM_NULL;
  MPI_Request standing_ = MPI_REQUEST_NULL;
};

/// The partner writes to the origin's memory, adds to it, and reads it.
class OneSided : public Pending {
public:
  OneSided(Roles roles, int count) : Pending(roles), memory_(count, 1), mine_(count, 5) {
    MPI_Win_create(memory_.data(), 4 * static_cast<MPI_Aint>(count), 4, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window_);
  }
  ~OneSided() override { MPI_Win_free(&window_); }
  void begin() override {}
  void answer() override {
    int count = static_cast<int>(mine_.size());
    for (int method = 0; method < 3; ++method) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, roles_.origin, 0, window_);
      if (method == 0)
        MPI_Put(mine_.data(), count, MPI_INT, roles_.origin, 0, count, MPI_INT, window_);
      else if (method == 1)
        MPI_Accumulate(mine_.data(), count, MPI_INT, roles_.origin, 0, count, MPI_INT, MPI_SUM,
                       window_);
      else
        MPI_Get(mine_.data(), count, MPI_INT, roles_.origin, 0, count, MPI_INT, window_);
      MPI_Win_unlock(roles_.origin, window_);
    }
  }
  void check(Report &report) const override {
    bool isRight = std::all_of(mine_.begin(), mine_.end(), [](int i) { return i == 10; });
    report.expect(!roles_.isPartner || isRight, "MPI_Get", "wrong data");
  }

private:
  std::vector<int> memory_, mine_;
  MPI_Win window_;
};

} // namespace

bool has(PendingKind kind) { return kind != PendingKind::Partitioned || MPI_VERSION >= 4; }

std::unique_ptr<Pending> Pending::make(PendingKind kind, Roles roles, int count) {
  switch (kind) {
  case PendingKind::Isend:
    return std::make_unique<Sent>(roles, count, MPI_Isend);
  case PendingKind::Issend:
    return std::make_unique<Sent>(roles, count, MPI_Issend);
  case PendingKind::Ibsend:
    return std::make_unique<Buffered>(roles, count);
  case PendingKind::Irecv:
    return std::make_unique<Received>(roles, count, false);
  case PendingKind::IrecvOfSsend:
    return std::make_unique<Received>(roles, count, true);
  case PendingKind::Persistent:
    return std::make_unique<Persistent>(roles, count);
  case PendingKind::Partitioned:
#if MPI_VERSION >= 4
    return std::make_unique<Partitioned>(roles, count);
#else
    return nullptr;
#endif
  case PendingKind::Intercommunicator:
    return std::make_unique<BetweenMessage>(roles, count);
  case PendingKind::Collective:
    return std::make_unique<BetweenAll>(roles);
  case PendingKind::Duplicate:
    return std::make_unique<Duplicate>(roles);
  case PendingKind::OneSided:
    return std::make_unique<OneSided>(roles, count);
  }
  __builtin_unreachable();
}

} // namespace conformance
