#include "tools/run/NaiveReduce.h"

#include "ir/Operators.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <type_traits>

namespace colldsl::tools {
namespace {

/// Arithmetic modulo 2^64 in two's complement, which is right for all narrower integers, too.
template <typename T> auto widened(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return static_cast<uint64_t>(x);
}

template <typename T> T sum(T a, T b) { return static_cast<T>(widened(a) + widened(b)); }
template <typename T> T product(T a, T b) { return static_cast<T>(widened(a) * widened(b)); }
template <typename T> T least(T a, T b) { return std::min(a, b); }
template <typename T> T greatest(T a, T b) { return std::max(a, b); }
template <typename T> T both(T a, T b) { return T(a != 0 && b != 0); }
template <typename T> T either(T a, T b) { return T(a != 0 || b != 0); }
template <typename T> T one(T a, T b) { return T((a != 0) != (b != 0)); }
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
template <typename T> Operator<T> find(Reduction reduction) {
  constexpr bool isInteger = isDefinedFor<T>(OperandTypes::Integers);
  switch (reduction) {
  case Reduction::Sum:
    return sum<T>;
  case Reduction::Prod:
    return product<T>;
  case Reduction::Min:
    return least<T>;
  case Reduction::Max:
    return greatest<T>;
  case Reduction::Land:
    return both<T>;
  case Reduction::Lor:
    return either<T>;
  case Reduction::Lxor:
    return one<T>;
  case Reduction::Band:
    if constexpr (isInteger)
      return bitAnd<T>;
    return nullptr;
  case Reduction::Bor:
    if constexpr (isInteger)
      return bitOr<T>;
    return nullptr;
  case Reduction::Bxor:
    if constexpr (isInteger)
      return bitXor<T>;
    return nullptr;
  case Reduction::MatMul:
    if constexpr (isDefinedFor<T>(OperandTypes::FourBytes))
      return matrixProduct<T>;
    return nullptr;
  }
  return nullptr;
}

template <typename T>
void reduceAs(std::span<std::byte> left, std::span<const std::byte> right, Reduction reduction) {
  Operator<T> apply = find<T>(reduction);
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
#define COLLDSL_TYPE(Name, spelling, CppType)                                                      \
  case ElementType::Name:                                                                          \
    return reduceAs<CppType>(left, right, reduction);
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
