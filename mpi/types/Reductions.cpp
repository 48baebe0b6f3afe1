#include "mpi/types/Reductions.h"

#include "device/Kernels.h"
#include "mpi/Real.h"
#include "mpi/types/ReductionKernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

namespace colldsl::mpi {
namespace {

using Meanings = std::unordered_map<MPI_Datatype, Meaning>;

Group groupOf(Arithmetic arithmetic) {
  switch (arithmetic) {
  case Arithmetic::Signed:
    return Group::CInteger;
  case Arithmetic::Unsigned:
    return Group::CUnsigned;
  case Arithmetic::Real:
  case Arithmetic::SmallReal:
    return Group::Float;
  case Arithmetic::Complex:
    return Group::Complex;
  }
  return Group::Float;
}

// First types of one format, then those whose format the compilers of the MPI decide.
// MPI_CHARACTER is text, for which MPI defines no operator; but MPIs, and programs, take it for
// numbers, and Open MPI takes it as unsigned. Types of optional sizes may be MPI_DATATYPE_NULL.
Meanings meaningsOfNamedTypes() {
  Meanings types;
  auto add = [&](const Meaning &meaning, std::initializer_list<MPI_Datatype> named) {
    for (MPI_Datatype type : named)
      types.emplace(type, meaning);
  };
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, numpy, dlpack, meaning, ...)             \
  add({groupOf(Arithmetic::arithmetic), ElementType::Name}, {__VA_ARGS__});
#include "ir/Vocabulary.def"
  add({Group::CInteger, {}}, {MPI_LONG});
  add({Group::CUnsigned, {}}, {MPI_UNSIGNED_LONG});
  add({Group::FortranInteger, {}},
      {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
  add({Group::Address, {}}, {MPI_AINT, MPI_OFFSET, MPI_COUNT});
  add({Group::Float, {}}, {MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION});
  add({Group::Complex, {}},
      {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX});
  add({Group::Quad, {}}, {MPI_REAL16});
  add({Group::Logical, {}}, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL});
#ifdef OPEN_MPI
  add({Group::CUnsigned, {}}, {MPI_CHARACTER});
  add({Group::Logical, {}}, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8});
  add({Group::QuadComplex, {}}, {MPI_COMPLEX32}); // another MPI has no operator for it
#else
  add({Group::CInteger, {}}, {MPI_CHARACTER});
#endif
  add({Group::Byte, {}}, {MPI_BYTE});
  add({Group::PairOfInt, {}}, {MPI_2INT, MPI_2INTEGER});
  add({Group::PairOfLong, {}}, {MPI_LONG_INT});
  add({Group::PairOfShort, {}}, {MPI_SHORT_INT});
  add({Group::PairOfFloat, {}}, {MPI_FLOAT_INT});
  add({Group::PairOfDouble, {}}, {MPI_DOUBLE_INT});
  add({Group::PairOfLongDouble, {}}, {MPI_LONG_DOUBLE_INT});
  add({Group::TwoFloats, {}}, {MPI_2REAL});
  add({Group::TwoDoubles, {}}, {MPI_2DOUBLE_PRECISION});
  types.erase(MPI_DATATYPE_NULL);
  return types;
}

// Real types of 16 bytes and more are ambiguous: there is more than one kind.
std::optional<Group> parameterizedGroup(MPI_Datatype type, uint64_t bytes) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (real::Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return std::nullopt;
  if (combiner == MPI_COMBINER_F90_INTEGER)
    return Group::FortranInteger;
  if (combiner == MPI_COMBINER_F90_REAL && bytes <= 8)
    return Group::Float;
  if (combiner == MPI_COMBINER_F90_COMPLEX && bytes <= 16)
    return Group::Complex;
  return std::nullopt;
}

std::optional<Meaning> meaningOf(MPI_Datatype type, uint64_t bytes) {
  static const Meanings named = meaningsOfNamedTypes();
  if (auto found = named.find(type); found != named.end())
    return found->second;
  std::optional<Group> group = parameterizedGroup(type, bytes);
  return group ? std::optional(Meaning{*group, {}}) : std::nullopt;
}

std::optional<Operator> operatorOf(MPI_Op op) {
  static const std::unordered_map<MPI_Op, Operator> operators = {
#define COLLDSL_REDUCTION(Name, spelling, commutative, operands, neutral, mpi)                     \
  {mpi, Operator::Name},
#define COLLDSL_STAND_IN(...)
#include "ir/Vocabulary.def"
      {MPI_MINLOC, Operator::Minloc},
      {MPI_MAXLOC, Operator::Maxloc},
  };
  auto found = operators.find(op);
  return found != operators.end() ? std::optional(found->second) : std::nullopt;
}

// Bytes passed to a user's function at once, if its operands are copied.
constexpr uint64_t kScratchBytes = 32 << 10;
// The most elements that the MPI takes at once, and the most bytes that one element may span:
// programs with larger ones gain nothing here.
constexpr uint64_t kMaxElements = 1 << 30;
constexpr MPI_Aint kMaxElementBytes = 64 << 20;

} // namespace

