#include "executor/BlockConversions.h"

#include "ir/SmallFloat.h"

#include <complex>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace colldsl {
namespace {

template <typename T>
[[gnu::always_inline]] inline void widen(float *__restrict to, const std::byte *from,
                                         uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(x);
  }
}

template <typename T>
[[gnu::always_inline]] inline void narrow(std::byte *__restrict to, const float *from,
                                          uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T x(from[i]);
    std::memcpy(to + i * sizeof(T), &x, sizeof(T));
  }
}

template <typename T> void widenPlain(float *to, const std::byte *from, uint64_t count) {
  widen<T>(to, from, count);
}
template <typename T> void narrowPlain(std::byte *to, const float *from, uint64_t count) {
  narrow<T>(to, from, count);
}

template <typename T> BlockConversions pickPlain() { return {widenPlain<T>, narrowPlain<T>}; }

#ifdef __x86_64__
template <typename T>
[[gnu::target("avx2")]] void widenWide(float *to, const std::byte *from, uint64_t count) {
  widen<T>(to, from, count);
}
template <typename T>
[[gnu::target("avx2")]] void narrowWide(std::byte *to, const float *from, uint64_t count) {
  narrow<T>(to, from, count);
}

[[gnu::target("avx2,f16c")]] void widenF16c(float *to, const std::byte *from, uint64_t count) {
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i_u *>(from + 2 * i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  widen<Float16>(to + i, from + 2 * i, count - i);
}
[[gnu::target("avx2,f16c")]] void narrowF16c(std::byte *to, const float *from, uint64_t count) {
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i_u *>(to + 2 * i), halves);
  }
  narrow<Float16>(to + 2 * i, from + i, count - i);
}

template <typename T> BlockConversions pick() {
  if (!__builtin_cpu_supports("avx2"))
    return pickPlain<T>();
  if (std::is_same_v<T, Float16> && __builtin_cpu_supports("f16c"))
    return {widenF16c, narrowF16c};
  return {widenWide<T>, narrowWide<T>};
}
#else
template <typename T> BlockConversions pick() { return pickPlain<T>(); }
#endif

} // namespace

BlockConversions findConversions(ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    if constexpr (isSmallFloat<CppType>)                                                           \
      return pick<CppType>();                                                                      \
    break;
#include "ir/Vocabulary.def"
  }
  return {};
}

} // namespace colldsl
