#include "executor/Reduce.h"

#include "executor/BlockConversions.h"
#include "ir/ApplyOperator.h"
#include "ir/Operators.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace colldsl {
namespace {

// memcpy makes any alignment right, and compilers turn it into plain loads and stores. No element
// of the target is another one's source (ivdep), so that the loop is vectorised without a second
// form for ranges that overlap.
template <typename T> constexpr bool isComplex = false;
template <typename Part> constexpr bool isComplex<std::complex<Part>> = true;

template <Reduction reduction, typename T, Side side>
[[gnu::always_inline]] inline void reduceEach(std::byte *target, const std::byte *first,
                                              const std::byte *source, uint64_t bytes) {
#pragma GCC ivdep
  for (uint64_t i = 0; i < bytes; i += sizeof(T)) {
    T own, incoming;
    std::memcpy(&own, first + i, sizeof(T));
    std::memcpy(&incoming, source + i, sizeof(T));
    T result = side == Side::After ? applyOperator<reduction>(own, incoming)
                                   : applyOperator<reduction>(incoming, own);
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
    auto [re, im] = multiply(a, b);
    std::memcpy(target + i, &re, sizeof(Part));
    std::memcpy(target + i + sizeof(Part), &im, sizeof(Part));
  }
}

template <Reduction reduction, typename T, Side side>
[[gnu::noinline]] void reducePlain(std::byte *target, const std::byte *first,
                                   const std::byte *source, uint64_t bytes) {
  if constexpr (isComplex<T>)
    multiplyComplex<typename T::value_type, side>(target, first, source, bytes);
  else
    reduceEach<reduction, T, side>(target, first, source, bytes);
}

// Variant of reducePlain() for machines with more than the baseline of their kind. Without FMA: a
// result must not depend on the machine.
#ifdef __x86_64__
template <Reduction reduction, typename T, Side side>
[[gnu::target("avx2"), gnu::noinline]] void reduceWide(std::byte *target, const std::byte *first,
                                                       const std::byte *source, uint64_t bytes) {
  if constexpr (isComplex<T>)
    multiplyComplex<typename T::value_type, side>(target, first, source, bytes);
  else
    reduceEach<reduction, T, side>(target, first, source, bytes);
}

bool hasWide() { return __builtin_cpu_supports("avx2"); }
#else
template <Reduction reduction, typename T, Side side> constexpr ReduceFunction reduceWide = nullptr;
bool hasWide() { return false; }
#endif

template <Reduction reduction, typename T, Side side> ReduceFunction pickWidth() {
  return hasWide() ? reduceWide<reduction, T, side> : reducePlain<reduction, T, side>;
}

// Small numbers are combined in blocks of f32, which lie in the first cache.
template <Reduction reduction, ElementType type, Side side>
void reduceSmall(std::byte *target, const std::byte *first, const std::byte *source,
                 uint64_t bytes) {
  static const BlockConversions conversions = findConversions(type);
  static const ReduceFunction reduce = pickWidth<reduction, float, side>();
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
template <Reduction reduction, ElementType type, typename T, bool commutative>
ReduceFunction pick(Side side) {
  if constexpr (isSmallFloat<T>)
    return side == Side::After ? reduceSmall<reduction, type, Side::After>
                               : reduceSmall<reduction, type, Side::Before>;
  else if constexpr (isComplex<T> && reduction == Reduction::Sum)
    // Each part is summed by itself.
    return pick<reduction, type, typename T::value_type, commutative>(side);
  else if constexpr (commutative && std::is_integral_v<T>)
    return pickWidth<reduction, T, Side::After>();
  else
    return side == Side::After ? pickWidth<reduction, T, Side::After>()
                               : pickWidth<reduction, T, Side::Before>();
}

template <ElementType type, typename T> ReduceFunction pick(Reduction reduction, Side side) {
  switch (reduction) {
#define COLLDSL_REDUCTION(Name, spelling, commutative, ...)                                        \
  case Reduction::Name:                                                                            \
    if constexpr (isDefined(Reduction::Name, type))                                                \
      return pick<Reduction::Name, type, T, commutative>(side);                                    \
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
