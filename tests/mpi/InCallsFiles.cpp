// Files that all ranks have open.
#include "tests/mpi/InCalls.h"

#include <string>

namespace in_calls {
namespace {

Bed &bed = Bed::get();
constexpr int kInts = 1000;
MPI_File file = MPI_FILE_NULL;

int *sent() { return bed.sent.data(); }
int *got() { return bed.got.data(); }
MPI_Offset placeOf(const Turn &t) { return MPI_Offset{t.rank} * kInts * MPI_Offset{sizeof(int)}; }

// Each has a name of its own: MPIs may still be about to remove the one before.
void openAs(MPI_File &opened) {
  static int number = 0;
  std::string name = fileName() + ("." + std::to_string(++number));
  int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  MPI_File_open(bed.comm, name.c_str(), mode, MPI_INFO_NULL, &opened);
}

void closeAll(MPI_File &opened) {
  if (opened != MPI_FILE_NULL)
    MPI_File_close(&opened);
}

/// With some ints of each rank. It stays open.
void open(const Turn &t) {
  if (file != MPI_FILE_NULL)
    return;
  openAs(file);
  MPI_File_write_at(file, placeOf(t), sent(), kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(bed.comm);
}

// Each waits for nobody, or for all ranks, as the MPI does it.
#define ON_FILE(name, ...)                                                                         \
  {                                                                                                \
#name,                                                                                          \
   [](const Turn &t) {                                                                             \
     (void)t;                                                                                      \
     MPI_##name(file, __VA_ARGS__);                                                                \
   },                                                                                              \
   open  \
  }
// Begun and ended by two calls.
#define SPLIT(name, data, ...)                                                                     \
  {#name "_begin",                                                                                 \
   [](const Turn &t) {                                                                             \
     (void)t;                                                                                      \
     MPI_##name##_begin(file, __VA_ARGS__);                                                        \
     MPI_##name##_end(file, data, MPI_STATUS_IGNORE);                                              \
   },                                                                                              \
   open},                                                                                          \
  {                                                                                                \
#name "_end",                                                                               \
       [](const Turn &) { MPI_##name##_end(file, data, MPI_STATUS_IGNORE); },                      \
       [](const Turn &t) {                                                                         \
         open(t);                                                                                  \
         MPI_##name##_begin(file, __VA_ARGS__);                                                    \
       }      \
  }
#define SENT sent(), kInts, MPI_INT
#define GOT got(), kInts, MPI_INT

const Waiter waiters[] = {
    {"File_open",
     [](const Turn &) {
       MPI_File opened;
       openAs(opened);
       closeAll(opened);
     }},
    {"File_delete", [](const Turn &) { MPI_File_delete("there is none", MPI_INFO_NULL); }},
    {"File_sync", [](const Turn &) { MPI_File_sync(file); }, open},
    ON_FILE(File_set_size, 1 << 20),
    ON_FILE(File_preallocate, 1 << 20),
    ON_FILE(File_set_info, NoHints().info),
    ON_FILE(File_set_view, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
    ON_FILE(File_set_atomicity, 1),
    ON_FILE(File_seek_shared, 0, MPI_SEEK_SET),
    {"File_get_position_shared",
     [](const Turn &) {
       MPI_Offset place;
       MPI_File_get_position_shared(file, &place);
     },
     open},
    ON_FILE(File_read, GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_read_at, placeOf(t), GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_read_all, GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_read_at_all, placeOf(t), GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_read_shared, GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_read_ordered, GOT, MPI_STATUS_IGNORE),
    ON_FILE(File_write, SENT, MPI_STATUS_IGNORE),
    ON_FILE(File_write_at, placeOf(t), SENT, MPI_STATUS_IGNORE),
    ON_FILE(File_write_all, SENT, MPI_STATUS_IGNORE),
    ON_FILE(File_write_at_all, placeOf(t), SENT, MPI_STATUS_IGNORE),
    ON_FILE(File_write_shared, SENT, MPI_STATUS_IGNORE),
    ON_FILE(File_write_ordered, SENT, MPI_STATUS_IGNORE),
    SPLIT(File_read_all, got(), GOT),
    SPLIT(File_read_at_all, got(), placeOf(t), GOT),
    SPLIT(File_read_ordered, got(), GOT),
    SPLIT(File_write_all, sent(), SENT),
    SPLIT(File_write_at_all, sent(), placeOf(t), SENT),
    SPLIT(File_write_ordered, sent(), SENT),
    {"File_close", [](const Turn &) { closeAll(file); }, open},
};

} // namespace

void closeFile() { closeAll(file); }

std::span<const Waiter> fileWaiters() { return waiters; }

} // namespace in_calls
