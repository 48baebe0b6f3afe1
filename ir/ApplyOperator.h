/// The results of operators on two elements, for the functions of the host (executor/Reduce.cpp)
/// and the kernels of devices (device/Kernels.cu), which both include it: their results are alike,
/// bit by bit. It includes nothing that a compiler for devices lacks.
#pragma once

#include "ir/Vocabulary.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace colldsl {

/// Integers of any width are added and multiplied as unsigned ones of 32 bits at least, so that
/// they wrap.
template <typename T> [[gnu::always_inline]] inline auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(x);
  else
    return x;
}

/// Entry (row, column) of the product of two matrices of 2x2 bytes, modulo 256.
[[gnu::always_inline]] inline uint32_t matMulEntry(uint32_t a, uint32_t b, int row, int column) {
  uint32_t first = (a >> 16 * row & 255) * (b >> 8 * column & 255);
  uint32_t second = (a >> (16 * row + 8) & 255) * (b >> (16 + 8 * column) & 255);
  return (first + second) & 255;
}

[[gnu::always_inline]] inline uint32_t matMul(uint32_t a, uint32_t b) {
  return matMulEntry(a, b, 0, 0) | matMulEntry(a, b, 0, 1) << 8 | matMulEntry(a, b, 1, 0) << 16 |
         matMulEntry(a, b, 1, 1) << 24;
}

/// Elements of real types, or parts of complex ones, that have the operator (ir/Operators.h).
template <Reduction reduction, typename T> [[gnu::always_inline]] inline T applyOperator(T a, T b) {
  if constexpr (reduction == Reduction::Sum)
    return static_cast<T>(wrapping(a) + wrapping(b));
  else if constexpr (reduction == Reduction::Prod)
    return static_cast<T>(wrapping(a) * wrapping(b));
  else if constexpr (reduction == Reduction::Min)
    return b < a ? b : a;
  else if constexpr (reduction == Reduction::Max)
    return a < b ? b : a;
  else if constexpr (reduction == Reduction::Land)
    return static_cast<T>((a != 0) & (b != 0));
  else if constexpr (reduction == Reduction::Lor)
    return static_cast<T>((a != 0) | (b != 0));
  else if constexpr (reduction == Reduction::Lxor)
    return static_cast<T>((a != 0) ^ (b != 0));
  else if constexpr (reduction == Reduction::Band)
    return static_cast<T>(a & b);
  else if constexpr (reduction == Reduction::Bor)
    return static_cast<T>(a | b);
  else if constexpr (reduction == Reduction::Bxor)
    return static_cast<T>(a ^ b);
  else {
    static_assert(reduction == Reduction::MatMul);
    return std::bit_cast<T>(matMul(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b)));
  }
}

/// The product of complex numbers with parts `re` and `im`.
template <typename Complex> [[gnu::always_inline]] inline Complex multiply(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

} // namespace colldsl
