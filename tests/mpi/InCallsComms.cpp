// Calls that make and free communicators.
#include "tests/mpi/InCalls.h"

#include <numeric>

namespace in_calls {
namespace {

Bed &bed = Bed::get();
MPI_Comm kept = MPI_COMM_NULL; // made before the operation, to be used while it is under way

void keepDuplicate(const Turn &) { MPI_Comm_dup(bed.comm, &kept); }

template <typename Make> void makeAndFree(Make make) {
  MPI_Comm made = MPI_COMM_NULL;
  make(made);
  if (made != MPI_COMM_NULL)
    MPI_Comm_free(&made);
}

/// The leader of the other half.
int otherLeader(const Turn &t) { return t.rank % 2 == 0 ? 1 : 0; }

std::vector<int> allBut(const Turn &t) {
  std::vector<int> others;
  for (int r = 0; r < t.ranks; ++r)
    if (r != t.rank)
      others.push_back(r);
  return others;
}

const int isPeriodic = 1;

const Waiter waiters[] = {
    {"Comm_dup",
     [](const Turn &) { makeAndFree([](MPI_Comm &made) { MPI_Comm_dup(bed.comm, &made); }); }},
    {"Comm_dup_with_info",
     [](const Turn &) {
       makeAndFree([](MPI_Comm &made) { MPI_Comm_dup_with_info(bed.comm, MPI_INFO_NULL, &made); });
     }},
    {"Comm_set_info",
     [](const Turn &) {
       MPI_Comm_set_info(bed.comm, NoHints().info);
       MPI_Barrier(bed.comm);
     }},
    {"Comm_split",
     [](const Turn &t) {
       makeAndFree([&](MPI_Comm &made) { MPI_Comm_split(bed.comm, t.rank % 2, 0, &made); });
     }},
    {"Comm_split_type",
     [](const Turn &) {
       makeAndFree([](MPI_Comm &made) {
         MPI_Comm_split_type(bed.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
       });
     }},
    {"Comm_create",
     [](const Turn &) {
       makeAndFree([](MPI_Comm &made) { MPI_Comm_create(bed.comm, bed.group, &made); });
     }},
    {"Comm_create_group",
     [](const Turn &) {
       makeAndFree([](MPI_Comm &made) { MPI_Comm_create_group(bed.comm, bed.group, kTag, &made); });
     }},
    {"Cart_create",
     [](const Turn &t) {
       makeAndFree(
           [&](MPI_Comm &made) { MPI_Cart_create(bed.comm, 1, &t.ranks, &isPeriodic, 0, &made); });
     }},
    {"Cart_sub",
     [](const Turn &) {
       int remains = 1;
       makeAndFree([&](MPI_Comm &made) { MPI_Cart_sub(kept, &remains, &made); });
     },
     [](const Turn &t) { MPI_Cart_create(bed.comm, 1, &t.ranks, &isPeriodic, 0, &kept); },
     [](const Turn &) { MPI_Comm_free(&kept); }},
    {"Cart_map",
     [](const Turn &t) {
       int place;
       MPI_Cart_map(bed.comm, 1, &t.ranks, &isPeriodic, &place);
     }},
    {"Graph_create",
     [](const Turn &t) {
       std::vector<int> index(t.ranks), edges(t.ranks);
       std::iota(index.begin(), index.end(), 1);
       std::iota(edges.begin(), edges.end(), 0);
       makeAndFree([&](MPI_Comm &made) {
         MPI_Graph_create(bed.comm, t.ranks, index.data(), edges.data(), 0, &made);
       });
     }},
    {"Graph_map",
     [](const Turn &t) {
       int place;
       std::vector<int> index(t.ranks), edges(t.ranks);
       std::iota(index.begin(), index.end(), 1);
       std::iota(edges.begin(), edges.end(), 0);
       MPI_Graph_map(bed.comm, t.ranks, index.data(), edges.data(), &place);
     }},
    {"Dist_graph_create",
     [](const Turn &t) {
       int next = (t.rank + 1) % t.ranks, one = 1;
       makeAndFree([&](MPI_Comm &made) {
         MPI_Dist_graph_create(bed.comm, 1, &t.rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                               &made);
       });
     }},
    {"Dist_graph_create_adjacent",
     [](const Turn &t) {
       std::vector<int> others = allBut(t);
       int count = static_cast<int>(others.size());
       makeAndFree([&](MPI_Comm &made) {
         MPI_Dist_graph_create_adjacent(bed.comm, count, others.data(), MPI_UNWEIGHTED, count,
                                        others.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
       });
     }},
    {"Comm_free", [](const Turn &) { MPI_Comm_free(&kept); }, keepDuplicate},
    {"Comm_disconnect", [](const Turn &) { MPI_Comm_disconnect(&kept); }, keepDuplicate},
    {"Intercomm_create",
     [](const Turn &t) {
       makeAndFree([&](MPI_Comm &made) {
         MPI_Intercomm_create(bed.half, 0, bed.comm, otherLeader(t), kTag, &made);
       });
     }},
    {"Intercomm_merge",
     [](const Turn &t) {
       makeAndFree([&](MPI_Comm &made) { MPI_Intercomm_merge(bed.inter, t.rank % 2, &made); });
     }},
#ifdef COLLDSL_MPI_SESSIONS
    {"Comm_create_from_group",
     [](const Turn &) {
       makeAndFree([](MPI_Comm &made) {
         MPI_Comm_create_from_group(bed.group, "in calls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                    &made);
       });
     }},
    {"Intercomm_create_from_groups",
     [](const Turn &t) {
       MPI_Group mine, others;
       std::vector<int> ranks[2];
       for (int r = 0; r < t.ranks; ++r)
         ranks[r % 2].push_back(r);
       auto groupOf = [&](int side, MPI_Group &group) {
         MPI_Group_incl(bed.group, static_cast<int>(ranks[side].size()), ranks[side].data(),
                        &group);
       };
       groupOf(t.rank % 2, mine);
       groupOf(1 - t.rank % 2, others);
       makeAndFree([&](MPI_Comm &made) {
         MPI_Intercomm_create_from_groups(mine, 0, others, 0, "between calls", MPI_INFO_NULL,
                                          MPI_ERRORS_ARE_FATAL, &made);
       });
       MPI_Group_free(&mine);
       MPI_Group_free(&others);
     }},
    {"Session_init",
     [](const Turn &) {
       MPI_Session session;
       MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
       MPI_Session_finalize(&session);
     }},
    {"Session_finalize",
     [](const Turn &) {
       MPI_Session session;
       MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
       MPI_Session_finalize(&session);
     }},
#endif
#ifdef COLLDSL_MPI_BUFFERS_OF_COMMS
    {"Buffer_flush", [](const Turn &) { MPI_Buffer_flush(); }},
    {"Comm_flush_buffer", [](const Turn &) { MPI_Comm_flush_buffer(bed.comm); }},
    {"Comm_detach_buffer",
     [](const Turn &t) {
       std::vector<char> attached(Bed::kMessage * sizeof(int) + MPI_BSEND_OVERHEAD);
       void *buffer;
       int bytes;
       if (t.isEarly()) {
         MPI_Comm_attach_buffer(bed.comm, attached.data(), static_cast<int>(attached.size()));
         MPI_Bsend(bed.sent.data(), Bed::kMessage, MPI_INT, t.partner, kTag, bed.comm);
         MPI_Comm_detach_buffer(bed.comm, &buffer, &bytes);
       } else if (t.isPartner()) {
         MPI_Recv(bed.got.data(), Bed::kMessage, MPI_INT, t.early, kTag, bed.comm,
                  MPI_STATUS_IGNORE);
       }
     }},
#endif
};

} // namespace

std::span<const Waiter> commWaiters() { return waiters; }

} // namespace in_calls
