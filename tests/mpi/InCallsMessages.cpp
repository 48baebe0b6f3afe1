// Messages: the early rank waits for what its partner sends, or for a receive.
#include "tests/mpi/InCalls.h"

namespace in_calls {
namespace {

Bed &bed = Bed::get();
MPI_Request posted = MPI_REQUEST_NULL;
std::vector<char> attached;

int *sent() { return bed.sent.data(); }
int *got() { return bed.got.data(); }

/// The partner sends some ints once it comes.
template <typename Receive> void receive(const Turn &t, int count, Receive earlyCall) {
  if (t.isEarly())
    earlyCall();
  if (t.isPartner())
    MPI_Send(sent(), count, MPI_INT, t.early, kTag, bed.comm);
}

/// The partner receives a long message once it comes.
template <typename Send> void send(const Turn &t, Send earlyCall) {
  if (t.isEarly())
    earlyCall();
  if (t.isPartner())
    MPI_Recv(got(), Bed::kMessage, MPI_INT, t.early, kTag, bed.comm, MPI_STATUS_IGNORE);
}

void postReceive(const Turn &t) {
  if (t.isEarly())
    MPI_Irecv(got(), 1, MPI_INT, t.partner, kTag, bed.comm, &posted);
}

/// The early rank completes what it posted.
template <typename Complete> void complete(const Turn &t, Complete earlyCall) {
  receive(t, 1, earlyCall);
}

template <typename Test> void completeByTests(const Turn &t, Test test) {
  complete(t, [&] {
    for (int isDone = 0; !isDone;)
      test(isDone);
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
  });
}

const Waiter waiters[] = {
    {"Send",
     [](const Turn &t) {
       send(t, [&] { MPI_Send(sent(), Bed::kMessage, MPI_INT, t.partner, kTag, bed.comm); });
     }},
    {"Ssend",
     [](const Turn &t) {
       send(t, [&] { MPI_Ssend(sent(), 1, MPI_INT, t.partner, kTag, bed.comm); });
     }},
    {"Rsend",
     [](const Turn &t) {
       if (t.isEarly())
         MPI_Rsend(sent(), Bed::kMessage, MPI_INT, t.partner, kTag, bed.comm);
       if (t.isPartner())
         MPI_Wait(&posted, MPI_STATUS_IGNORE);
     },
     [](const Turn &t) {
       if (t.isPartner())
         MPI_Irecv(got(), Bed::kMessage, MPI_INT, t.early, kTag, bed.comm, &posted);
     }},
    {"Recv",
     [](const Turn &t) {
       receive(t, 1,
               [&] { MPI_Recv(got(), 1, MPI_INT, t.partner, kTag, bed.comm, MPI_STATUS_IGNORE); });
     }},
    {"Sendrecv",
     [](const Turn &t) {
       int other = t.isEarly() ? t.partner : t.early;
       if (t.isEarly() || t.isPartner())
         MPI_Sendrecv(sent(), 1, MPI_INT, other, kTag, got(), 1, MPI_INT, other, kTag, bed.comm,
                      MPI_STATUS_IGNORE);
     }},
    {"Sendrecv_replace",
     [](const Turn &t) {
       int other = t.isEarly() ? t.partner : t.early;
       if (t.isEarly() || t.isPartner())
         MPI_Sendrecv_replace(got(), 1, MPI_INT, other, kTag, other, kTag, bed.comm,
                              MPI_STATUS_IGNORE);
     }},
    {"Probe",
     [](const Turn &t) {
       receive(t, 1, [&] {
         MPI_Probe(t.partner, kTag, bed.comm, MPI_STATUS_IGNORE);
         MPI_Recv(got(), 1, MPI_INT, t.partner, kTag, bed.comm, MPI_STATUS_IGNORE);
       });
     }},
    {"Iprobe",
     [](const Turn &t) {
       receive(t, 1, [&] {
         for (int isHere = 0; !isHere;)
           MPI_Iprobe(t.partner, kTag, bed.comm, &isHere, MPI_STATUS_IGNORE);
         MPI_Recv(got(), 1, MPI_INT, t.partner, kTag, bed.comm, MPI_STATUS_IGNORE);
       });
     }},
    {"Mprobe",
     [](const Turn &t) {
       receive(t, 1, [&] {
         MPI_Message message;
         MPI_Mprobe(t.partner, kTag, bed.comm, &message, MPI_STATUS_IGNORE);
         MPI_Mrecv(got(), 1, MPI_INT, &message, MPI_STATUS_IGNORE);
       });
     }},
    {"Improbe",
     [](const Turn &t) {
       receive(t, 1, [&] {
         MPI_Message message;
         for (int isHere = 0; !isHere;)
           MPI_Improbe(t.partner, kTag, bed.comm, &isHere, &message, MPI_STATUS_IGNORE);
         MPI_Mrecv(got(), 1, MPI_INT, &message, MPI_STATUS_IGNORE);
       });
     }},
    {"Mrecv",
     [](const Turn &t) {
       receive(t, Bed::kMessage, [&] {
         MPI_Message message;
         MPI_Mprobe(t.partner, kTag, bed.comm, &message, MPI_STATUS_IGNORE);
         MPI_Mrecv(got(), Bed::kMessage, MPI_INT, &message, MPI_STATUS_IGNORE);
       });
     }},
    {"Bsend",
     [](const Turn &t) {
       send(t, [&] { MPI_Bsend(sent(), Bed::kMessage, MPI_INT, t.partner, kTag, bed.comm); });
     },
     [](const Turn &) {
       attached.resize(Bed::kMessage * sizeof(int) + MPI_BSEND_OVERHEAD);
       MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
     },
     [](const Turn &) {
       void *buffer;
       int bytes;
       MPI_Buffer_detach(&buffer, &bytes);
     }},
    {"Buffer_detach",
     [](const Turn &t) {
       send(t, [&] {
         void *buffer;
         int bytes;
         MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
         MPI_Bsend(sent(), Bed::kMessage, MPI_INT, t.partner, kTag, bed.comm);
         MPI_Buffer_detach(&buffer, &bytes);
       });
     },
     [](const Turn &) { attached.resize(Bed::kMessage * sizeof(int) + MPI_BSEND_OVERHEAD); }},
    {"Wait", [](const Turn &t) { complete(t, [&] { MPI_Wait(&posted, MPI_STATUS_IGNORE); }); },
     postReceive},
    {"Waitall",
     [](const Turn &t) { complete(t, [&] { MPI_Waitall(1, &posted, MPI_STATUSES_IGNORE); }); },
     postReceive},
    {"Waitany",
     [](const Turn &t) {
       int index;
       complete(t, [&] { MPI_Waitany(1, &posted, &index, MPI_STATUS_IGNORE); });
     },
     postReceive},
    {"Waitsome",
     [](const Turn &t) {
       int count, index;
       complete(t, [&] { MPI_Waitsome(1, &posted, &count, &index, MPI_STATUSES_IGNORE); });
     },
     postReceive},
    {"Test",
     [](const Turn &t) {
       completeByTests(t, [](int &isDone) { MPI_Test(&posted, &isDone, MPI_STATUS_IGNORE); });
     },
     postReceive},
    {"Testall",
     [](const Turn &t) {
       completeByTests(t,
                       [](int &isDone) { MPI_Testall(1, &posted, &isDone, MPI_STATUSES_IGNORE); });
     },
     postReceive},
    {"Testany",
     [](const Turn &t) {
       int index;
       completeByTests(
           t, [&](int &isDone) { MPI_Testany(1, &posted, &index, &isDone, MPI_STATUS_IGNORE); });
     },
     postReceive},
    {"Testsome",
     [](const Turn &t) {
       int index;
       completeByTests(
           t, [&](int &count) { MPI_Testsome(1, &posted, &count, &index, MPI_STATUSES_IGNORE); });
     },
     postReceive},
    {"Request_get_status",
     [](const Turn &t) {
       completeByTests(
           t, [](int &isDone) { MPI_Request_get_status(posted, &isDone, MPI_STATUS_IGNORE); });
     },
     postReceive},
#ifdef COLLDSL_MPI_STATUS_OF_MANY
    {"Request_get_status_all",
     [](const Turn &t) {
       completeByTests(t, [](int &isDone) {
         MPI_Request_get_status_all(1, &posted, &isDone, MPI_STATUSES_IGNORE);
       });
     },
     postReceive},
    {"Request_get_status_any",
     [](const Turn &t) {
       int index;
       completeByTests(t, [&](int &isDone) {
         MPI_Request_get_status_any(1, &posted, &index, &isDone, MPI_STATUS_IGNORE);
       });
     },
     postReceive},
    {"Request_get_status_some",
     [](const Turn &t) {
       int index;
       completeByTests(t, [&](int &count) {
         MPI_Request_get_status_some(1, &posted, &count, &index, MPI_STATUSES_IGNORE);
       });
     },
     postReceive},
#endif
#ifdef COLLDSL_MPI_PARTITIONED
    {"Parrived",
     [](const Turn &t) {
       if (t.isEarly()) {
         for (int isHere = 0; !isHere;)
           MPI_Parrived(posted, 0, &isHere);
       } else if (t.isPartner()) {
         MPI_Pready(0, posted);
       }
       if (t.isEarly() || t.isPartner())
         MPI_Wait(&posted, MPI_STATUS_IGNORE);
     },
     [](const Turn &t) {
       if (t.isEarly())
         MPI_Precv_init(got(), 1, 1, MPI_INT, t.partner, kTag, bed.comm, MPI_INFO_NULL, &posted);
       if (t.isPartner())
         MPI_Psend_init(sent(), 1, 1, MPI_INT, t.early, kTag, bed.comm, MPI_INFO_NULL, &posted);
       if (t.isEarly() || t.isPartner())
         MPI_Start(&posted);
     },
     [](const Turn &t) {
       if (t.isEarly() || t.isPartner())
         MPI_Request_free(&posted);
     }},
#endif
};

} // namespace

std::span<const Waiter> messageWaiters() { return waiters; }

} // namespace in_calls
