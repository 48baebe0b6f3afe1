// One-sided operations: the early rank waits for a lock that its partner holds, or for the other
// side of an epoch.
#include "tests/mpi/InCalls.h"

namespace in_calls {
namespace {

Bed &bed = Bed::get();
constexpr int kInts = 64;
MPI_Win window = MPI_WIN_NULL;
int *memory = nullptr;
int mine[kInts], result[kInts], compared = 0;
MPI_Group other = MPI_GROUP_NULL; // of early rank and partner: the other one

void allocate(const Turn &) {
  MPI_Win_allocate(sizeof(int) * kInts, sizeof(int), MPI_INFO_NULL, bed.comm, &memory, &window);
}

void freeWindow(const Turn &) { MPI_Win_free(&window); }

/// Early rank and partner know each other.
void allocateForPair(const Turn &t) {
  allocate(t);
  int peer = t.isEarly() ? t.partner : t.early;
  MPI_Group_incl(bed.group, 1, &peer, &other);
}

void freeOfPair(const Turn &t) {
  MPI_Group_free(&other);
  freeWindow(t);
}

void put(int target) { MPI_Put(mine, 1, MPI_INT, target, 0, 1, MPI_INT, window); }

/// The partner's memory is locked by the partner itself until it comes.
void lockAtPartner(const Turn &t) {
  allocate(t);
  if (t.isPartner())
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t.partner, 0, window);
  MPI_Barrier(bed.comm);
}

template <typename Access> void waitForLock(const Turn &t, Access access) {
  if (t.isPartner())
    MPI_Win_unlock(t.partner, window);
  if (!t.isEarly())
    return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t.partner, 0, window);
  access(t.partner);
  MPI_Win_unlock(t.partner, window);
}

template <typename Access> void waitForAllLocks(const Turn &t, Access access) {
  if (t.isPartner())
    MPI_Win_unlock(t.partner, window);
  if (!t.isEarly())
    return;
  MPI_Win_lock_all(0, window);
  access(t.partner);
  MPI_Win_unlock_all(window);
}

/// The early rank is the origin, or the target, of an epoch of two ranks.
template <typename Wait> void asTarget(const Turn &t, Wait wait) {
  if (t.isEarly()) {
    MPI_Win_post(other, 0, window);
    wait();
  } else if (t.isPartner()) {
    MPI_Win_start(other, 0, window);
    put(t.early);
    MPI_Win_complete(window);
  }
}

void asOrigin(const Turn &t) {
  if (t.isEarly()) {
    MPI_Win_start(other, 0, window);
    put(t.partner);
    MPI_Win_complete(window);
  } else if (t.isPartner()) {
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  }
}

