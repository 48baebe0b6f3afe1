// Takes kernels from executor/Reduce.h if it has them, and adds the others.
#include "mpi/types/ReductionKernels.h"

#include "ir/Operators.h"

#include <cstddef>
#include <optional>

namespace colldsl::mpi {
namespace {

__extension__ using Quad = __float128;

/// A value at any address. Of a long double it reads and writes the 10 significant bytes.
template <typename T> struct [[gnu::packed, gnu::may_alias]] Unaligned { T value; };

template <typename T> T load(const std::byte *from) {
  return reinterpret_cast<const Unaligned<T> *>(from)->value;
}
template <typename T> void store(std::byte *to, T value) {
  reinterpret_cast<Unaligned<T> *>(to)->value = value;
}

/// Real numbers.
template <typename T> struct Real {
  static constexpr size_t kBytes = sizeof(T);
  template <typename Op>
  static void combine(std::byte *to, const std::byte *a, const std::byte *b) {
    store(to, Op::template apply<T>(load<T>(a), load<T>(b)));
  }
};
struct MaxOf {
  template <typename T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct MinOf {
  template <typename T> static T apply(T a, T b) { return b < a ? b : a; }
};
struct SumOf {
  template <typename T> static T apply(T a, T b) { return a + b; }
};
struct ProdOf {
  template <typename T> static T apply(T a, T b) { return a * b; }
};

/// Complex numbers. Products are computed as written, also where a part becomes infinite.
template <typename T> struct Complex {
  static constexpr size_t kBytes = 2 * sizeof(T);
  template <typename Op>
  static void combine(std::byte *to, const std::byte *a, const std::byte *b) {
    T ar = load<T>(a), ai = load<T>(a + sizeof(T)), br = load<T>(b), bi = load<T>(b + sizeof(T));
    if constexpr (std::is_same_v<Op, SumOf>) {
      store(to, ar + br);
      store(to + sizeof(T), ai + bi);
    } else {
      store(to, ar * br - ai * bi);
      store(to + sizeof(T), ar * bi + ai * br);
    }
  }
};

/// A value and an index, packed. Of equal values the lower index wins.
template <typename Value, typename Index> struct Pair {
  static constexpr size_t kIndex = sizeof(Value);
  static constexpr size_t kBytes = kIndex + sizeof(Index);
  template <typename Op>
  static void combine(std::byte *to, const std::byte *a, const std::byte *b) {
    Value av = load<Value>(a), bv = load<Value>(b);
    Index ai = load<Index>(a + kIndex), bi = load<Index>(b + kIndex);
    bool isA = Op::wins(av, bv) || (av == bv && ai < bi);
    store(to, isA ? av : bv);
    store(to + kIndex, isA ? ai : bi);
  }
};
struct MinlocOf {
  template <typename T> static bool wins(T a, T b) { return a < b; }
};
struct MaxlocOf {
  template <typename T> static bool wins(T a, T b) { return b < a; }
};

template <typename Element, typename Op, Side side>
void reduce(std::byte *target, const std::byte *first, const std::byte *source, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += Element::kBytes) {
    const std::byte *own = first + i, *incoming = source + i;
    Element::template combine<Op>(target + i, side == Side::After ? own : incoming,
                                  side == Side::After ? incoming : own);
  }
}

template <typename Element, typename Op> ReduceFunction pick(uint64_t elementBytes, Side side) {
  if (elementBytes != Element::kBytes)
    return nullptr;
  return side == Side::After ? reduce<Element, Op, Side::After> : reduce<Element, Op, Side::Before>;
}

template <typename T> ReduceFunction pickReal(Operator op, uint64_t elementBytes, Side side) {
  if (op == Operator::Max)
    return pick<Real<T>, MaxOf>(elementBytes, side);
  if (op == Operator::Min)
    return pick<Real<T>, MinOf>(elementBytes, side);
  if (op == Operator::Sum)
    return pick<Real<T>, SumOf>(elementBytes, side);
  return op == Operator::Prod ? pick<Real<T>, ProdOf>(elementBytes, side) : nullptr;
}

template <typename T> ReduceFunction pickComplex(Operator op, uint64_t elementBytes, Side side) {
  if (op == Operator::Sum)
    return pick<Complex<T>, SumOf>(elementBytes, side);
  return op == Operator::Prod ? pick<Complex<T>, ProdOf>(elementBytes, side) : nullptr;
}

template <typename Value, typename Index>
ReduceFunction pickPair(Operator op, uint64_t elementBytes, Side side) {
  if (op == Operator::Minloc)
    return pick<Pair<Value, Index>, MinlocOf>(elementBytes, side);
  return op == Operator::Maxloc ? pick<Pair<Value, Index>, MaxlocOf>(elementBytes, side) : nullptr;
}

bool isLogical(Operator op) {
  return op == Operator::Land || op == Operator::Lor || op == Operator::Lxor;
}
bool isBitwise(Operator op) {
  return op == Operator::Band || op == Operator::Bor || op == Operator::Bxor;
}

/// True if MPI has this operator for the group, provided that colldsl has it for the type.
bool isOfMpi(Operator op, Group group) {
  if (group == Group::Logical)
    return isLogical(op);
  if (group == Group::Byte)
    return isBitwise(op);
  return group == Group::CInteger || group == Group::CUnsigned || !isLogical(op);
}

/// The type of colldsl whose elements an operator takes as they are; none: it has none of that
/// size.
std::optional<ElementType> typeOf(const Meaning &meaning, uint64_t elementBytes) {
  if (meaning.type)
    return meaning.type;
  switch (meaning.group) {
  case Group::CInteger:
  case Group::FortranInteger:
  case Group::Address:
    return findType(Arithmetic::Signed, elementBytes);
  case Group::CUnsigned:
  case Group::Logical:
  case Group::Byte:
    return findType(Arithmetic::Unsigned, elementBytes);
  case Group::Float:
    return findType(Arithmetic::Real, elementBytes);
  case Group::Complex:
    return findType(Arithmetic::Complex, elementBytes);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<TypedReduction> findTyped(Operator op, const Meaning &meaning,
                                        uint64_t elementBytes) {
  std::optional<ElementType> type = typeOf(meaning, elementBytes);
  if (!type || !isOfMpi(op, meaning.group) || op == Operator::Minloc || op == Operator::Maxloc)
    return std::nullopt;
  auto reduction = static_cast<colldsl::Reduction>(op);
  return isDefined(reduction, *type) ? std::optional(TypedReduction{reduction, *type})
                                     : std::nullopt;
}

ReduceFunction findKernel(Operator op, const Meaning &meaning, uint64_t elementBytes, Side side) {
  if (!isOfMpi(op, meaning.group))
    return nullptr;
  if (typeOf(meaning, elementBytes)) {
    std::optional<TypedReduction> typed = findTyped(op, meaning, elementBytes);
    return typed ? *findReduction(typed->reduction, typed->type, side) : nullptr;
  }
  switch (meaning.group) {
  case Group::Float:
    return pickReal<long double>(op, elementBytes, side);
  case Group::Complex:
    return pickComplex<long double>(op, elementBytes, side);
  case Group::Quad:
    return pickReal<Quad>(op, elementBytes, side);
  case Group::QuadComplex:
    return pickComplex<Quad>(op, elementBytes, side);
  case Group::PairOfInt:
    return pickPair<int, int>(op, elementBytes, side);
  case Group::PairOfLong:
    return pickPair<long, int>(op, elementBytes, side);
  case Group::PairOfShort:
    return pickPair<short, int>(op, elementBytes, side);
  case Group::PairOfFloat:
    return pickPair<float, int>(op, elementBytes, side);
  case Group::PairOfDouble:
    return pickPair<double, int>(op, elementBytes, side);
  case Group::PairOfLongDouble:
    return pickPair<long double, int>(op, elementBytes, side);
  case Group::TwoFloats:
    return pickPair<float, float>(op, elementBytes, side);
  case Group::TwoDoubles:
    return pickPair<double, double>(op, elementBytes, side);
  default:
    return nullptr;
  }
}

} // namespace colldsl::mpi
