/// What a program promises of the neighbourhood collectives of a communicator, by info keys. What
/// each key promises and gains is in docs/mpi.md.
#pragma once

#include "mpi/Mpi.h"

#include <cstdint>
#include <memory>
#include <string>

namespace colldsl::mpi {

enum class Promise : uint32_t { StrictCommunication, ExactBytes, StaticBuffers };
inline constexpr uint32_t kPromises = 3;
inline constexpr const char *kPromiseKeys[kPromises] = {
    "cdag_strict_communication", "cdag_exact_byte_communications", "cdag_static_buffers"};

/// A set of promises.
class InfoPromises {
public:
  InfoPromises() = default;
  explicit InfoPromises(uint32_t bits) : bits_(bits) {}

  bool has(Promise promise) const { return bits_ >> static_cast<uint32_t>(promise) & 1; }
  uint32_t bits() const { return bits_; } ///< a bit per Promise

  /// With what `info`, which may be MPI_INFO_NULL, says: "true" gives a promise, "false" takes it
  /// back. Keys that are not there and other values change nothing, as MPI has it for hints.
  InfoPromises changedBy(MPI_Info info) const;

  /// Says of each key whether it is promised.
  void putInto(MPI_Info info) const;

  /// "cdag_static_buffers, cdag_strict_communication"; empty: nothing is promised.
  std::string text() const;

private:
  uint32_t bits_ = 0;
};

/// The promises of all ranks of a communicator, by a nonblocking reduction. Under a Guard.
class HintsQuery {
public:
  /// Collective over `comm`. What is given out must be kept until it is answered.
  static std::shared_ptr<HintsQuery> start(MPI_Comm comm, InfoPromises mine);
  HintsQuery(const HintsQuery &) = delete;
  HintsQuery &operator=(const HintsQuery &) = delete;

  bool isAnswered();
  void wait();
  InfoPromises answer() const { return InfoPromises(all_); }

private:
  explicit HintsQuery(InfoPromises mine) : mine_(mine.bits()) {}

  uint32_t mine_, all_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace colldsl::mpi