// Elements of the program are aligned relative to their address, not to their first byte. Offsets
// may be addresses.
void Reduction::Elements::allocate(MPI_Aint first, uint64_t bytes) {
  constexpr uintptr_t kAlignment = alignof(std::max_align_t);
  memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment);
  uintptr_t lowest = reinterpret_cast<uintptr_t>(memory_.get()) - static_cast<uintptr_t>(first);
  address_ = reinterpret_cast<std::byte *>((lowest + kAlignment - 1) / kAlignment * kAlignment);
}

/// False: there is nothing to combine, or too much in one element.
bool Reduction::measure(MPI_Datatype type) {
  Result<SharedLayout> layout = layoutOf(type);
  if (!layout || (*layout)->size == 0)
    return false;
  layout_ = *layout;
  first_ = std::numeric_limits<MPI_Aint>::max();
  end_ = std::numeric_limits<MPI_Aint>::min();
  for (const Run &run : layout_->runs) {
    first_ = std::min(first_, run.offset);
    end_ = std::max(end_, run.offset + static_cast<MPI_Aint>(run.length));
  }
  return end_ - first_ <= kMaxElementBytes;
}

std::atomic<uint64_t> Reduction::numFreed_{0};

namespace {

/// The last operators of MPI on its own datatypes that were found unserved: the meaning of these
/// handles never changes.
std::array<std::pair<MPI_Op, MPI_Datatype>, 8> unserved;
size_t numUnserved = 0;

} // namespace

bool Reduction::isKnownUnserved(MPI_Op op, MPI_Datatype type) {
  auto end = unserved.begin() + std::min(numUnserved, unserved.size());
  return std::find(unserved.begin(), end, std::pair(op, type)) != end;
}

std::unique_ptr<Reduction> Reduction::of(MPI_Op op, MPI_Datatype type) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || type == MPI_DATATYPE_NULL)
    return nullptr;
  if (!operatorOf(op))
    return ofUsers(op, type);
  std::unique_ptr<Reduction> made = ofMpis(op, type);
  const TypeLayout *layout = made ? nullptr : knownLayoutOf(type);
  if (layout && layout->isNamed)
    unserved[numUnserved++ % unserved.size()] = {op, type};
  return made;
}

std::unique_ptr<Reduction> Reduction::ofMpis(MPI_Op op, MPI_Datatype type) {
  std::unique_ptr<Reduction> made(new Reduction);
  if (!made->measure(type))
    return nullptr;
  std::optional<Meaning> meaning = meaningOf(type, made->layout_->size);
  if (!meaning)
    return nullptr;
  made->apply_ = applyKernel;
  made->before_ = findKernel(*operatorOf(op), *meaning, made->layout_->size, Side::Before);
  made->after_ = findKernel(*operatorOf(op), *meaning, made->layout_->size, Side::After);
  made->typed_ = findTyped(*operatorOf(op), *meaning, made->layout_->size);
  return made->after_ ? std::move(made) : nullptr;
}

