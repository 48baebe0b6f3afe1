#include "executor/Reduce.h"

#include "ir/Operators.h"

#include <cstring>
#include <type_traits>

namespace colldsl {
namespace {

// Integers of any width are added and multiplied as unsigned ones that are not promoted to int, so
// that they wrap.
template <typename T> struct WideOf {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <> struct WideOf<float> { using type = float; };
template <> struct WideOf<double> { using type = double; };
template <typename T> using Wide = typename WideOf<T>::type;

uint32_t matMul(uint32_t a, uint32_t b) {
  auto entry = [](uint32_t m, int i) { return m >> 8 * i & 255; };
  auto dot = [&](int row, int column) {
    return (entry(a, 2 * row) * entry(b, column) + entry(a, 2 * row + 1) * entry(b, 2 + column)) &
           255;
  };
  return dot(0, 0) | dot(0, 1) << 8 | dot(1, 0) << 16 | dot(1, 1) << 24;
}

template <typename T> T matMulOf(T a, T b) {
  uint32_t x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  uint32_t product = matMul(x, y);
  std::memcpy(&a, &product, sizeof a);
  return a;
}

#define OPERATOR(Name, expression)                                                                 \
  struct Name##Of {                                                                                \
    template <typename T>                                                                          \
    static constexpr bool defined = isDefinedFor<T>(operandTypes(Reduction::Name));                \
    template <typename T> static T apply(T a, T b) { return static_cast<T>(expression); }          \
  };
OPERATOR(Sum, Wide<T>(a) + Wide<T>(b))
OPERATOR(Prod, Wide<T>(a) * Wide<T>(b))
OPERATOR(Min, b < a ? b : a)
OPERATOR(Max, a < b ? b : a)
OPERATOR(Land, (a != 0) & (b != 0))
OPERATOR(Lor, (a != 0) | (b != 0))
OPERATOR(Lxor, (a != 0) ^ (b != 0))
OPERATOR(Band, a &b)
OPERATOR(Bor, a | b)
OPERATOR(Bxor, a ^ b)
OPERATOR(MatMul, matMulOf(a, b))
#undef OPERATOR

// memcpy makes any alignment right, and compilers turn it into plain loads and stores. No element
// of the target is another one's source (ivdep), so that the loop is vectorised without a second
// form for ranges that overlap.
template <typename Op, typename T, Side side>
[[gnu::always_inline]] inline void reduce(std::byte *target, const std::byte *first,
                                          const std::byte *source, uint64_t bytes) {
#pragma GCC ivdep
  for (uint64_t i = 0; i < bytes; i += sizeof(T)) {
    T own, incoming;
    std::memcpy(&own, first + i, sizeof(T));
    std::memcpy(&incoming, source + i, sizeof(T));
    T result = side == Side::After ? Op::template apply<T>(own, incoming)
                                   : Op::template apply<T>(incoming, own);
    std::memcpy(target + i, &result, sizeof(T));
  }
}

template <typename Op, typename T, Side side>
void reducePlain(std::byte *target, const std::byte *first, const std::byte *source,
                 uint64_t bytes) {
  reduce<Op, T, side>(target, first, source, bytes);
}

// Variant of reducePlain() for machines with more than the baseline of their kind. Without FMA: a
// result must not depend on the machine.
#ifdef __x86_64__
template <typename Op, typename T, Side side>
[[gnu::target("avx2")]] void reduceWide(std::byte *target, const std::byte *first,
                                        const std::byte *source, uint64_t bytes) {
  reduce<Op, T, side>(target, first, source, bytes);
}
bool hasWide() { return __builtin_cpu_supports("avx2"); }
#else
template <typename Op, typename T, Side side> constexpr ReduceFunction reduceWide = nullptr;
bool hasWide() { return false; }
#endif

template <typename Op, typename T, Side side> ReduceFunction pickWidth() {
  return hasWide() ? reduceWide<Op, T, side> : reducePlain<Op, T, side>;
}

// For floats the side may show: in the bits of a NaN, or in the sign of a zero.
template <typename Op, typename T, bool commutative> ReduceFunction pick(Side side) {
  if constexpr (!Op::template defined<T>)
    return nullptr;
  else if constexpr (commutative && std::is_integral_v<T>)
    return pickWidth<Op, T, Side::After>();
  else
    return side == Side::After ? pickWidth<Op, T, Side::After>() : pickWidth<Op, T, Side::Before>();
}

template <typename T> ReduceFunction pick(Reduction reduction, Side side) {
  switch (reduction) {
#define COLLDSL_REDUCTION(Name, spelling, commutative)                                             \
  case Reduction::Name:                                                                            \
    return pick<Name##Of, T, commutative>(side);
#include "ir/Vocabulary.def"
  }
  return nullptr;
}

ReduceFunction pick(Reduction reduction, ElementType type, Side side) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType)                                                      \
  case ElementType::Name:                                                                          \
    return pick<CppType>(reduction, side);
#include "ir/Vocabulary.def"
  }
  return nullptr;
}

} // namespace

Result<ReduceFunction> findReduction(Reduction reduction, ElementType type, Side side) {
  if (Status s = checkDefined(reduction, type); !s)
    return s;
  return pick(reduction, type, side);
}

} // namespace colldsl
