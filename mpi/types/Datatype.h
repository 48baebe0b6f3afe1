/// Layouts of MPI datatypes: the bytes that they describe, in order; and functions that move those
/// bytes.
#pragma once

#include "ir/Result.h"
#include "mpi/Mpi.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/uio.h>
#include <vector>

namespace colldsl::mpi {

/// Bytes without a gap, relative to the address of the element.
struct Run {
  MPI_Aint offset;
  uint64_t length; ///< at least 1

  bool operator==(const Run &) const = default;
};

/// One element of a datatype. Never changes once it is made.
struct TypeLayout {
  uint64_t id = 0;      ///< unique to this layout, never reused; at least 1
  bool isNamed = false; ///< of a predefined type, whose handle keeps its meaning
  uint64_t size = 0;    ///< bytes of data: all runs together
  MPI_Aint lb = 0;
  MPI_Aint extent = 0; ///< from one element of an array to the next
  /// In the order of the type map; no run begins at the end of the one before it.
  std::vector<Run> runs;

  // Derived from the runs: they locate the run of a packed byte, and regular runs are moved faster.
  uint64_t runLength = 0;       ///< of every run; 0: they differ
  MPI_Aint stride = 0;          ///< from every run to the next, or from a single one to that of
                                ///< the next element; 0: irregular
  std::vector<uint64_t> starts; ///< starts of runs in the packed bytes, if their lengths differ

  /// True if an array of such elements is one piece of memory that begins at its address.
  bool isDense() const {
    return runs.size() == 1 && runs[0] == Run{0, static_cast<uint64_t>(extent)};
  }
};

using SharedLayout = std::shared_ptr<const TypeLayout>;

/// `from` may be MPI_BOTTOM, which is null; `by` is then an absolute address.
inline std::byte *moved(const void *from, MPI_Aint by) {
  return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(from) +
                                       static_cast<uintptr_t>(by));
}

/// The layout of any valid datatype but MPI_DATATYPE_NULL, between MPI_Init and MPI_Finalize; any
/// thread. It is made once per datatype and kept with it until that is freed; a plan that holds it
/// longer shares it. The first call takes time in proportion to the runs, memory too.
Result<SharedLayout> layoutOf(MPI_Datatype type);

/// The layout that was made of this very datatype, or null; lives as long as the datatype. A handle
/// that was freed and used again is another datatype, whose layout has another id. Predefined types
/// take a few nanoseconds, others one look at an attribute.
const TypeLayout *knownLayoutOf(MPI_Datatype type);

/// Appends the memory of `count` elements at `buffer`, in order; pieces that touch become one.
void listBytes(const TypeLayout &layout, const void *buffer, uint64_t count,
               std::vector<iovec> &pieces);

/// Bytes [from, to) of the packed form of an array of elements at `buffer`, to `packed` or from
/// there. The first byte is found by bisection.
void pack(const TypeLayout &layout, const void *buffer, uint64_t from, uint64_t to, void *packed);
void unpack(const TypeLayout &layout, void *buffer, uint64_t from, uint64_t to, const void *packed);

} // namespace colldsl::mpi
