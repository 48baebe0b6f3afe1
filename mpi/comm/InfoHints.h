/// Info hints of a communicator about its neighbourhood collectives. docs/mpi.md defines what each
/// key asserts and gains.
#pragma once

#include "mpi/Mpi.h"

#include <cstdint>
#include <memory>
#include <string>

namespace colldsl::mpi {

enum class InfoHint : uint32_t { StrictCommunication, ExactBytes, StaticBuffers };
inline constexpr uint32_t kInfoHints = 3;
inline constexpr const char *kInfoHintKeys[kInfoHints] = {
    "cdag_strict_communication", "cdag_exact_byte_communications", "cdag_static_buffers"};

/// A set of hints.
class InfoHints {
public:
  InfoHints() = default;
  explicit InfoHints(uint32_t bits) : bits_(bits) {}

  bool has(InfoHint hint) const { return bits_ >> static_cast<uint32_t>(hint) & 1; }
  uint32_t bits() const { return bits_; } ///< a bit per InfoHint

  /// Returns these hints as `info` changes them; it may be MPI_INFO_NULL. "true" gives a hint,
  /// "false" revokes it. Missing keys and other values change nothing, as MPI defines it for hints.
  InfoHints changedBy(MPI_Info info) const;

  /// Puts each key with "true" or "false".
  void putInto(MPI_Info info) const;

  /// "cdag_static_buffers, cdag_strict_communication"; empty: no hint.
  std::string text() const;

private:
  uint32_t bits_ = 0;
};

/// The hints of all ranks of a communicator, by a nonblocking reduction. Under a Guard.
class HintsQuery {
public:
  /// Collective over `comm`. The caller keeps the result until it is answered.
  static std::shared_ptr<HintsQuery> start(MPI_Comm comm, InfoHints mine);
  HintsQuery(const HintsQuery &) = delete;
  HintsQuery &operator=(const HintsQuery &) = delete;

  bool isAnswered();
  void wait();
  InfoHints answer() const { return InfoHints(all_); }

private:
  explicit HintsQuery(InfoHints mine) : mine_(mine.bits()) {}

  uint32_t mine_, all_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace colldsl::mpi
