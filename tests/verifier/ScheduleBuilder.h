/// Builds small schedules by hand: ops per rank in program order, messages numbered and
/// data dependencies added as the language would.
#pragma once

#include "verifier/Verifier.h"

#include <initializer_list>
#include <map>
#include <string>
#include <tuple>

namespace colldsl::test {

using namespace proof;

using Slices = std::vector<Slice>;
using Deps = std::vector<Dep>;

inline Dep requires_(OpId op) { return {op, DepKind::Requires}; }
inline Dep irequires(OpId op) { return {op, DepKind::IRequires}; }

class ScheduleBuilder {
public:
  /// n elements of 32 bits are one block.
  explicit ScheduleBuilder(uint32_t ranks, uint64_t n = 8);

  uint32_t ranks() const { return schedule_.numRanks(); }
  uint64_t n() const { return n_; }

  /// A parameter of `blocks` blocks, on every rank.
  BufferId param(const std::string &name, BufferRole role, uint32_t blocks = 1);
  /// A parameter of one block that lies in `place(rank)`, a slice of another one.
  template <typename PlaceOf>
  BufferId alias(const std::string &name, BufferRole role, PlaceOf placeOf) {
    BufferId id = param(name, role);
    for (uint32_t r = 0; r < ranks(); ++r)
      setAlias(r, id, placeOf(r));
    return id;
  }
  void setAlias(uint32_t rank, BufferId buffer, const Slice &place);
  /// Blocks with a table of lengths, packed (CallTime) or m elements apart (Capacity).
  BufferId ragged(const std::string &name, BufferRole role, const std::vector<uint64_t> &lengths);
  BufferId capacity(const std::string &name, BufferRole role, uint64_t m,
                    const std::vector<uint64_t> &lengths);
  BufferId temp(uint32_t rank, const std::string &name, uint32_t blocks = 1);

  Slice blockOf(BufferId buffer, uint32_t block) const {
    return blocksOf(buffer, block, block + 1);
  }
  Slice blocksOf(BufferId buffer, uint32_t begin, uint32_t end) const;
  Slice elementsOf(BufferId buffer, int64_t begin, int64_t end) const;
  Slice raggedBlock(BufferId buffer, uint32_t block) const;

  OpId send(uint32_t rank, Slices from, uint32_t to, Deps deps = {}, uint32_t tag = 0);
  OpId recv(uint32_t rank, Slices into, uint32_t from, Deps deps = {}, uint32_t tag = 0);
  /// A receive into a fresh temporary and a combine; returns the combine.
  OpId recvCombine(uint32_t rank, Slice into, uint32_t from, Side side,
                   Reduction reduction = Reduction::Sum);
  OpId signal(uint32_t rank, uint32_t to, Deps deps = {}, uint32_t tag = 0);
  OpId wait(uint32_t rank, uint32_t from, Deps deps = {}, uint32_t tag = 0);
  OpId copy(uint32_t rank, Slices from, Slices to, Deps deps = {});
  OpId combine(uint32_t rank, Slice from, Slice into, Side side = Side::After,
               Reduction reduction = Reduction::Sum, Deps deps = {});
  OpId sendBytes(uint32_t rank, uint64_t bytes, uint32_t to, Deps deps = {}, uint32_t tag = 0);
  OpId recvBytes(uint32_t rank, uint64_t bytes, uint32_t from, Deps deps = {}, uint32_t tag = 0);

  void ensure(uint32_t rank, Slice target, uint32_t ownerRank, Slice operand);
  void ensureReduce(uint32_t rank, Slice target, const std::vector<EntryValue> &operands,
                    Reduction reduction = Reduction::Sum);
  /// buffer == reduce(reduction, for all ranks: operand@r), on `rank`.
  void ensureReduceAll(uint32_t rank, Slice target, Slice operand,
                       Reduction reduction = Reduction::Sum);

  /// Off: only the deps that the test states.
  bool followsData = true;

  Schedule &schedule() { return schedule_; }
  const std::vector<Sizes> &sizes() const { return sizes_; }
  VerifyReport verify(VerifyOptions options = {}) const;
  /// What verify() says, as text.
  std::string verdict(VerifyOptions options = {}) const;

private:
  Buffer dense(const std::string &name, BufferRole role, uint32_t blocks);
  BufferId blocky(const std::string &name, BufferRole role, Layout layout, uint64_t extent,
                  const BlockTable &table);
  OpId add(uint32_t rank, Op op, const Slices &sources, const Slices &targets, Deps deps);
  void addDataDeps(uint32_t rank, const Slices &sources, const Slices &targets, Deps &deps) const;
  bool overlap(uint32_t rank, const Slice &a, const Slice &b) const;
  std::pair<BufferId, ByteRange> place(uint32_t rank, const Slice &slice) const;
  Op message(OpKind kind, uint32_t rank, uint32_t peer, uint32_t tag);

  uint64_t n_;
  Schedule schedule_;
  std::vector<Sizes> sizes_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, bool>, uint32_t> messageCounts_;
};

/// Whether a failure of this proof says all of these words.
bool fails(const VerifyReport &report, Proof proof, std::initializer_list<const char *> words);

} // namespace colldsl::test
