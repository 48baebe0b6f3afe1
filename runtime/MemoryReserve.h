/// Memory that is reserved for use when no other is left: errors that are not yet reported,
/// destructors, and runs that other ranks have begun need it.
///
/// The handler of operator new gives it back to the allocator at the first allocation that fails,
/// and it is reserved again once there is memory. Any thread.
#pragma once

#include "ir/Result.h"

#include <new>

namespace colldsl {

class MemoryReserve {
public:
  /// begin() is called by the first communicator, end() by MPI_Finalize of an MPI program. A
  /// handler that the program has is called once the reserve is used up.
  static void begin();
  static void end();

  /// True if there is a reserve, or memory for one, or if none was begun.
  static bool isWhole();

  /// While one lives in this thread the first allocation that fails throws std::bad_alloc, although
  /// the reserve then has memory. Outside, that allocation is made from the reserve. For
  /// preparations that can be abandoned.
  class Sparing {
  public:
    Sparing() { ++depth_; }
    ~Sparing() { --depth_; }
    Sparing(const Sparing &) = delete;
    Sparing &operator=(const Sparing &) = delete;

  private:
    friend class MemoryReserve;
    static inline constinit thread_local int depth_ = 0;
  };

private:
  static void onFailedNew();
};

/// Returns the result of make(), a Status or a Result; an error if memory is short.
template <typename Make> auto unlessMemoryIsShort(Make make) -> decltype(make()) {
  (void)MemoryReserve::isWhole(); // refills the reserve
  try {
    MemoryReserve::Sparing sparing;
    return make();
  } catch (const std::bad_alloc &) {
    return Status::error(ErrorKind::NoMemory, "no memory is left");
  }
}

} // namespace colldsl
