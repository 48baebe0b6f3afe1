#include "tools/run/NaiveReduce.h"

#include "executor/Reduce.h"
#include "ir/Operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace colldsl::tools {
namespace {

template <typename T>
std::vector<T> reduced(std::vector<T> a, std::vector<T> b, Reduction op, ElementType type) {
  EXPECT_TRUE(
      reduceInto(std::as_writable_bytes(std::span(a)), std::as_bytes(std::span(b)), op, type).ok());
  return a;
}

TEST(NaiveReduce, KnownValues) {
  using I8 = std::vector<int8_t>;
  EXPECT_EQ(reduced<int8_t>({100, -1}, {100, 1}, Reduction::Sum, ElementType::I8), I8({-56, 0}));
  EXPECT_EQ(reduced<int8_t>({-128, 3}, {-1, 5}, Reduction::Prod, ElementType::I8), I8({-128, 15}));
  EXPECT_EQ(reduced<int8_t>({-2, 3}, {1, 5}, Reduction::Min, ElementType::I8), I8({-2, 3}));
  EXPECT_EQ(reduced<int8_t>({-2, 0}, {4, 5}, Reduction::Land, ElementType::I8), I8({1, 0}));
  EXPECT_EQ(reduced<int8_t>({-2, 0}, {4, 5}, Reduction::Lxor, ElementType::I8), I8({0, 1}));
  EXPECT_EQ(reduced<double>({0.5}, {4}, Reduction::Max, ElementType::F64),
            std::vector<double>({4}));
  EXPECT_EQ(reduced<float>({2}, {-3}, Reduction::Prod, ElementType::F32), std::vector<float>({-6}));
}

// (1 2; 3 4) (5 6; 7 8) == (19 22; 43 50); in the other order (23 34; 31 46).
TEST(NaiveReduce, MatricesDoNotCommute) {
  using Matrix = std::array<uint8_t, 4>;
  auto product = [](Matrix a, Matrix b) {
    EXPECT_TRUE(reduceInto(std::as_writable_bytes(std::span(a)), std::as_bytes(std::span(b)),
                           Reduction::MatMul, ElementType::U32)
                    .ok());
    return a;
  };
  EXPECT_EQ(product({1, 2, 3, 4}, {5, 6, 7, 8}), Matrix({19, 22, 43, 50}));
  EXPECT_EQ(product({5, 6, 7, 8}, {1, 2, 3, 4}), Matrix({23, 34, 31, 46}));
}

TEST(NaiveReduce, RefusesUndefinedPairs) {
  std::vector<double> x{1}, y{2};
  Status status = reduceInto(std::as_writable_bytes(std::span(x)), std::as_bytes(std::span(y)),
                             Reduction::Band, ElementType::F64);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "there is no band of f64; band is for integers");
}

template <typename T> bool isNanOf(const std::byte *element) {
  if constexpr (isSmallFloat<T>) {
    T x;
    std::memcpy(&x, element, sizeof x);
    return std::isnan(static_cast<float>(x));
  }
  return false;
}

bool isNan(std::span<const std::byte> element, ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    return isNanOf<CppType>(element.data());
#include "ir/Vocabulary.def"
  }
  return false;
}

/// NaNs are equal: OFP8 and IEEE 754 leave their other bits to implementations.
testing::AssertionResult areEqual(std::span<const std::byte> a, std::span<const std::byte> b,
                                  ElementType type) {
  uint64_t bytes = sizeBytes(type);
  for (size_t at = 0; at < a.size(); at += bytes) {
    auto x = a.subspan(at, bytes), y = b.subspan(at, bytes);
    if (!std::equal(x.begin(), x.end(), y.begin()) && !(isNan(x, type) && isNan(y, type)))
      return testing::AssertionFailure() << "element " << at / bytes;
  }
  return testing::AssertionSuccess();
}

/// Two independent implementations, one answer, also about what there is.
void expectAgreement(Reduction reduction, ElementType type, const std::vector<std::byte> &left,
                     const std::vector<std::byte> &right) {
  SCOPED_TRACE(std::string(spelling(reduction)) + " of " + std::string(spelling(type)));
  std::vector<std::byte> mine = left;
  Status known = reduceInto(mine, right, reduction, type);
  for (Side side : {Side::After, Side::Before}) {
    Result<ReduceFunction> function = findReduction(reduction, type, side);
    ASSERT_EQ(known.ok(), function.ok());
    if (!function)
      return;
    std::vector<std::byte> its = side == Side::After ? left : right;
    const std::vector<std::byte> &other = side == Side::After ? right : left;
    (*function)(its.data(), its.data(), other.data(), its.size());
    EXPECT_TRUE(areEqual(its, mine, type));
  }
}

