/// Counts what became of the calls of this process, and prints it at the end where that is
/// wanted.
#pragma once

#include "mpi/Call.h"

#include <array>
#include <atomic>

namespace colldsl::mpi {

class Summary {
public:
  static Summary &all() { return all_; }

  /// A run that was begun, which sends so many bytes. The caller holds a Guard.
  void served(CallKind kind, uint64_t bytes) {
    Row &row = rows_[static_cast<size_t>(kind)];
    ++row.served;
    row.bytes += bytes;
  }

  /// A call that the MPI below was given. Thread safe.
  void passedOn(CallKind kind) {
    rows_[static_cast<size_t>(kind)].passedOn.fetch_add(1, std::memory_order_relaxed);
  }

  /// Collective over MPI_COMM_WORLD: rank 0 prints the sums over all ranks, a line per kind that
  /// was called.
  void print() const;

private:
  struct Row {
    uint64_t served = 0, bytes = 0;
    std::atomic<uint64_t> passedOn{0};
  };
  std::array<Row, kCallKinds> rows_;
  static Summary all_;
};

} // namespace colldsl::mpi
