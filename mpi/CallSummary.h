/// Counts what became of the calls of this process, and prints it at the end where that is
/// wanted.
#pragma once

#include "mpi/Call.h"

#include <array>
#include <atomic>
#include <map>
#include <string>

namespace colldsl::mpi {

/// Why a call is passed on.
enum class Reason : uint8_t {
  Other,
  Devices ///< a buffer is in memory of a device, or may be
};

/// What served calls of a kind: a collective of a schedule library, or the exchange with
/// neighbours. Counted under a Guard.
struct Algorithm {
  uint64_t runs = 0, bytes = 0; ///< that were begun; that they sent
  uint64_t timedRuns = 0, nanoseconds = 0;

  void count(uint64_t bytesSent) {
    ++runs;
    bytes += bytesSent;
  }
  void takeBack(uint64_t bytesSent) {
    --runs;
    bytes -= bytesSent;
  }
};

class Summary {
public:
  static Summary &all() { return all_; }

  /// Where runs are counted; it stays there. Under a Guard.
  Algorithm &algorithm(CallKind kind, const std::string &name) { return algorithms_[{kind, name}]; }

  /// A call that the MPI below was given. Thread safe.
  void passedOn(CallKind kind, Reason reason) {
    PassedOn &row = passedOn_[static_cast<size_t>(kind)];
    row.calls.fetch_add(1, std::memory_order_relaxed);
    if (reason == Reason::Devices)
      row.forDevices.fetch_add(1, std::memory_order_relaxed);
  }

  /// One of these for which nothing is proved; the first line of the first reason is kept. Under a
  /// Guard.
  void countUnproved(CallKind kind, const std::string &why);

  /// Operations that were made for calls that did not come before, and such that took the
  /// arguments of another call. Under a Guard.
  void countPrepared() { ++prepared_; }
  void countResized() { ++resized_; }
  uint64_t prepared() const { return prepared_; }
  uint64_t resized() const { return resized_; }

  /// So far, by this process. Any thread.
  uint64_t passedOn(CallKind kind) const {
    return passedOn_[static_cast<size_t>(kind)].calls.load(std::memory_order_relaxed);
  }
  uint64_t passedOnForDevices(CallKind kind) const {
    return passedOn_[static_cast<size_t>(kind)].forDevices.load(std::memory_order_relaxed);
  }

  /// Collective over MPI_COMM_WORLD: rank 0 prints the sums over all ranks, a line per kind that
  /// was called, then one per algorithm that served.
  void print() const;

  struct Unproved {
    uint64_t calls = 0;
    std::string why;
  };

private:
  struct PassedOn {
    std::atomic<uint64_t> calls{0}, forDevices{0};
  };
  void printKinds(int rank) const;
  void printUnproved() const;
  void printPrepared(int rank) const;
  void printAlgorithms(int rank) const;

  std::array<PassedOn, kCallKinds> passedOn_;
  uint64_t prepared_ = 0, resized_ = 0;
  std::map<std::pair<CallKind, std::string>, Algorithm> algorithms_;
  std::map<CallKind, Unproved> unproved_;
  static Summary all_;
};

} // namespace colldsl::mpi
