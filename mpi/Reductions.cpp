#include "mpi/Reductions.h"

#include "mpi/Real.h"
#include "mpi/ReductionKernels.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace colldsl::mpi {
namespace {

using Groups = std::unordered_map<MPI_Datatype, Group>;

// MPI_CHAR and MPI_CHARACTER stand for text, with which no operator goes. Types of optional sizes
// may be MPI_DATATYPE_NULL.
Groups namedGroups() {
  Groups groups;
  auto add = [&](Group group, std::initializer_list<MPI_Datatype> types) {
    for (MPI_Datatype type : types)
      groups.emplace(type, group);
  };
  add(Group::CInteger, {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
                        MPI_INT16_T, MPI_INT32_T, MPI_INT64_T});
  add(Group::CUnsigned,
      {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
       MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
  add(Group::FortranInteger, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
  add(Group::Address, {MPI_AINT, MPI_OFFSET, MPI_COUNT});
  add(Group::Float, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
                     MPI_REAL4, MPI_REAL8});
  add(Group::Complex, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                       MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX,
                       MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16});
  add(Group::Quad, {MPI_REAL16});
  add(Group::Logical, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL});
#ifdef OPEN_MPI
  add(Group::Logical, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8});
  add(Group::QuadComplex, {MPI_COMPLEX32}); // another MPI has no operator for it
#endif
  add(Group::Byte, {MPI_BYTE});
  add(Group::PairOfInt, {MPI_2INT, MPI_2INTEGER});
  add(Group::PairOfLong, {MPI_LONG_INT});
  add(Group::PairOfShort, {MPI_SHORT_INT});
  add(Group::PairOfFloat, {MPI_FLOAT_INT});
  add(Group::PairOfDouble, {MPI_DOUBLE_INT});
  add(Group::PairOfLongDouble, {MPI_LONG_DOUBLE_INT});
  add(Group::TwoFloats, {MPI_2REAL});
  add(Group::TwoDoubles, {MPI_2DOUBLE_PRECISION});
  groups.erase(MPI_DATATYPE_NULL);
  return groups;
}

// Of 16 bytes and more there is more than one kind of real number.
std::optional<Group> parameterizedGroup(MPI_Datatype type, MPI_Aint extent) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (real::Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return std::nullopt;
  if (combiner == MPI_COMBINER_F90_INTEGER)
    return Group::FortranInteger;
  if (combiner == MPI_COMBINER_F90_REAL && extent <= 8)
    return Group::Float;
  if (combiner == MPI_COMBINER_F90_COMPLEX && extent <= 16)
    return Group::Complex;
  return std::nullopt;
}

std::optional<Group> groupOf(MPI_Datatype type, MPI_Aint extent) {
  static const Groups named = namedGroups();
  auto found = named.find(type);
  return found != named.end() ? found->second : parameterizedGroup(type, extent);
}

std::optional<Operator> operatorOf(MPI_Op op) {
  static const std::unordered_map<MPI_Op, Operator> operators = {
      {MPI_MAX, Operator::Max},   {MPI_MIN, Operator::Min},       {MPI_SUM, Operator::Sum},
      {MPI_PROD, Operator::Prod}, {MPI_LAND, Operator::Land},     {MPI_BAND, Operator::Band},
      {MPI_LOR, Operator::Lor},   {MPI_BOR, Operator::Bor},       {MPI_LXOR, Operator::Lxor},
      {MPI_BXOR, Operator::Bxor}, {MPI_MINLOC, Operator::Minloc}, {MPI_MAXLOC, Operator::Maxloc},
  };
  auto found = operators.find(op);
  return found != operators.end() ? std::optional(found->second) : std::nullopt;
}

// What a user's function is given at once, where its operands are copied.
constexpr uint64_t kScratchBytes = 64 << 10;
// What the MPI takes at once, and what one element may have: who has larger ones gains nothing
// here.
constexpr uint64_t kMostElements = 1 << 30;
constexpr MPI_Aint kMostElementBytes = 64 << 20;

} // namespace