// An access to the partner's memory, which is locked.
#define ACCESS(name, ...)                                                                          \
  {                                                                                                \
#name, [](const Turn &                                                                         \
                  t) { waitForLock(t, [](int target) { MPI_##name(__VA_ARGS__); }); },             \
                                                                                    lockAtPartner, \
                                                                                    freeWindow     \
  }
#define REQUESTED(name, ...)                                                                       \
  {                                                                                                \
#name,                                                                                         \
        [](const Turn &t) {                                                                        \
          waitForLock(t, [](int target) {                                                          \
            MPI_Request request;                                                                   \
            MPI_##name(__VA_ARGS__, &request);                                                     \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
          });                                                                                      \
        },                                                                                         \
        lockAtPartner, freeWindow   \
  }
#define FLUSH(name, wait, ...)                                                                     \
  {                                                                                                \
#name,                                                                                         \
        [](const Turn &t) {                                                                        \
          wait(t, [](int target) {                                                                 \
            put(target);                                                                           \
            MPI_##name(__VA_ARGS__);                                                               \
          });                                                                                      \
        },                                                                                         \
        lockAtPartner, freeWindow   \
  }

const Waiter waiters[] = {
    {"Win_create",
     [](const Turn &) {
       MPI_Win made;
       MPI_Win_create(mine, sizeof mine, 4, MPI_INFO_NULL, bed.comm, &made);
       MPI_Win_free(&made);
     }},
    {"Win_allocate",
     [](const Turn &t) {
       allocate(t);
       freeWindow(t);
     }},
    {"Win_allocate_shared",
     [](const Turn &) {
       MPI_Win made;
       int *part;
       MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, bed.comm, &part, &made);
       MPI_Win_free(&made);
     }},
    {"Win_create_dynamic",
     [](const Turn &) {
       MPI_Win made;
       MPI_Win_create_dynamic(MPI_INFO_NULL, bed.comm, &made);
       MPI_Win_free(&made);
     }},
    {"Win_free", freeWindow, allocate},
    {"Win_set_info",
     [](const Turn &) {
       MPI_Win_set_info(window, NoHints().info);
       MPI_Win_fence(0, window);
     },
     allocate, freeWindow},
    {"Win_fence", [](const Turn &) { MPI_Win_fence(0, window); }, allocate, freeWindow},
    {"Win_start", asOrigin, allocateForPair, freeOfPair},
    {"Win_complete", asOrigin, allocateForPair, freeOfPair},
    {"Win_post", [](const Turn &t) { asTarget(t, [] { MPI_Win_wait(window); }); }, allocateForPair,
     freeOfPair},
    {"Win_wait", [](const Turn &t) { asTarget(t, [] { MPI_Win_wait(window); }); }, allocateForPair,
     freeOfPair},
    {"Win_test",
     [](const Turn &t) {
       asTarget(t, [] {
         for (int isOver = 0; !isOver;)
           MPI_Win_test(window, &isOver);
       });
     },
     allocateForPair, freeOfPair},
    {"Win_sync",
     [](const Turn &t) {
       MPI_Aint bytes;
       int unit, *of;
       MPI_Win_shared_query(window, t.early, &bytes, &unit, &of);
       volatile int *flag = of;
       MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
       while (t.isEarly() && *flag == 0)
         MPI_Win_sync(window);
       if (t.isPartner())
         *flag = 1;
       MPI_Win_sync(window);
       MPI_Win_unlock_all(window);
     },
     [](const Turn &) {
       MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, bed.comm, &memory, &window);
       *memory = 0;
       MPI_Barrier(bed.comm);
     },
     freeWindow},
    ACCESS(Put, mine, 1, MPI_INT, target, 0, 1, MPI_INT, window),
    ACCESS(Get, result, 1, MPI_INT, target, 0, 1, MPI_INT, window),
    ACCESS(Accumulate, mine, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window),
    ACCESS(Get_accumulate, mine, 1, MPI_INT, result, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM,
           window),
    ACCESS(Fetch_and_op, mine, result, MPI_INT, target, 0, MPI_SUM, window),
    ACCESS(Compare_and_swap, mine, &compared, result, MPI_INT, target, 0, window),
    REQUESTED(Rput, mine, 1, MPI_INT, target, 0, 1, MPI_INT, window),
    REQUESTED(Rget, result, 1, MPI_INT, target, 0, 1, MPI_INT, window),
    REQUESTED(Raccumulate, mine, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window),
    REQUESTED(Rget_accumulate, mine, 1, MPI_INT, result, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM,
              window),
    {"Win_lock", [](const Turn &t) { waitForLock(t, [](int) {}); }, lockAtPartner, freeWindow},
    {"Win_unlock", [](const Turn &t) { waitForLock(t, put); }, lockAtPartner, freeWindow},
    FLUSH(Win_flush, waitForLock, target, window),
    FLUSH(Win_flush_local, waitForLock, target, window),
    {"Win_lock_all", [](const Turn &t) { waitForAllLocks(t, [](int) {}); }, lockAtPartner,
     freeWindow},
    {"Win_unlock_all", [](const Turn &t) { waitForAllLocks(t, put); }, lockAtPartner, freeWindow},
    FLUSH(Win_flush_all, waitForAllLocks, window),
    FLUSH(Win_flush_local_all, waitForAllLocks, window),
};

} // namespace

std::span<const Waiter> windowWaiters() { return waiters; }

} // namespace in_calls