/// Any bits; of large floating-point numbers whole ones, so that none is a NaN.
std::vector<std::byte> operand(ElementType type, uint32_t seed) {
  bool isFloat = arithmetic(type) == Arithmetic::Real || arithmetic(type) == Arithmetic::Complex;
  uint64_t partBytes = sizeBytes(type) / (arithmetic(type) == Arithmetic::Complex ? 2 : 1);
  std::vector<std::byte> bytes(48 * partBytes);
  for (size_t i = 0; i < 48; ++i) {
    auto value = static_cast<int32_t>((i * 2654435761u + seed * 40503u) >> 7) % 1000 - 500;
    auto single = static_cast<float>(value);
    auto twice = static_cast<double>(value);
    uint64_t any = static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15u;
    const void *from = !isFloat                     ? static_cast<const void *>(&any)
                       : partBytes == sizeof single ? static_cast<const void *>(&single)
                                                    : &twice;
    std::memcpy(&bytes[i * partBytes], from, partBytes);
  }
  return bytes;
}

template <typename Body> void forEachPair(Body body) {
  for (unsigned t = 0; t < kElementTypes; ++t)
    for (unsigned r = 0; r < kReductions; ++r)
      body(static_cast<Reduction>(r), static_cast<ElementType>(t));
}

TEST(NaiveReduce, AgreesWithTheExecutor) {
  forEachPair([](Reduction reduction, ElementType type) {
    expectAgreement(reduction, type, operand(type, 1), operand(type, 2));
  });
}

/// All elements of a small type, one after the other, or again and again one that moves on.
std::vector<std::byte> all(ElementType type, bool isFirst) {
  uint32_t count = 1u << 8 * sizeBytes(type);
  std::vector<std::byte> bytes;
  for (uint32_t i = 0; i < 1u << 16; ++i) {
    uint32_t bits = sizeBytes(type) == 2 ? (isFirst ? i : i * 40503u + 12345u)
                                         : (isFirst ? i % count : i / count);
    for (uint64_t b = 0; b < sizeBytes(type); ++b)
      bytes.push_back(static_cast<std::byte>(bits >> 8 * b));
  }
  return bytes;
}

// All pairs of elements of 8 bits; of 16 bits each element with one other.
TEST(NaiveReduce, AgreesWithTheExecutorOnAllSmallElements) {
  forEachPair([](Reduction reduction, ElementType type) {
    if (sizeBytes(type) <= 2)
      expectAgreement(reduction, type, all(type, true), all(type, false));
  });
}

/// The neutral operand of the table, in the type.
template <typename T> T neutral(std::string_view words) {
  if (words == "all bits")
    return static_cast<T>(-1);
  bool isGreatest = words == "the greatest value", isLeast = words == "the least value";
  if constexpr (std::is_integral_v<T>) {
    if (isGreatest || isLeast)
      return isGreatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
    return static_cast<T>(words == "1");
  } else {
    float most = T::kHasInfinities ? std::numeric_limits<float>::infinity() : 448;
    return T(isGreatest ? most : isLeast ? -most : words == "1" ? 1.0f : 0.0f);
  }
}

template <typename T>
void expectNeutral(Reduction reduction, ElementType type, std::string_view words) {
  if (!isDefined(reduction, type))
    return;
  std::vector<std::byte> elements = all(type, true), result = elements, others;
  T other = neutral<T>(words);
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i)
    others.insert(others.end(), reinterpret_cast<std::byte *>(&other),
                  reinterpret_cast<std::byte *>(&other) + sizeof(T));
  ASSERT_TRUE(reduceInto(result, others, reduction, type).ok());
  bool isLogical = operandTypes(reduction) == OperandTypes::Ordered && reduction > Reduction::Max;
  for (size_t i = 0; i < elements.size(); i += sizeof(T)) {
    T before, after;
    std::memcpy(&before, &elements[i], sizeof(T));
    std::memcpy(&after, &result[i], sizeof(T));
    auto x = static_cast<float>(before), y = static_cast<float>(after);
    ASSERT_TRUE(std::isnan(x) || y == (isLogical ? static_cast<float>(x != 0) : x))
        << spelling(reduction) << " of " << spelling(type) << ": " << x << " became " << y;
  }
}

TEST(NaiveReduce, NeutralOperandsAreNeutral) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  if constexpr (sizeof(CppType) <= 2)                                                              \
    expectNeutral<CppType>(reduction, ElementType::Name, words);
  auto inAllTypes = [](Reduction reduction, std::string_view words) {
#include "ir/Vocabulary.def"
  };
#define COLLDSL_REDUCTION(Name, spelling, commutative, operands, neutral, mpi)                     \
  inAllTypes(Reduction::Name, neutral);
#include "ir/Vocabulary.def"
}

} // namespace
} // namespace colldsl::tools
