// Wait, test, start, free: for handles of ours, of the MPI below, and arrays of both.
#include "mpi/EntryPoints.h"

#include <algorithm>

using namespace colldsl::mpi;
using colldsl::Status;
using Slot = Requests::Slot;

namespace {

MPI_Status *at(MPI_Status *statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

[[gnu::noinline]] Slot *lookUp(MPI_Request handle) {
  Guard guard(*Job::current());
  return Requests::all().find(handle);
}

/// A slot belongs to the thread that has its handle.
Slot *find(MPI_Request handle) { return Requests::mayBeOurs(handle) ? lookUp(handle) : nullptr; }

bool anyOurs(int count, const MPI_Request *requests) {
  return std::any_of(requests, requests + count, [](MPI_Request r) { return find(r) != nullptr; });
}

int complete(Slot &slot, MPI_Request *request, MPI_Status *status) {
  MPI_Comm comm = slot.comm;
  uint64_t since = slot.since;
  Status s = Requests::all().complete(slot, *request);
  clear(status);
  return s ? MPI_SUCCESS : raise(comm, since, s);
}

/// Ends an operation that is under way when a rank dies.
int fail(Slot &slot, MPI_Request *request, const Status &why) {
  MPI_Comm comm = slot.comm;
  uint64_t since = slot.since;
  Requests::all().cancel(slot, *request);
  return raise(comm, since, why);
}

int failAll(int count, MPI_Request *requests, const Status &why) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (Slot *slot = find(requests[i]); slot && !slot->isDone())
      code = fail(*slot, &requests[i], why);
  return code == MPI_SUCCESS ? raise(MPI_COMM_WORLD, why) : code;
}

/// Waits for a run that takes longer or failed, or for a request without a run. Under a Guard.
[[gnu::noinline]] int waitLonger(Job &job, Slot &slot, MPI_Request *request, MPI_Status *status) {
  Status moved = job.waitUntil([&] { return slot.isDone(); });
  return moved ? complete(slot, request, status) : fail(slot, request, moved);
}

/// False: the request is not ours.
bool waitForOurs(MPI_Request *request, MPI_Status *status, int &code) {
  if (!Requests::mayBeOurs(*request))
    return false;
  Job &job = *Job::current();
  Guard guard(job);
  Requests &ours = Requests::all();
  Slot *slot = ours.find(*request);
  if (!slot)
    return false;
  if (ours.tryComplete(*slot, *request))
    clear(status);
  else
    code = waitLonger(job, *slot, request, status);
  return true;
}

/// False: the request is not ours.
bool startOurs(MPI_Request *request, int &code) {
  if (!Requests::mayBeOurs(*request))
    return false;
  Guard guard(*Job::current());
  Requests &ours = Requests::all();
  Slot *slot = ours.find(*request);
  if (!slot)
    return false;
  code = slot->isRunning || !slot->isPersistent ? MPI_ERR_REQUEST : MPI_SUCCESS;
  if (code == MPI_SUCCESS)
    ours.start(*slot);
  else
    real::Comm_call_errhandler(slot->comm, code);
  return true;
}

/// The requests of an array that are not ours, for calls of the MPI below that take arrays.
class Others {
public:
  Others(int count, const MPI_Request *requests) {
    for (int i = 0; i < count; ++i)
      if (!find(requests[i]))
        places_.push_back(i);
    for (int i : places_)
      handles_.push_back(requests[i]);
    statuses_.resize(handles_.size());
  }
  int count() const { return static_cast<int>(handles_.size()); }
  MPI_Request *handles() { return handles_.data(); }
  MPI_Status *statuses() { return statuses_.data(); }
  int place(int i) const { return places_[static_cast<size_t>(i)]; }

