#include "tools/run/Pattern.h"

#include "ir/SmallFloat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace colldsl::tools {
namespace {

/// source: the finalizer of SplitMix64, S. Vigna, https://prng.di.unimi.it/splitmix64.c
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Digits of a whole number that is exact, and of the exponent of the greatest number.
template <typename Real> struct Limits {
  static constexpr int kDigits = std::numeric_limits<Real>::digits;
  static constexpr uint64_t kExponent = std::numeric_limits<Real>::max_exponent - 1;
};
template <typename B, int M, bool I> struct Limits<SmallFloat<B, M, I>> {
  static constexpr int kDigits = M + 1;
  static constexpr uint64_t kExponent = SmallFloat<B, M, I>::kBias;
};

template <typename T> constexpr bool isComplex = false;
template <typename Part> constexpr bool isComplex<std::complex<Part>> = true;

} // namespace

Pattern::Pattern(const Schedule &schedule) {
  for (const Dag &dag : schedule.ranks)
    for (const Ensure &ensure : dag.contract.ensures) {
      if (!ensure.isReduction)
        continue;
      operands_ = std::max<uint64_t>(operands_, ensure.operandCount);
      switch (ensure.reduction) {
      case Reduction::Sum:
      case Reduction::Min:
      case Reduction::Max:
      case Reduction::Band:
      case Reduction::Bor:
      case Reduction::Bxor:
        break;
      case Reduction::Prod:
        values_ = Values::Factors;
        break;
      case Reduction::Land:
      case Reduction::Lor:
      case Reduction::Lxor:
        values_ = Values::Truths;
        break;
      case Reduction::MatMul:
        values_ = Values::Bits;
        break;
      }
    }
}

template <typename Real> Real Pattern::real(uint64_t random, uint64_t number) const {
  constexpr uint64_t kExact = uint64_t{1} << Limits<Real>::kDigits;
  auto of = [](int x) { return static_cast<Real>(static_cast<float>(x)); };
  if (values_ == Values::Factors) {
    bool mayDouble = operands_ <= Limits<Real>::kExponent;
    return of(mayDouble && random % 16 == 0 ? 2 : random % 2 == 0 ? 1 : -1);
  }
  // The sum of all operands has few enough digits; of numbers with few, most are 0.
  uint64_t most = std::min<uint64_t>(8, kExact / operands_);
  uint64_t every = most > 0 ? 1 : (operands_ + kExact - 1) / kExact;
  most = std::max<uint64_t>(1, most);
  if (number % every != 0)
    return of(0);
  return of(static_cast<int>(random % (2 * most + 1)) - static_cast<int>(most));
}

// Powers of 2 + i are whole, and none has a part that is 0, whose sign would depend on the order.
template <typename Part> std::complex<Part> Pattern::factor(uint64_t random) const {
  if (random % 16 != 0 || operands_ > Limits<Part>::kExponent)
    return {1, 0};
  return {2, operands_ <= Limits<Part>::kDigits * 3 / 4 ? Part{1} : Part{0}};
}

template <typename T> T Pattern::value(uint64_t random, uint64_t number) const {
  if (values_ == Values::Truths) {
    auto truth = static_cast<int8_t>(random % 8 == 0 ? 0 : 1 + random % 2);
    if constexpr (isSmallFloat<T>)
      return T(static_cast<float>(truth));
    else
      return static_cast<T>(truth);
  }
  if (std::is_integral_v<T> || values_ == Values::Bits) {
    std::array<std::byte, sizeof(T)> bits;
    for (size_t i = 0; i < sizeof(T); ++i)
      bits[i] = static_cast<std::byte>(random >> 8 * (i % 8));
    return std::bit_cast<T>(bits);
  }
  if constexpr (isComplex<T>) {
    using Part = typename T::value_type;
    if (values_ == Values::Factors)
      return factor<Part>(random);
    return T(real<Part>(random, number), real<Part>(random >> 32, number));
  } else if constexpr (!std::is_integral_v<T>) {
    return real<T>(random, number);
  }
  return T();
}

template <typename T> void Pattern::fillAs(std::span<std::byte> bytes, const Place &place) const {
  uint64_t seed = mix(mix(uint64_t{index(place.rank)} << 32 | index(place.buffer)) + place.call);
  uint64_t element = place.element;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T), ++element) {
    T x = value<T>(mix(seed + element), index(place.rank) + element);
    std::memcpy(&bytes[i], &x, sizeof(T));
  }
}

void Pattern::fill(std::span<std::byte> bytes, ElementType type, const Place &place) const {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    return fillAs<CppType>(bytes, place);
#include "ir/Vocabulary.def"
  }
}

} // namespace colldsl::tools
