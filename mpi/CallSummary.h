/// Counts which calls of this process were served and which were passed on, and prints the counts
/// at the end if the user asks for that.
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

/// The counters of an algorithm that served calls of a kind: a collective of a schedule library, or
/// the exchange with neighbours. Counted under a Guard.
struct Algorithm {
  uint64_t runs = 0, bytes = 0; ///< runs that were begun; bytes that they sent
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

  /// Returns the counters of an algorithm. The reference stays valid. Under a Guard.
  Algorithm &algorithm(CallKind kind, const std::string &name) { return algorithms_[{kind, name}]; }

  /// Counts a call that was passed on to the MPI below. Thread safe.
  void passedOn(CallKind kind, Reason reason) {
    PassedOn &row = passedOn_[static_cast<size_t>(kind)];
    row.calls.fetch_add(1, std::memory_order_relaxed);
    if (reason == Reason::Devices)
      row.forDevices.fetch_add(1, std::memory_order_relaxed);
  }

  /// Keeps the reason why this job serves nothing; other ranks may have none, or another one.
  void noteUnserved(const std::string &reason) { unserved_ = reason + "\n"; }

  /// Counts a call whose schedule is not proved; keeps the first line of the first reason. Under a
  /// Guard.
  void countUnproved(CallKind kind, const std::string &why);

  /// Count operations that were made for new calls, and operations that took over the arguments of
  /// another call. Under a Guard.
  void countPrepared() { ++prepared_; }
  void countResized() { ++resized_; }
  uint64_t prepared() const { return prepared_; }
  uint64_t resized() const { return resized_; }

  /// The number of calls so far, by this process. Any thread.
  uint64_t passedOn(CallKind kind) const {
    return passedOn_[static_cast<size_t>(kind)].calls.load(std::memory_order_relaxed);
  }
  uint64_t passedOnForDevices(CallKind kind) const {
    return passedOn_[static_cast<size_t>(kind)].forDevices.load(std::memory_order_relaxed);
  }

  /// Collective over MPI_COMM_WORLD: rank 0 prints the first rank's reason why nothing was served,
  /// and the sums over all ranks, a line per kind that was called, then one per algorithm that
  /// served.
  void print() const;

  struct Unproved {
    uint64_t calls = 0;
    std::string why;
  };

private:
  struct PassedOn { // relaxed: numbers for print(), by which nothing else is read
    std::atomic<uint64_t> calls{0}, forDevices{0};
  };
  void printUnserved() const;
  void printKinds(int rank) const;
  void printUnproved() const;
  void printPrepared(int rank) const;
  void printAlgorithms(int rank) const;

  std::array<PassedOn, kCallKinds> passedOn_;
  uint64_t prepared_ = 0, resized_ = 0;
  std::map<std::pair<CallKind, std::string>, Algorithm> algorithms_;
  std::map<CallKind, Unproved> unproved_;
  std::string unserved_; ///< a line, or empty
  static Summary all_;
};

} // namespace colldsl::mpi