  /// Copies the handles, as the MPI below changed them, back to the program's array.
  void giveBackTo(MPI_Request *all) const {
    for (size_t i = 0; i < places_.size(); ++i)
      all[places_[i]] = handles_[i];
  }

private:
  std::vector<int> places_;
  std::vector<MPI_Request> handles_;
  std::vector<MPI_Status> statuses_;
};

void copyStatus(MPI_Status *to, const MPI_Status &from) {
  if (to != MPI_STATUS_IGNORE)
    *to = from;
}

/// A call that completes requests: MPI_Test and its forms for arrays.
struct Completes {
  static constexpr bool kCompletes = true;
  static int one(Slot &slot, MPI_Request &request, MPI_Status *status) {
    return complete(slot, &request, status);
  }
};

/// A call that looks at requests: MPI_Request_get_status and its forms for arrays. The call that
/// completes a request reports its failure.
struct Looks {
  static constexpr bool kCompletes = false;
  static int one(const Slot &, MPI_Request, MPI_Status *status) {
    clear(status);
    return MPI_SUCCESS;
  }
};

/// Looks once at a request, which may be any; `passOn()` looks at one that is not ours.
template <typename Kind, typename PassOn>
int testOne(MPI_Request &request, int *flag, MPI_Status *status, PassOn passOn) {
  Status moved = moveOnce();
  Slot *slot = find(request);
  if (!slot)
    return passOn();
  Guard guard(*Job::current());
  bool isDone = slot->isDone();
  *flag = isDone || !moved;
  if (isDone || (!moved && !Kind::kCompletes))
    return Kind::one(*slot, request, status);
  if constexpr (Kind::kCompletes)
    if (!moved)
      return fail(*slot, &request, moved);
  Job::current()->progress();
  return MPI_SUCCESS;
}

// Below, `below` is the function of the MPI below for requests that are not ours.

/// Array: MPI_Request *, or const MPI_Request * of a call that looks. Some are ours.
template <typename Kind, typename Below, typename Array>
int testAny(Below below, int count, Array requests, int *index, int *flag, MPI_Status *status) {
  bool anyActive = false;
  *flag = 1;
  for (*index = 0; *index < count; ++*index)
    if (Slot *slot = find(requests[*index]); slot && slot->isRunning) {
      anyActive = true;
      if (slot->isDone())
        return Kind::one(*slot, requests[*index], status);
    }
  Others others(count, requests);
  int which = MPI_UNDEFINED;
  int code = below(others.count(), others.handles(), &which, flag, status);
  if constexpr (Kind::kCompletes)
    others.giveBackTo(requests);
  *index = which == MPI_UNDEFINED ? MPI_UNDEFINED : others.place(which);
  if (which == MPI_UNDEFINED && anyActive)
    *flag = 0;
  return code;
}

template <typename Kind, typename Below, typename Array>
int testSome(Below below, int count, Array requests, int *outcount, int *indices,
             MPI_Status *statuses) {
  int done = 0, code = MPI_SUCCESS;
  bool anyActive = false;
  for (int i = 0; i < count; ++i)
    if (Slot *slot = find(requests[i]); slot && slot->isRunning) {
      anyActive = true;
      if (!slot->isDone())
        continue;
      if (int c = Kind::one(*slot, requests[i], at(statuses, done)); c != MPI_SUCCESS)
        code = c;
      indices[done++] = i;
    }
  Others others(count, requests);
  std::vector<int> which(static_cast<size_t>(others.count()) + 1);
  int theirs = 0;
  if (int c = below(others.count(), others.handles(), &theirs, which.data(), others.statuses());
      c != MPI_SUCCESS)
    code = c;
  if constexpr (Kind::kCompletes)
    others.giveBackTo(requests);
  if (theirs == MPI_UNDEFINED) {
    *outcount = anyActive ? done : MPI_UNDEFINED;
    return code;
  }
  for (int i = 0; i < theirs; ++i) {
    copyStatus(at(statuses, done), others.statuses()[i]);
    indices[done++] = others.place(which[static_cast<size_t>(i)]);
  }
  *outcount = done;
  return code;
}

bool allOursDone(int count, const MPI_Request *requests) {
  return std::all_of(requests, requests + count, [](MPI_Request r) {
    Slot *slot = find(r);
    return !slot || slot->isDone();
  });
}

template <typename Kind, typename Array>
int endOurs(int count, Array requests, MPI_Status *statuses) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (Slot *slot = find(requests[i]))
      if (int c = Kind::one(*slot, requests[i], at(statuses, i)); c != MPI_SUCCESS)
        code = c;
  return code;
}

template <typename Kind, typename Below, typename Array>
int testAll(Below below, int count, Array requests, int *flag, MPI_Status *statuses) {
  *flag = 0;
  if (!allOursDone(count, requests))
    return MPI_SUCCESS;
  Others others(count, requests);
  int code = below(others.count(), others.handles(), flag, others.statuses());
  if (!*flag)
    return code;
  if (int c = endOurs<Kind>(count, requests, statuses); c != MPI_SUCCESS)
    code = c;
  for (int i = 0; i < others.count(); ++i)
    copyStatus(at(statuses, others.place(i)), others.statuses()[i]);
  if constexpr (Kind::kCompletes)
    others.giveBackTo(requests);
  return code;
}

