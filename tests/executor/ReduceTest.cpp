#include "executor/Reduce.h"
#include "ir/Operators.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace colldsl::test {
namespace {

template <typename T> T matMul(T a, T b) {
  std::array<uint8_t, 4> m, n, product{};
  std::memcpy(m.data(), &a, 4);
  std::memcpy(n.data(), &b, 4);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      for (int k = 0; k < 2; ++k)
        product[2 * row + column] += m[2 * row + k] * n[2 * k + column];
  std::memcpy(&a, product.data(), 4);
  return a;
}

template <typename T> T arithmetic(Reduction reduction, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return reduction == Reduction::Sum ? a + b : a * b;
  else
    return static_cast<T>(reduction == Reduction::Sum ? uint64_t(a) + uint64_t(b)
                                                      : uint64_t(a) * uint64_t(b));
}

template <typename T> T bitwise(Reduction reduction, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a;
  else
    return static_cast<T>(reduction == Reduction::Band  ? a & b
                          : reduction == Reduction::Bor ? a | b
                                                        : a ^ b);
}

// What the reduction should give, spelled out once more.
template <typename T> T expected(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Prod:
    return arithmetic(reduction, a, b);
  case Reduction::Min:
    return std::min(a, b);
  case Reduction::Max:
    return std::max(a, b);
  case Reduction::Land:
    return a != 0 && b != 0;
  case Reduction::Lor:
    return a != 0 || b != 0;
  case Reduction::Lxor:
    return (a != 0) != (b != 0);
  case Reduction::Band:
  case Reduction::Bor:
  case Reduction::Bxor:
    return bitwise(reduction, a, b);
  case Reduction::MatMul:
    if constexpr (sizeof(T) == 4)
      return matMul(a, b);
  }
  return a;
}

template <typename T> T randomValue(std::mt19937_64 &random) {
  if (random() % 8 == 0)
    return 0;
  if (random() % 8 == 0)
    return random() % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(static_cast<double>(random() % 20001) / 16 - 600);
  else
    return static_cast<T>(random());
}

template <typename T> void checkOne(Reduction reduction, ElementType type, Side side) {
  SCOPED_TRACE(std::string(spelling(reduction)) + " on " + std::string(spelling(type)) + " " +
               std::string(spelling(side)));
  Result<ReduceFunction> function = findReduction(reduction, type, side);
  ASSERT_EQ(function.ok(), isDefined(reduction, type));
  if (!function)
    return;
  std::mt19937_64 random(11);
  for (size_t n : {0, 1, 3, 8, 100, 1000}) {
    // One byte in, so that nothing is aligned.
    std::vector<std::byte> target(n * sizeof(T) + 1), source(n * sizeof(T) + 1);
    std::vector<T> result(n);
    for (size_t i = 0; i < n; ++i) {
      T own = randomValue<T>(random), incoming = randomValue<T>(random);
      std::memcpy(&target[1 + i * sizeof(T)], &own, sizeof(T));
      std::memcpy(&source[1 + i * sizeof(T)], &incoming, sizeof(T));
      result[i] = side == Side::After ? expected(reduction, own, incoming)
                                      : expected(reduction, incoming, own);
    }
    std::vector<std::byte> elsewhere(target.size());
    (*function)(elsewhere.data() + 1, target.data() + 1, source.data() + 1, n * sizeof(T));
    (*function)(target.data() + 1, target.data() + 1, source.data() + 1, n * sizeof(T));
    EXPECT_TRUE(std::equal(target.begin() + 1, target.end(),
                           reinterpret_cast<const std::byte *>(result.data())))
        << n;
    EXPECT_EQ(elsewhere, target) << n;
    EXPECT_EQ(target[0], std::byte{0});
  }
}

TEST(Reduce, agreesWithTheNaiveLoop) {
  for (unsigned r = 0; r < kReductions; ++r)
    for (Side side : {Side::After, Side::Before}) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  if constexpr (std::is_arithmetic_v<CppType>)                                                     \
    checkOne<CppType>(static_cast<Reduction>(r), ElementType::Name, side);
#include "ir/Vocabulary.def"
    }
}

template <typename Part> void checkComplex(Reduction reduction, ElementType type, Side side) {
  using Number = std::complex<Part>;
  Result<ReduceFunction> function = findReduction(reduction, type, side);
  ASSERT_TRUE(function.ok());
  std::mt19937_64 random(5);
  auto part = [&] { return static_cast<Part>(static_cast<double>(random() % 20001) / 16 - 600); };
  for (size_t n : {0, 1, 3, 8, 100, 1000}) {
    std::vector<std::byte> target(n * sizeof(Number) + 1), source(target.size());
    std::vector<Number> result(n);
    for (size_t i = 0; i < n; ++i) {
      Number own(part(), part()), incoming(part(), part());
      std::memcpy(&target[1 + i * sizeof(Number)], &own, sizeof(Number));
      std::memcpy(&source[1 + i * sizeof(Number)], &incoming, sizeof(Number));
      Number left = side == Side::After ? own : incoming;
      Number right = side == Side::After ? incoming : own;
      result[i] = reduction == Reduction::Sum ? left + right : left * right;
    }
    (*function)(target.data() + 1, target.data() + 1, source.data() + 1, n * sizeof(Number));
    EXPECT_EQ(std::memcmp(target.data() + 1, result.data(), n * sizeof(Number)), 0)
        << spelling(reduction) << " of " << n << " " << spelling(type);
  }
}

TEST(Reduce, complexNumbersAreThoseOfCpp) {
  for (Reduction reduction : {Reduction::Sum, Reduction::Prod})
    for (Side side : {Side::After, Side::Before}) {
      checkComplex<float>(reduction, ElementType::C64, side);
      checkComplex<double>(reduction, ElementType::C128, side);
    }
  EXPECT_EQ(findReduction(Reduction::Max, ElementType::C64, Side::After).status().message(),
            "there is no max of c64; max is for integers and real numbers");
}

TEST(Reduce, sameRangeOnBothSides) {
  std::vector<uint32_t> values = {1, 2, 3, 4, 5, 6, 7};
  auto *bytes = reinterpret_cast<std::byte *>(values.data());
  auto sum = findReduction(Reduction::Sum, ElementType::U32, Side::After);
  ASSERT_TRUE(sum.ok());
  (*sum)(bytes, bytes, bytes, values.size() * 4);
  EXPECT_EQ(values, (std::vector<uint32_t>{2, 4, 6, 8, 10, 12, 14}));
}

TEST(Reduce, refusesUndefinedPairs) {
  auto bitwise = findReduction(Reduction::Bxor, ElementType::F64, Side::After);
  ASSERT_FALSE(bitwise.ok());
  EXPECT_EQ(bitwise.message(), "there is no bxor of f64; bxor is for integers");
}

} // namespace
} // namespace colldsl::test
