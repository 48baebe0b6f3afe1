/// Calls in which one rank, the early one, waits while an operation of all ranks is under way: the
/// others complete it before they do what the early one waits for.
#pragma once

#include "mpi/Mpi.h"

#include <mpi.h>
#include <span>
#include <vector>

namespace in_calls {

/// One call, as this rank sees it. The early rank waits for its partner, and in collectives for
/// all.
struct Turn {
  int rank, ranks, early, partner;
  bool isEarly() const { return rank == early; }
  bool isPartner() const { return rank == partner; }
};

/// A function, by its name without MPI_. `prepare` runs before the operation is started, `enter`
/// while it is under way at the early rank, `finish` after it; all ranks run them.
struct Waiter {
  const char *name;
  void (*enter)(const Turn &turn);
  void (*prepare)(const Turn &turn) = nullptr;
  void (*finish)(const Turn &turn) = nullptr;
};

/// What the calls use, made once. Its communicators are not those of the operations under way.
struct Bed {
  MPI_Comm comm = MPI_COMM_NULL;  ///< all ranks
  MPI_Comm half = MPI_COMM_NULL;  ///< those of even rank, or those of odd rank
  MPI_Comm inter = MPI_COMM_NULL; ///< between the halves
  MPI_Comm graph = MPI_COMM_NULL; ///< every rank is a neighbour of every other one
  MPI_Group group = MPI_GROUP_NULL;
  std::vector<int> sent, got; ///< for any call: kMessage ints for each rank

  static constexpr int kMessage = 1 << 16; ///< longer than any MPI sends without its receiver
  static Bed &get();
  void make(const char *program);
  void free();
  const char *program = nullptr; ///< to be spawned: it ends at once
};

constexpr int kTag = 17;

/// An info without keys, for calls that want one.
struct NoHints {
  MPI_Info info;
  NoHints() { MPI_Info_create(&info); }
  ~NoHints() { MPI_Info_free(&info); }
  NoHints(const NoHints &) = delete;
  NoHints &operator=(const NoHints &) = delete;
};

/// "x.y" in a folder that all ranks see, alike on all of them.
const char *fileName();

/// That calls for files have left open.
void closeFile();

std::span<const Waiter> messageWaiters();
std::span<const Waiter> collectiveWaiters();
std::span<const Waiter> commWaiters();
std::span<const Waiter> processWaiters();
std::span<const Waiter> windowWaiters();
std::span<const Waiter> fileWaiters();

} // namespace in_calls
