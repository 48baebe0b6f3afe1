// Conversions against the definitions of the formats, and against the compiler's where it has the
// type.
#include "ir/SmallFloat.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace colldsl {
namespace {

struct Value {
  double number;
  bool isNan = false;
};

/// The value of a pattern, as IEEE 754-2019, section 3.4, and OFP8, section 3, define it.
template <typename T> Value defined(uint32_t bits) {
  constexpr int kBits = 8 * sizeof(T);
  constexpr int kExponentBits = kBits - 1 - T::kMantissa;
  uint32_t exponent = bits >> T::kMantissa & ((1u << kExponentBits) - 1);
  uint32_t mantissa = bits & ((1u << T::kMantissa) - 1);
  double sign = bits >> (kBits - 1) != 0 ? -1 : 1;
  int bias = (1 << (kExponentBits - 1)) - 1;
  bool isLast = exponent == (1u << kExponentBits) - 1;
  if (T::kHasInfinities && isLast)
    return {sign * std::numeric_limits<double>::infinity(), mantissa != 0};
  if (isLast && mantissa == (1u << T::kMantissa) - 1)
    return {0, true};
  double fraction = std::ldexp(mantissa, -T::kMantissa);
  if (exponent == 0)
    return {sign * std::ldexp(fraction, 1 - bias)};
  return {sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias)};
}

template <typename T> T ofBits(uint32_t bits) {
  T x;
  x.bits = static_cast<typename T::Bits>(bits);
  return x;
}

template <typename T> class SmallFloats : public testing::Test {
protected:
  static constexpr uint32_t kCount = 1u << 8 * sizeof(T);
};
using All = testing::Types<Float16, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallFloats, All);

TYPED_TEST(SmallFloats, everyPatternHasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < this->kCount; ++bits) {
    auto x = static_cast<float>(ofBits<TypeParam>(bits));
    Value value = defined<TypeParam>(bits);
    if (value.isNan) {
      EXPECT_TRUE(std::isnan(x)) << bits;
      EXPECT_TRUE(defined<TypeParam>(TypeParam(x).bits).isNan) << bits;
      EXPECT_EQ(std::signbit(x), bits >= this->kCount / 2);
      continue;
    }
    EXPECT_EQ(x, value.number) << bits;
    EXPECT_EQ(std::signbit(x), bits >= this->kCount / 2) << bits;
    EXPECT_EQ(TypeParam(x).bits, bits);
  }
}

// Rounding is monotonous: what holds beside each middle between two neighbors holds everywhere.
TYPED_TEST(SmallFloats, middlesGoToTheEvenNeighbor) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits + 1 < this->kCount / 2; ++bits) {
    Value low = defined<TypeParam>(bits), high = defined<TypeParam>(bits + 1);
    if (low.isNan || std::isinf(low.number))
      break;
    if (high.isNan || std::isinf(high.number)) // as if the format went on
      high = {2 * low.number - defined<TypeParam>(bits - 1).number};
    auto middle = static_cast<float>((low.number + high.number) / 2);
    ASSERT_EQ(middle, (low.number + high.number) / 2);
    uint32_t even = bits % 2 == 0 ? bits : bits + 1, sign = this->kCount / 2;
    EXPECT_EQ(TypeParam(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(TypeParam(middle).bits, even);
    EXPECT_EQ(TypeParam(std::nextafter(middle, kInfinity)).bits, bits + 1);
    EXPECT_EQ(TypeParam(-middle).bits, even | sign);
    EXPECT_EQ(TypeParam(-std::nextafter(middle, kInfinity)).bits, (bits + 1) | sign);
  }
}

// The conversion of OFP8 that does not saturate.
TYPED_TEST(SmallFloats, tooLargeIsInfiniteOrNaN) {
  for (float x : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()})
    for (float signedX : {x, -x}) {
      auto back = static_cast<float>(TypeParam(signedX));
      EXPECT_EQ(std::isinf(back), TypeParam::kHasInfinities);
      EXPECT_EQ(std::isnan(back), !TypeParam::kHasInfinities);
      EXPECT_EQ(std::signbit(back), std::signbit(signedX));
    }
}

TEST(SmallFloat, greatestAndLeastOfOfp8) {
  EXPECT_EQ(static_cast<float>(ofBits<Float8E4M3>(0x7e)), 448);
  EXPECT_EQ(static_cast<float>(ofBits<Float8E4M3>(0x01)), std::ldexp(1.0f, -9));
  EXPECT_EQ(static_cast<float>(ofBits<Float8E5M2>(0x7b)), 57344);
  EXPECT_EQ(static_cast<float>(ofBits<Float8E5M2>(0x01)), std::ldexp(1.0f, -16));
}

TEST(SmallFloat, asTheCompiler) {
#ifdef __FLT16_MAX__
  __extension__ using Half = _Float16;
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    auto x = static_cast<float>(std::bit_cast<Half>(static_cast<uint16_t>(bits)));
    EXPECT_EQ(std::bit_cast<uint32_t>(x),
              std::bit_cast<uint32_t>(static_cast<float>(ofBits<Float16>(bits))));
  }
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4093) {
    auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    ASSERT_EQ(std::bit_cast<uint16_t>(static_cast<Half>(x)), Float16(x).bits) << bits;
  }
#else
  GTEST_SKIP() << "the compiler has no _Float16";
#endif
}

} // namespace
} // namespace colldsl
