/// The expected memory of a rank after a call, computed from the contract alone.
#pragma once

#include "ir/Schedule.h"
#include "tools/run/Pattern.h"

namespace colldsl::tools {

/// Bytes of the parameters of all ranks together, without guards; may exceed any machine's memory.
double parameterBytes(const Schedule &schedule, const std::vector<Sizes> &sizes);

/// One rank's parameters in one piece of memory, with guards between them: comparing all of it
/// shows every wrong byte, and every write outside of the parameters.
class Oracle {
public:
  /// `sizes` as verify() takes them, one per rank. The arguments outlive the oracle.
  Oracle(const Schedule &schedule, const std::vector<Sizes> &sizes, Rank rank);

  uint64_t bytes() const { return bytes_; }

  /// The range of a parameter. Its length is 0 if the parameter has no storage of its own on this
  /// rank.
  ByteRange placeOf(BufferId buffer) const { return places_[index(buffer)]; }

  struct Contents {
    std::vector<std::byte> before;
    std::vector<std::byte> after;
    std::vector<ByteRange> anything; ///< parts of `after` that the contract leaves open
  };
  /// The contents for the data of one call. An error: the contract is inconsistent, which verify()
  /// would have reported.
  Result<Contents> contents(uint32_t call) const;

  /// Describes the first invariant of the rank that `memory` does not keep, whose target is a copy
  /// of its own; empty: all hold. Contents of `call` were there before.
  std::string wrongInvariant(std::span<const std::byte> memory, uint32_t call) const;

  /// Describes the first byte that differs, with both values. `memory` and `expected` differ.
  std::string mismatch(std::span<const std::byte> memory,
                       std::span<const std::byte> expected) const;

private:
  /// Bytes of a buffer that has storage of its own.
  struct Area {
    BufferId buffer;
    ByteRange range;
  };

  Area locate(Rank rank, BufferId buffer, ByteRange range) const;
  Result<Area> locate(Rank rank, const Slice &slice) const;
  void enter(std::vector<std::byte> &memory, uint32_t call) const;
  void enterRange(std::vector<std::byte> &memory, BufferId buffer, ByteRange range,
                  uint32_t call) const;
  Result<std::vector<std::byte>> promised(const Ensure &ensure, uint32_t call) const;
  Status keepPromise(const Ensure &ensure, uint32_t call, Contents &contents) const;
  Result<std::vector<std::byte>> valueAtEntry(const EntryValue &operand, uint32_t call) const;
  std::string describeByte(BufferId buffer, uint64_t offset, std::span<const std::byte> memory,
                           std::span<const std::byte> expected) const;

  const Dag &dag(Rank rank) const { return schedule_.ranks[index(rank)]; }
  const Dag &dag() const { return dag(rank_); }
  const Sizes &sizes(Rank rank) const { return sizes_[index(rank)]; }

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  Rank rank_;
  Pattern pattern_;
  std::vector<ByteRange> places_; ///< per buffer
  uint64_t bytes_ = 0;
};

} // namespace colldsl::tools
