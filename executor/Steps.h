/// The steps of a plan's ops, down to addresses: all values that can be computed before a run are.
#pragma once

#include "executor/Edges.h"
#include "executor/Memory.h"
#include "executor/Reduce.h"

namespace colldsl {

/// Bytes of a copy or combine that lie in one run on both sides.
struct LocalPiece {
  std::byte *target;
  const std::byte *source;
  uint64_t bytes;
  const std::byte *first = nullptr; ///< Combine: operand instead of the target; null: the target
};

/// One op.
struct Step {
  enum class Kind : uint8_t { Nothing, Send, Recv, Copy, Combine, Calc };
  Kind kind = Kind::Nothing;
  bool variable = false;              ///< has blocks whose lengths change: see Steps::refresh()
  Side side = Side::After;            ///< Combine, with a combiner
  uint32_t pieceCount = 0;            ///< Copy, Combine
  MessageSlot slot;                   ///< Send, Recv
  uint64_t ns = 0;                    ///< Calc
  Payload payload;                    ///< Send, Recv; of Copy and Combine, bytes alone
  const LocalPiece *pieces = nullptr; ///< Copy, Combine
  ReduceFunction reduce = nullptr;    ///< Combine, without a combiner

  bool isLocal() const { return kind == Kind::Copy || kind == Kind::Combine; }
};
static_assert(sizeof(Step) == 64);

/// The steps of one rank.
///
/// Messages with blocks of variable length: a single such block travels as its bytes, which give
/// its length. Among other slices, the message begins with a table of the bytes of each slice, and
/// is received into a buffer from which unpack() distributes it.
class Steps {
public:
  /// `memory`, of that view, outlives it and stays where it is.
  Steps(const RankView &view, Memory &memory) : view_(view), memory_(&memory) {}

  /// Called once the memory is bound, as often as that is. After an error the steps are of no use
  /// until this succeeds. Bound again to no more than before, it allocates nothing.
  Status bind(const Edges &edges, const Combiner &combiner);

  const Step &operator[](OpId op) const { return steps_[index(op)]; }
  const Combiner &combiner() const { return combiner_; }
  /// The operator of a combine; none: a function of the caller's.
  std::optional<TypedReduction> reductionOf(OpId op) const {
    const ImageOp &image = view_.ops[index(op)];
    return combiner_ ? combiner_.typed : TypedReduction{image.reduction, image.type};
  }
  const Work &work() const { return work_; }

  /// Called before a step with `variable` starts: takes the lengths as they are now. Fails if two
  /// sides no longer fit.
  Status refresh(OpId op);

  /// Called after a Recv with `variable` finished: sets lengths, moves bytes to their places.
  Status unpack(OpId op, uint64_t bytes);

  /// Calls visit(address) for each address that some step has, and for addresses that no step uses.
  template <typename Visit> void forEachAddress(Visit visit) {
    for (iovec &piece : iovecs_)
      visit(reinterpret_cast<std::byte *&>(piece.iov_base));
    forEachIn(pieces_, visit);
    for (std::vector<LocalPiece> &rest : rests_)
      forEachIn(rest, visit);
  }

private:
  template <typename Visit> static void forEachIn(std::vector<LocalPiece> &pieces, Visit visit) {
    for (LocalPiece &piece : pieces) {
      visit(piece.target);
      visit(const_cast<std::byte *&>(piece.source));
      visit(const_cast<std::byte *&>(piece.first));
    }
  }

  struct Staging {
    uint32_t op;
    std::vector<uint64_t> table;  ///< bytes per slice
    std::vector<std::byte> bytes; ///< Recv: bytes behind the table
  };

  Status addLocal(uint32_t i);
  Status addOperator(uint32_t i);
  Status addMessage(uint32_t i);
  Status addVariableMessage(uint32_t i, std::span<const Slice> slices);
  std::span<const Slice> messageSlices(uint32_t i) const;
  Status makeRoom();
  Status makeBlank();
  void addSized(uint32_t i);
  std::string inWords(std::span<const Slice> slices) const;
  Status pairUp(uint32_t i);
  Status followSource(uint32_t i);
  uint64_t listPieces(std::span<const Slice> slices, iovec *pieces) const;
  Staging *stagingOf(uint32_t i);
  friend class FusedCopies;    // which changes copies and combines
  friend class ResizableSteps; // which changes addresses and lengths
  bool isVariable(std::span<const Slice> slices) const;

  RankView view_;
  Memory *memory_ = nullptr;
  Combiner combiner_;
  std::vector<Step> steps_;
  std::vector<iovec> iovecs_;      ///< never grows once steps point into it
  std::vector<LocalPiece> pieces_; ///< likewise
  size_t iovecsUsed_ = 0;
  size_t piecesUsed_ = 0;
  std::vector<std::vector<LocalPiece>> rests_;   ///< the rest of copies that combines took over
  std::vector<Staging> staging_;                 ///< sorted by op
  std::unique_ptr<std::byte, FreeMemory> blank_; ///< content of messages without slices
  uint64_t blankBytes_ = 0;
  Work work_;
};

} // namespace colldsl