bool Reduction::isOfDevices(MPI_Op op, MPI_Datatype type) {
  std::optional<Operator> known = operatorOf(op);
  Result<SharedLayout> layout = layoutOf(type);
  if (!known || !layout)
    return false;
  std::optional<Meaning> meaning = meaningOf(type, (*layout)->size);
  std::optional<TypedReduction> typed =
      meaning ? findTyped(*known, *meaning, (*layout)->size) : std::nullopt;
  return typed && device::Kernels::has(typed->reduction, typed->type);
}

std::unique_ptr<Reduction> Reduction::ofUsers(MPI_Op op, MPI_Datatype type) {
  std::unique_ptr<Reduction> made(new Reduction);
  int commutes = 0;
  if (!made->measure(type) || real::Op_commutative(op, &commutes) != MPI_SUCCESS)
    return nullptr;
  made->apply_ = made->isPacked() ? applyPacked : applyUsers;
  made->commutes_ = commutes != 0;
  made->op_ = op;
  made->type_ = type;
  made->allocate();
  return made;
}

// Elements that would overlap in an array are combined one by one.
void Reduction::allocate() {
  MPI_Aint span = end_ - first_;
  uint64_t bytes = static_cast<uint64_t>(span), elements = 1;
  if (layout_->extent >= span && bytes < kScratchBytes) {
    auto extent = static_cast<uint64_t>(layout_->extent);
    elements += (kScratchBytes - bytes) / extent;
    bytes += (elements - 1) * extent;
  }
  chunkBytes_ = elements * layout_->size;
  incoming_.allocate(first_, bytes);
  if (isPacked())
    own_.allocate(first_, bytes);
}

void Reduction::applyKernel(std::byte *target, const std::byte *first, const std::byte *source,
                            uint64_t bytes, Side side, void *context) {
  auto *self = static_cast<const Reduction *>(context);
  (side == Side::After ? self->after_ : self->before_)(target, first, source, bytes);
}

// Cannot fail: the MPI accepted operator and datatype before.
void Reduction::combine(const std::byte *in, std::byte *inout, uint64_t bytes) const {
  real::Reduce_local(in, inout, static_cast<int>(bytes / layout_->size), type_, op_);
}

// The MPI computes inout = in op inout. The side matters for operators that commute too: results
// that their author considers equal may differ in bits.
void Reduction::applyUsers(std::byte *target, const std::byte *first, const std::byte *source,
                           uint64_t bytes, Side side, void *context) {
  auto *self = static_cast<Reduction *>(context);
  std::byte *incoming = self->incoming_.address();
  uint64_t most = side == Side::Before ? kMaxElements * self->layout_->size : self->chunkBytes_;
  for (uint64_t at = 0, part = 0; at < bytes; at += part) {
    part = std::min(most, bytes - at);
    if (side == Side::Before) {
      if (first != target)
        std::memcpy(target + at, first + at, part);
      self->combine(source + at, target + at, part);
    } else {
      std::memcpy(incoming, source + at, part);
      self->combine(first + at, incoming, part);
      std::memcpy(target + at, incoming, part);
    }
  }
}

void Reduction::applyPacked(std::byte *target, const std::byte *first, const std::byte *source,
                            uint64_t bytes, Side side, void *context) {
  auto *self = static_cast<Reduction *>(context);
  const TypeLayout &layout = *self->layout_;
  std::byte *own = self->own_.address(), *incoming = self->incoming_.address();
  std::byte *in = side == Side::Before ? incoming : own;
  std::byte *inout = side == Side::Before ? own : incoming;
  for (uint64_t at = 0, part = 0; at < bytes; at += part) {
    part = std::min(self->chunkBytes_, bytes - at);
    unpack(layout, own, 0, part, first + at);
    unpack(layout, incoming, 0, part, source + at);
    self->combine(in, inout, part);
    pack(layout, inout, 0, part, target + at);
  }
}

} // namespace colldsl::mpi
