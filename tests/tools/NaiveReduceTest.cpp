#include "tools/run/NaiveReduce.h"

#include "executor/Reduce.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
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

/// Bytes that are whole numbers in every floating point type too.
std::vector<std::byte> operand(ElementType type, uint32_t seed) {
  std::vector<std::byte> bytes(48 * sizeBytes(type));
  for (size_t i = 0; i < 48; ++i) {
    auto value = static_cast<int32_t>((i * 2654435761u + seed * 40503u) >> 7) % 1000 - 500;
    if (type == ElementType::F32) {
      auto x = static_cast<float>(value);
      std::memcpy(&bytes[i * 4], &x, 4);
    } else if (type == ElementType::F64) {
      auto x = static_cast<double>(value);
      std::memcpy(&bytes[i * 8], &x, 8);
    } else {
      uint64_t x = static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15u;
      std::memcpy(&bytes[i * sizeBytes(type)], &x, sizeBytes(type));
    }
  }
  return bytes;
}

// Two independent implementations, one answer, also about what there is.
TEST(NaiveReduce, AgreesWithTheExecutor) {
  for (unsigned t = 0; t < kElementTypes; ++t)
    for (unsigned r = 0; r < kReductions; ++r) {
      auto type = static_cast<ElementType>(t);
      auto reduction = static_cast<Reduction>(r);
      std::vector<std::byte> mine = operand(type, 1), its = mine, other = operand(type, 2);
      Status known = reduceInto(mine, other, reduction, type);
      Result<ReduceFunction> function = findReduction(reduction, type, Side::After);
      ASSERT_EQ(known.ok(), function.ok()) << spelling(reduction) << " of " << spelling(type);
      if (!function)
        continue;
      (*function)(its.data(), its.data(), other.data(), its.size());
      EXPECT_EQ(mine, its) << spelling(reduction) << " of " << spelling(type);
    }
}

} // namespace
} // namespace colldsl::tools