/// Waits for one after the other, until one takes longer. False: one does, or some are not ours.
bool waitForOurs(int count, MPI_Request *requests, MPI_Status *statuses, int &code) {
  Guard guard(*Job::current());
  bool areOurs = true;
  for (int i = 0; i < count; ++i) {
    Slot *slot = find(requests[i]);
    areOurs = areOurs && slot;
    if (slot && !slot->await())
      return false;
  }
  if (areOurs)
    code = endOurs<Completes>(count, requests, statuses);
  return areOurs;
}

/// An array with some requests that may be ours, for a call that waits: each request completes when
/// it can. MPICH's MPI_Testall refuses partitioned messages.
class WaitForAll {
public:
  WaitForAll(int count, MPI_Request *requests, MPI_Status *statuses)
      : requests_(requests), statuses_(statuses), errors_(static_cast<size_t>(count)) {
    for (int i = 0; i < count; ++i)
      open_.push_back(i);
  }

  /// Tests all open requests. The result is valid once isDone is not 0.
  int tryOnce(int &isDone) {
    std::erase_if(open_, [this](int i) { return tryOne(i); });
    isDone = open_.empty();
    return isDone ? end() : MPI_SUCCESS;
  }

private:
  bool tryOne(int i) {
    int isOver = 0;
    Slot *slot = find(requests_[i]);
    if (slot && !slot->isDone())
      return false;
    if (slot) {
      if (int code = complete(*slot, &requests_[i], at(statuses_, i)); code != MPI_SUCCESS)
        code_ = code;
      return true;
    }
    int code = real::Test(&requests_[i], &isOver, at(statuses_, i));
    if (code != MPI_SUCCESS) {
      errors_[static_cast<size_t>(i)] = code;
      code_ = MPI_ERR_IN_STATUS;
    }
    return isOver || code != MPI_SUCCESS;
  }

  int end() {
    for (size_t i = 0; code_ == MPI_ERR_IN_STATUS && i < errors_.size(); ++i)
      if (MPI_Status *status = at(statuses_, static_cast<int>(i)); status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = errors_[i];
    return code_;
  }

  MPI_Request *requests_;
  MPI_Status *statuses_;
  std::vector<int> errors_, open_;
  int code_ = MPI_SUCCESS;
};

/// Looks once at an array: `passOn` at one without requests of ours; `tryOnce` sets `*flag`.
template <typename Kind, typename Array, typename PassOn, typename Try>
int testOnce(int count, Array requests, int *flag, PassOn passOn, Try tryOnce) {
  Status moved = moveOnce();
  if (!anyOurs(count, requests))
    return passOn();
  Guard guard(*Job::current());
  int code = tryOnce();
  if (*flag || code != MPI_SUCCESS)
    return code;
  if constexpr (Kind::kCompletes)
    if (!moved) {
      *flag = 1;
      return failAll(count, requests, moved);
    }
  Job::current()->progress();
  return code;
}

/// Waits for an array that has requests of ours, or whose requests complete while others move.
template <typename Try> int repeat(int count, MPI_Request *requests, Try tryOnce) {
  return repeatBelow(tryOnce, [&](const Status &why) { return failAll(count, requests, why); });
}

} // namespace

COLLDSL_ENTRY(Wait, (MPI_Request * request, MPI_Status *status)) {
  return Requests::mayPassOn() ? real::Wait(request, status) : aside([=] {
    int code = MPI_SUCCESS;
    if (waitForOurs(request, status, code))
      return code;
    return mustMove() ? waitBelow(request, status) : callBelow(real::Wait, request, status);
  });
}

COLLDSL_ENTRY(Test, (MPI_Request * request, int *flag, MPI_Status *status)) {
  return Requests::mayPassOn() ? real::Test(request, flag, status) : aside([=] {
    return testOne<Completes>(*request, flag, status,
                              [=] { return real::Test(request, flag, status); });
  });
}

COLLDSL_ENTRY(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status)) {
  return Requests::mayPassOn() ? real::Request_get_status(request, flag, status) : aside([=] {
    MPI_Request looked = request;
    return testOne<Looks>(looked, flag, status,
                          [=] { return real::Request_get_status(request, flag, status); });
  });
}

COLLDSL_ENTRY(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses)) {
  return Requests::mayPassOn() ? real::Waitall(count, requests, statuses) : aside([=] {
    if (!mustMove() && !anyOurs(count, requests))
      return callBelow(real::Waitall, count, requests, statuses);
    int code = MPI_SUCCESS;
    if (waitForOurs(count, requests, statuses, code))
      return code;
    WaitForAll all(count, requests, statuses);
    return repeat(count, requests, [&](int &isDone) { return all.tryOnce(isDone); });
  });
}

