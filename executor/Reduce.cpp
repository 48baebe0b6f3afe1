#include "executor/Reduce.h"

#include "executor/BlockConversions.h"
#include "ir/Operators.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace colldsl {
namespace {

// Integers of any width are added and multiplied as unsigned ones that are not promoted to int, so
// that they wrap.
template <typename T> auto wide(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::common_type_t<std::make_unsigned_t<T>, unsigned>>(x);
  else
    return x;
}

uint32_t matMul(uint32_t a, uint32_t b) {
  auto entry = [](uint32_t m, int i) { return m >> 8 * i & 255; };
  auto dot = [&](int row, int column) {
    return (entry(a, 2 * row) * entry(b, column) + entry(a, 2 * row + 1) * entry(b, 2 + column)) &
           255;
  };
  return dot(0, 0) | dot(0, 1) << 8 | dot(1, 0) << 16 | dot(1, 1) << 24;
}

template <typename T> T matMulOf(T a, T b) {
  return std::bit_cast<T>(matMul(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b)));
}

#define OPERATOR(Name, expression)                                                                 \
  struct Name##Of {                                                                                \
    template <typename T> static T apply(T a, T b) { return static_cast<T>(expression); }          \
  };
OPERATOR(Sum, wide(a) + wide(b))
OPERATOR(Prod, wide(a) * wide(b))
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
template <typename T> constexpr bool isComplex = false;
template <typename Part> constexpr bool isComplex<std::complex<Part>> = true;

template <typename Op, typename T, Side side>
[[gnu::always_inline]] inline void reduceEach(std::byte *target, const std::byte *first,
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

// Products of complex numbers, part by part, which is vectorised.
template <typename Part, Side side>
[[gnu::always_inline]] inline void multiplyComplex(std::byte *target, const std::byte *first,
                                                   const std::byte *source, uint64_t bytes) {
  struct Parts {
    Part re, im;
  };
  const std::byte *left = side == Side::After ? first : source;
  const std::byte *right = side == Side::After ? source : first;
#pragma GCC ivdep
  for (uint64_t i = 0; i < bytes; i += sizeof(Parts)) {
    Parts a, b;
    std::memcpy(&a.re, left + i, sizeof(Part));
    std::memcpy(&a.im, left + i + sizeof(Part), sizeof(Part));
    std::memcpy(&b.re, right + i, sizeof(Part));
    std::memcpy(&b.im, right + i + sizeof(Part), sizeof(Part));
    Part re = a.re * b.re - a.im * b.im, im = a.re * b.im + a.im * b.re;
    std::memcpy(target + i, &re, sizeof(Part));
    std::memcpy(target + i + sizeof(Part), &im, sizeof(Part));
  }
}

template <typename Op, typename T, Side side>
[[gnu::noinline]] void reducePlain(std::byte *target, const std::byte *first,
                                   const std::byte *source, uint64_t bytes) {
  if constexpr (isComplex<T>)
    multiplyComplex<typename T::value_type, side>(target, first, source, bytes);
  else
    reduceEach<Op, T, side>(target, first, source, bytes);
}

// Variant of reducePlain() for machines with more than the baseline of their kind. Without FMA: a
// result must not depend on the machine.
#ifdef __x86_64__
template <typename Op, typename T, Side side>
[[gnu::target("avx2"), gnu::noinline]] void reduceWide(std::byte *target, const std::byte *first,
                                                       const std::byte *source, uint64_t bytes) {
  if constexpr (isComplex<T>)
    multiplyComplex<typename T::value_type, side>(target, first, source, bytes);
  else
    reduceEach<Op, T, side>(target, first, source, bytes);
}

bool hasWide() { return __builtin_cpu_supports("avx2"); }
#else
template <typename Op, typename T, Side side> constexpr ReduceFunction reduceWide = nullptr;
bool hasWide() { return false; }
#endif

template <typename Op, typename T, Side side> ReduceFunction pickWidth() {
  return hasWide() ? reduceWide<Op, T, side> : reducePlain<Op, T, side>;
}

// Small numbers are combined in blocks of f32, which lie in the first cache.
template <typename Op, ElementType type, Side side>
void reduceSmall(std::byte *target, const std::byte *first, const std::byte *source,
                 uint64_t bytes) {
  static const BlockConversions conversions = findConversions(type);
  static const ReduceFunction reduce = pickWidth<Op, float, side>();
  alignas(64) float own[kBlockElements], incoming[kBlockElements];
  auto *to = reinterpret_cast<std::byte *>(own);
  const auto *from = reinterpret_cast<const std::byte *>(incoming);
  const uint64_t elementBytes = sizeBytes(type);
  for (uint64_t at = 0, count = 0; at < bytes; at += count * elementBytes) {
    count = std::min((bytes - at) / elementBytes, kBlockElements);
    conversions.widen(own, first + at, count);
    conversions.widen(incoming, source + at, count);
    reduce(to, to, from, count * sizeof(float));
    conversions.narrow(target + at, own, count);
  }
}

// For floats the side may show: in the bits of a NaN, or in the sign of a zero.
template <typename Op, ElementType type, typename T, bool commutative>
ReduceFunction pick(Side side) {
  if constexpr (isSmallFloat<T>)
    return side == Side::After ? reduceSmall<Op, type, Side::After>
                               : reduceSmall<Op, type, Side::Before>;
  else if constexpr (isComplex<T> && std::is_same_v<Op, SumOf>)
    return pick<Op, type, typename T::value_type, commutative>(side); // of each part by itself
  else if constexpr (commutative && std::is_integral_v<T>)
    return pickWidth<Op, T, Side::After>();
  else
    return side == Side::After ? pickWidth<Op, T, Side::After>() : pickWidth<Op, T, Side::Before>();
}

template <ElementType type, typename T> ReduceFunction pick(Reduction reduction, Side side) {
  switch (reduction) {
#define COLLDSL_REDUCTION(Name, spelling, commutative, ...)                                        \
  case Reduction::Name:                                                                            \
    if constexpr (isDefined(Reduction::Name, type))                                                \
      return pick<Name##Of, type, T, commutative>(side);                                           \
    break;
#include "ir/Vocabulary.def"
  }
  return nullptr;
}

ReduceFunction pick(Reduction reduction, ElementType type, Side side) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    return pick<ElementType::Name, CppType>(reduction, side);
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
