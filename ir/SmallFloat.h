/// Floating-point numbers of 8 and 16 bits, and their conversions from and to f32, which vectorise.
///
/// Formats: IEEE 754-2019 binary16; bfloat16, the upper half of binary32; E4M3 and E5M2 of the OCP
/// 8-bit Floating Point Specification (OFP8), revision 1.0. E4M3 has no infinities and one NaN of
/// each sign, S.1111.111; its greatest value is 448.
///
/// Results are rounded to the nearest value, ties to even. A result that is too large is infinite,
/// or a NaN in E4M3: of the two conversions that OFP8 defines this is the one that does not
/// saturate. NaNs become quiet.
#pragma once

#include <bit>
#include <cstdint>

namespace colldsl {

template <typename BitsOfIt, int kMantissaBits, bool kInfinities> struct SmallFloat {
  using Bits = BitsOfIt;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kExponent = 8 * sizeof(Bits) - 1 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr bool kHasInfinities = kInfinities;

  Bits bits;

  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(rounded(value)) {}
  explicit operator float() const;

private:
  static constexpr uint32_t kSign = 1u << (8 * sizeof(Bits) - 1);
  static constexpr uint32_t kMagnitude = kSign - 1;
  static constexpr uint32_t kQuiet = 1u << (kMantissa - 1);
  static constexpr uint32_t kNan =
      kInfinities ? (kMagnitude & ~(2 * kQuiet - 1)) | kQuiet : kMagnitude;
  /// Results beyond all finite ones.
  static constexpr uint32_t kTooLarge = kInfinities ? kNan - kQuiet : kNan;

  // The distances of bits from their places in f32, and of exponents from their values there.
  static constexpr int kShift = 23 - kMantissa;
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;

  // Without a branch, also where compilers would leave out a sum of floats.
  static uint32_t choose(bool first, uint32_t a, uint32_t b) {
    return b ^ ((a ^ b) & -uint32_t{first});
  }

  static Bits rounded(float value);
  static uint32_t halfEven(uint32_t wide) {
    return (wide + (1u << (kShift - 1)) - 1 + (wide >> kShift & 1)) >> kShift;
  }
};

template <typename T> constexpr bool isSmallFloat = false;
template <typename B, int M, bool I> constexpr bool isSmallFloat<SmallFloat<B, M, I>> = true;

using Float16 = SmallFloat<uint16_t, 10, true>;
using BFloat16 = SmallFloat<uint16_t, 7, true>;
using Float8E4M3 = SmallFloat<uint8_t, 3, false>;
using Float8E5M2 = SmallFloat<uint8_t, 2, true>;

// Both ways all cases are computed and one is taken, so that loops have no branches. Subnormal
// numbers are the difference or the sum of normal ones of f32: processors that flush subnormals of
// f32 do not matter.
template <typename B, int M, bool I> inline SmallFloat<B, M, I>::operator float() const {
  uint32_t magnitude = bits & kMagnitude, sign = (bits & kSign) << (32 - 8 * sizeof(Bits));
  uint32_t wide = magnitude << kShift;
  uint32_t result = wide + kRebias;
  if constexpr (kRebias != 0) {
    constexpr uint32_t kLeastNormal = kRebias + (1 << 23);
    float above = std::bit_cast<float>(kLeastNormal + wide);
    auto subnormal = std::bit_cast<uint32_t>(above - std::bit_cast<float>(kLeastNormal));
    result = choose(magnitude < 2 * kQuiet, subnormal, result);
  }
  result |= choose(magnitude >= kTooLarge, 0x7f800000, 0);
  result |= choose(magnitude > (I ? kTooLarge : kNan - 1), 0x400000, 0);
  return std::bit_cast<float>(sign | result);
}

template <typename B, int M, bool I> inline B SmallFloat<B, M, I>::rounded(float value) {
  auto all = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = all & 0x7fffffff, sign = all >> (32 - 8 * sizeof(Bits)) & kSign;
  uint32_t result = halfEven(magnitude - kRebias);
  result = result > kTooLarge ? kTooLarge : result;
  if constexpr (kRebias != 0) {
    // A number whose last place is that of subnormals.
    constexpr uint32_t kRounder = kRebias + (static_cast<uint32_t>(kShift + 1) << 23);
    float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kRounder);
    uint32_t subnormal = std::bit_cast<uint32_t>(sum) - kRounder;
    result = choose(magnitude < kRebias + (1 << 23), subnormal, result);
  }
  uint32_t payload = I ? magnitude >> kShift & (kQuiet - 1) : 0;
  result = choose(magnitude > 0x7f800000, kNan | payload, result);
  return static_cast<Bits>(sign | result);
}

} // namespace colldsl