COLLDSL_ENTRY(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status)) {
  return Requests::mayPassOn() ? real::Waitany(count, requests, index, status) : aside([=] {
    if (!mustMove() && !anyOurs(count, requests))
      return callBelow(real::Waitany, count, requests, index, status);
    return repeat(count, requests, [=](int &isDone) {
      return testAny<Completes>(real::Testany, count, requests, index, &isDone, status);
    });
  });
}

COLLDSL_ENTRY(Waitsome, (int count, MPI_Request requests[], int *outcount, int indices[],
                         MPI_Status *statuses)) {
  return Requests::mayPassOn()
             ? real::Waitsome(count, requests, outcount, indices, statuses)
             : aside([=] {
                 if (!mustMove() && !anyOurs(count, requests))
                   return callBelow(real::Waitsome, count, requests, outcount, indices, statuses);
                 return repeat(count, requests, [=](int &isDone) {
                   int code = testSome<Completes>(real::Testsome, count, requests, outcount,
                                                  indices, statuses);
                   isDone = *outcount != 0;
                   return code;
                 });
               });
}

#define TESTS(All, Any, Some, Kind, Array)                                                         \
  COLLDSL_ENTRY(All, (int count, Array requests, int *flag, MPI_Status *statuses)) {               \
    auto passOn = [=] { return real::All(count, requests, flag, statuses); };                      \
    return Requests::mayPassOn() ? passOn() : aside([=] {                                          \
      return testOnce<Kind>(count, requests, flag, passOn, [=] {                                   \
        return testAll<Kind>(real::All, count, requests, flag, statuses);                          \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  COLLDSL_ENTRY(Any, (int count, Array requests, int *index, int *flag, MPI_Status *status)) {     \
    auto passOn = [=] { return real::Any(count, requests, index, flag, status); };                 \
    return Requests::mayPassOn() ? passOn() : aside([=] {                                          \
      return testOnce<Kind>(count, requests, flag, passOn, [=] {                                   \
        return testAny<Kind>(real::Any, count, requests, index, flag, status);                     \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  COLLDSL_ENTRY(Some,                                                                              \
                (int count, Array requests, int *outcount, int indices[], MPI_Status *statuses)) { \
    auto passOn = [=] { return real::Some(count, requests, outcount, indices, statuses); };        \
    return Requests::mayPassOn() ? passOn() : aside([=] {                                          \
      int isDone = 0;                                                                              \
      return testOnce<Kind>(count, requests, &isDone, passOn, [=, &isDone] {                       \
        int code = testSome<Kind>(real::Some, count, requests, outcount, indices, statuses);       \
        isDone = *outcount != 0;                                                                   \
        return code;                                                                               \
      });                                                                                          \
    });                                                                                            \
  }

TESTS(Testall, Testany, Testsome, Completes, MPI_Request *)
#ifdef COLLDSL_MPI_STATUS_OF_MANY
// [const] MPI_Request *: not const before MPICH 5.
using RequestsLookedAt = Parameter<decltype(MPI_Request_get_status_all), 1>;
TESTS(Request_get_status_all, Request_get_status_any, Request_get_status_some, Looks,
      RequestsLookedAt)
#endif

COLLDSL_ENTRY(Request_free, (MPI_Request * request)) {
  Slot *slot = find(*request);
  if (!slot)
    return real::Request_free(request);
  Guard guard(*Job::current());
  Requests::all().free(*slot, *request);
  return MPI_SUCCESS;
}

// A collective cannot be cancelled.
COLLDSL_ENTRY(Cancel, (MPI_Request * request)) {
  Slot *slot = find(*request);
  if (!slot)
    return real::Cancel(request);
  real::Comm_call_errhandler(slot->comm, MPI_ERR_REQUEST);
  return MPI_ERR_REQUEST;
}

COLLDSL_ENTRY(Start, (MPI_Request * request)) {
  int code = MPI_SUCCESS;
  return startOurs(request, code) ? code : real::Start(request);
}

COLLDSL_ENTRY(Startall, (int count, MPI_Request requests[])) {
  if (!anyOurs(count, requests))
    return real::Startall(count, requests);
  for (int i = 0; i < count; ++i)
    if (int code = MPI_Start(&requests[i]); code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}