/// False: the bytes from the lower bound on, as many as the extent, are not the element; or they
/// would not be aligned in memory of a plan's own as they are in the program's.
bool Reduction::measure(MPI_Datatype type) {
  MPI_Aint extent = 0, first = 0, span = 0;
  int size = 0;
  if (real::Type_get_extent(type, &lowerBound_, &extent) != MPI_SUCCESS ||
      real::Type_get_true_extent(type, &first, &span) != MPI_SUCCESS ||
      real::Type_size(type, &size) != MPI_SUCCESS)
    return false;
  if (size <= 0 || extent <= 0 || extent > kMostElementBytes || first < lowerBound_ ||
      first + span > lowerBound_ + extent)
    return false;
  // No alignment that elements of an array have in common is larger than what divides the extent.
  MPI_Aint alignment = std::min<MPI_Aint>(extent & -extent, alignof(std::max_align_t));
  elementBytes_ = static_cast<uint64_t>(extent);
  hasGaps_ = size != extent;
  return lowerBound_ % alignment == 0;
}

std::atomic<uint64_t> Reduction::numFreed_{0};

std::unique_ptr<Reduction> Reduction::of(MPI_Op op, MPI_Datatype type) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || type == MPI_DATATYPE_NULL)
    return nullptr;
  return operatorOf(op) ? ofMpis(op, type) : ofUsers(op, type);
}

std::unique_ptr<Reduction> Reduction::ofMpis(MPI_Op op, MPI_Datatype type) {
  std::unique_ptr<Reduction> made(new Reduction);
  if (!made->measure(type))
    return nullptr;
  std::optional<Group> group = groupOf(type, static_cast<MPI_Aint>(made->elementBytes_));
  if (!group)
    return nullptr;
  made->apply_ = applyKernel;
  made->before_ = findKernel(*operatorOf(op), *group, made->elementBytes_, Side::Before);
  made->after_ = findKernel(*operatorOf(op), *group, made->elementBytes_, Side::After);
  return made->after_ ? std::move(made) : nullptr;
}

std::unique_ptr<Reduction> Reduction::ofUsers(MPI_Op op, MPI_Datatype type) {
  std::unique_ptr<Reduction> made(new Reduction);
  int commutes = 0;
  if (!made->measure(type) || real::Op_commutative(op, &commutes) != MPI_SUCCESS)
    return nullptr;
  made->apply_ = applyUsers;
  made->commutes_ = commutes != 0;
  made->op_ = op;
  made->type_ = type;
  made->scratch_.resize(std::max(uint64_t{1}, kScratchBytes / made->elementBytes_) *
                        made->elementBytes_);
  return made;
}

void Reduction::applyKernel(std::byte *target, const std::byte *source, uint64_t bytes, Side side,
                            void *context) {
  auto *self = static_cast<const Reduction *>(context);
  (side == Side::After ? self->after_ : self->before_)(target, source, bytes);
}

// The MPI computes inout = in op inout. It cannot fail: it took operator and datatype before. The
// side counts for operators that commute too: what is equal for their author may differ in bits.
void Reduction::applyUsers(std::byte *target, const std::byte *source, uint64_t bytes, Side side,
                           void *context) {
  auto *self = static_cast<Reduction *>(context);
  auto combine = [&](const std::byte *in, std::byte *inout, uint64_t part) {
    real::Reduce_local(in - self->lowerBound_, inout - self->lowerBound_,
                       static_cast<int>(part / self->elementBytes_), self->type_, self->op_);
  };
  std::byte *scratch = self->scratch_.data();
  uint64_t most =
      side == Side::Before ? kMostElements * self->elementBytes_ : self->scratch_.size();
  for (uint64_t at = 0, part = 0; at < bytes; at += part) {
    part = std::min(most, bytes - at);
    if (side == Side::Before) {
      combine(source + at, target + at, part);
    } else {
      std::memcpy(scratch, source + at, part);
      combine(target + at, scratch, part);
      std::memcpy(target + at, scratch, part);
    }
  }
}

} // namespace colldsl::mpi
