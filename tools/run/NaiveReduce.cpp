#include "tools/run/NaiveReduce.h"

#include "ir/Operators.h"

#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace colldsl::tools {
namespace {

/// The value of a small number by the definition of its format; NaN where it has none.
template <typename T> double decoded(T x) {
  unsigned exponents = (1u << T::kExponent) - 1, mantissas = (1u << T::kMantissa) - 1;
  unsigned exponent = x.bits >> T::kMantissa & exponents, mantissa = x.bits & mantissas;
  double sign = x.bits >> (T::kExponent + T::kMantissa) != 0 ? -1 : 1;
  if (exponent == exponents && T::kHasInfinities)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == exponents && mantissa == mantissas)
    return std::nan("");
  return exponent == 0
             ? sign * std::ldexp(mantissa, 1 - T::kBias - T::kMantissa)
             : sign * std::ldexp(mantissas + 1 + mantissa, int(exponent) - T::kBias - T::kMantissa);
}

/// The nearest small number, found by halving intervals; of two the even one.
template <typename T> T encoded(double value) {
  auto of = [](unsigned bits) {
    T x;
    x.bits = static_cast<typename T::Bits>(bits);
    return x;
  };
  unsigned sign = std::signbit(value) ? 1u << (T::kExponent + T::kMantissa) : 0;
  unsigned infinite = ((1u << T::kExponent) - 1) << T::kMantissa;
  unsigned beyond = T::kHasInfinities ? infinite : infinite | ((1u << T::kMantissa) - 1);
  if (std::isnan(value))
    return of(sign | beyond | 1u << (T::kMantissa - 1));
  double magnitude = std::abs(value);
  // The value beyond all finite ones, if the format went on.
  double end = 2 * decoded(of(beyond - 1)) - decoded(of(beyond - 2));
  auto valueAt = [&](unsigned bits) { return bits == beyond ? end : decoded(of(bits)); };
  unsigned below = 0, above = beyond;
  while (above - below > 1) {
    unsigned middle = (below + above) / 2;
    (valueAt(middle) <= magnitude ? below : above) = middle;
  }
  double down = magnitude - valueAt(below), up = valueAt(above) - magnitude;
  return of(sign | (down < up || (down == up && below % 2 == 0) ? below : above));
}

/// A number that can be compared.
template <typename T> auto ordered(T x) {
  if constexpr (isSmallFloat<T>)
    return decoded(x);
  else
    return x;
}

/// Numbers in which results are exact, or wrap: integers modulo 2^64 in two's complement, which is
/// right for all narrower ones, too; small numbers as f64.
template <typename T> auto widened(T x) {
  if constexpr (isSmallFloat<T>)
    return decoded(x);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(x);
  else
    return x;
}

template <typename T, typename Wide> T narrowed(Wide x) {
  if constexpr (isSmallFloat<T>)
    return encoded<T>(static_cast<double>(x));
  else
    return static_cast<T>(x);
}

/// Complex numbers as they are multiplied on paper, unlike those of C++, which look for infinities.
template <typename Part> std::complex<Part> times(std::complex<Part> a, std::complex<Part> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T> T times(T a, T b) { return a * b; }

template <typename T> T sum(T a, T b) { return narrowed<T>(widened(a) + widened(b)); }
template <typename T> T product(T a, T b) { return narrowed<T>(times(widened(a), widened(b))); }
template <typename T> T least(T a, T b) { return ordered(b) < ordered(a) ? b : a; }
template <typename T> T greatest(T a, T b) { return ordered(a) < ordered(b) ? b : a; }
template <typename T> bool isTrue(T x) { return ordered(x) != 0; }
template <typename T> T both(T a, T b) { return narrowed<T>(isTrue(a) && isTrue(b)); }
template <typename T> T either(T a, T b) { return narrowed<T>(isTrue(a) || isTrue(b)); }
template <typename T> T one(T a, T b) { return narrowed<T>(isTrue(a) != isTrue(b)); }
template <typename T> T bitAnd(T a, T b) { return T(a & b); }
template <typename T> T bitOr(T a, T b) { return T(a | b); }
template <typename T> T bitXor(T a, T b) { return T(a ^ b); }

/// Multiplies matrices of four bytes, stored row by row, modulo 256.
template <typename T> T matrixProduct(T a, T b) {
  std::array<uint8_t, 4> x, y, z;
  std::memcpy(x.data(), &a, 4);
  std::memcpy(y.data(), &b, 4);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column) {
      int entry = 0;
      for (int k = 0; k < 2; ++k)
        entry += x[2 * row + k] * y[2 * k + column];
      z[2 * row + column] = static_cast<uint8_t>(entry);
    }
  std::memcpy(&a, z.data(), 4);
  return a;
}

template <typename T> using Operator = T (*)(T, T);

/// The function of an operator; null: elements of this type do not have it.
template <ElementType type, typename T> Operator<T> find(Reduction reduction) {
#define COLLDSL_NAIVE(Name, function)                                                              \
  if constexpr (isDefined(Reduction::Name, type))                                                  \
    if (reduction == Reduction::Name)                                                              \
      return function<T>;
  COLLDSL_NAIVE(Sum, sum)
  COLLDSL_NAIVE(Prod, product)
  COLLDSL_NAIVE(Min, least)
  COLLDSL_NAIVE(Max, greatest)
  COLLDSL_NAIVE(Land, both)
  COLLDSL_NAIVE(Lor, either)
  COLLDSL_NAIVE(Lxor, one)
  COLLDSL_NAIVE(Band, bitAnd)
  COLLDSL_NAIVE(Bor, bitOr)
  COLLDSL_NAIVE(Bxor, bitXor)
  COLLDSL_NAIVE(MatMul, matrixProduct)
#undef COLLDSL_NAIVE
  return nullptr;
}

template <ElementType type, typename T>
void reduceAs(std::span<std::byte> left, std::span<const std::byte> right, Reduction reduction) {
  Operator<T> apply = find<type, T>(reduction);
  for (size_t i = 0; apply && i < left.size(); i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &left[i], sizeof(T));
    std::memcpy(&b, &right[i], sizeof(T));
    a = apply(a, b);
    std::memcpy(&left[i], &a, sizeof(T));
  }
}

void reduce(std::span<std::byte> left, std::span<const std::byte> right, Reduction reduction,
            ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    return reduceAs<ElementType::Name, CppType>(left, right, reduction);
#include "ir/Vocabulary.def"
  }
}

} // namespace

Status reduceInto(std::span<std::byte> left, std::span<const std::byte> right, Reduction reduction,
                  ElementType type) {
  assert(left.size() == right.size() && left.size() % sizeBytes(type) == 0);
  if (Status s = checkDefined(reduction, type); !s)
    return s;
  reduce(left, right, reduction, type);
  return {};
}

} // namespace colldsl::tools
