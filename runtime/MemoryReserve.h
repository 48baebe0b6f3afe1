/// Memory that is kept for when there is no other: what an error takes until it is reported, what
/// destructors take, and what a run takes that other ranks have begun.
///
/// It is given back to the allocator by the handler of operator new, at the first allocation that
/// fails, and kept again once there is memory. Any thread.
#pragma once

#include "ir/Result.h"

#include <new>

namespace colldsl {

class MemoryReserve {
public:
  /// From the first communicator on; of an MPI program, until MPI_Finalize. A handler that the
  /// program has is called once the reserve is used up.
  static void begin();
  static void end();

  /// Whether there is a reserve, or memory for one; true where none was begun.
  static bool isWhole();

  /// While one lives in this thread the first allocation that fails throws std::bad_alloc, although
  /// the reserve then has memory. Outside, that allocation is made from the reserve. For what is
  /// prepared, and can be given up.
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

/// What make() returns, a Status or a Result; an error where memory is short.
template <typename Make> auto unlessMemoryIsShort(Make make) -> decltype(make()) {
  (void)MemoryReserve::isWhole(); // what was used is kept again
  try {
    MemoryReserve::Sparing sparing;
    return make();
  } catch (const std::bad_alloc &) {
    return Status::error(ErrorKind::NoMemory, "no memory is left");
  }
}

} // namespace colldsl
