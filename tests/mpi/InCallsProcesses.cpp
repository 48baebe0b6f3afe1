// Calls that start processes, and connect to them.
#include "tests/mpi/InCalls.h"

#include <cstdio>
#include <cstring>

namespace in_calls {
namespace {

Bed &bed = Bed::get();
char port[MPI_MAX_PORT_NAME];

char isChild[] = "--child";
char *childArguments[] = {isChild, nullptr};

/// Some MPIs, as they are packaged, can start no processes under each launcher.
template <typename Spawn> void spawn(const Turn &t, Spawn call) {
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(bed.comm, MPI_ERRORS_RETURN);
  if (call(child) == MPI_SUCCESS)
    MPI_Comm_disconnect(&child);
  else if (t.isEarly())
    std::puts("skipped: this MPI cannot start processes here");
  MPI_Comm_set_errhandler(bed.comm, MPI_ERRORS_ARE_FATAL);
}

/// Empty: there is none.
void openPort(const Turn &t, int owner) {
  std::memset(port, 0, sizeof port);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (t.rank == owner && MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
    std::puts("skipped: this MPI has no ports here");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Bcast(port, sizeof port, MPI_CHAR, owner, bed.comm);
}

void closePort(int rank, int owner) {
  if (rank == owner && *port)
    MPI_Close_port(port);
}

void connect(const Turn &t, int acceptor, int connector) {
  MPI_Comm made = MPI_COMM_NULL;
  if (*port && t.rank == connector)
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
  if (*port && t.rank == acceptor)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
  if (made != MPI_COMM_NULL)
    MPI_Comm_disconnect(&made);
}

const Waiter waiters[] = {
    {"Comm_spawn",
     [](const Turn &t) {
       spawn(t, [&](MPI_Comm &child) {
         return MPI_Comm_spawn(bed.program, childArguments, 1, MPI_INFO_NULL, t.partner, bed.comm,
                               &child, MPI_ERRCODES_IGNORE);
       });
     }},
    {"Comm_spawn_multiple",
     [](const Turn &t) {
       char *programs[] = {const_cast<char *>(bed.program)};
       char **arguments[] = {childArguments};
       int ranks[] = {1};
       MPI_Info infos[] = {MPI_INFO_NULL};
       spawn(t, [&](MPI_Comm &child) {
         return MPI_Comm_spawn_multiple(1, programs, arguments, ranks, infos, t.partner, bed.comm,
                                        &child, MPI_ERRCODES_IGNORE);
       });
     }},
    {"Comm_connect", [](const Turn &t) { connect(t, t.partner, t.early); },
     [](const Turn &t) { openPort(t, t.partner); },
     [](const Turn &t) { closePort(t.rank, t.partner); }},
    {"Comm_accept", [](const Turn &t) { connect(t, t.early, t.partner); },
     [](const Turn &t) { openPort(t, t.early); },
     [](const Turn &t) { closePort(t.rank, t.early); }},
};

} // namespace

std::span<const Waiter> processWaiters() { return waiters; }

} // namespace in_calls
