#include "tests/device/KernelCases.h"

#include "executor/Reduce.h"
#include "ir/Concat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace colldsl::test {
namespace {

using device::DeviceAddress;

// A number at the borders of its type; of floats also infinities, NaNs and zeros of both signs.
template <typename T> T specialNumber(std::mt19937_64 &random) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T all[] = {T(0), T(1), T(-1), Limits::min(), Limits::max()};
    return all[random() % std::size(all)];
  } else {
    constexpr float small[] = {0,        1,   448,     57344,    65504,    3.38e38f,
                               INFINITY, NAN, 0x1p-9f, 0x1p-16f, 0x1p-24f, 0x1p-133f};
    using Limits = std::numeric_limits<std::conditional_t<isSmallFloat<T>, float, T>>;
    const T large[] = {T(Limits::max()), T(Limits::min()), T(Limits::denorm_min()),
                       T(Limits::epsilon())};
    T value = isSmallFloat<T> || random() % 2 ? T(small[random() % std::size(small)])
                                              : large[random() % std::size(large)];
    return random() % 2 ? T(-static_cast<decltype(Limits::max())>(value)) : value;
  }
}

template <typename T> T anyNumber(std::mt19937_64 &random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else if constexpr (isSmallFloat<T>) {
    return std::bit_cast<T>(static_cast<typename T::Bits>(random()));
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (random() % 2)
      return std::bit_cast<T>(static_cast<Bits>(random()));
    auto exponent = static_cast<int>(random() % 8) - 66; // sums are rounded
    return std::ldexp(static_cast<T>(static_cast<int64_t>(random())), exponent);
  }
}

template <typename T> bool isNan(T value) {
  if constexpr (isSmallFloat<T>)
    return std::isnan(static_cast<float>(value));
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

template <typename T> std::vector<std::byte> bytesOf(uint64_t count, std::mt19937_64 &random) {
  std::vector<std::byte> bytes(count * sizeof(T));
  const bool allSpecial = random() % 2;
  for (uint64_t i = 0; i < count; ++i) {
    T value = allSpecial || random() % 4 == 0 ? specialNumber<T>(random) : anyNumber<T>(random);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}
template <>
std::vector<std::byte> bytesOf<std::complex<float>>(uint64_t count, std::mt19937_64 &random) {
  return bytesOf<float>(2 * count, random);
}
template <>
std::vector<std::byte> bytesOf<std::complex<double>>(uint64_t count, std::mt19937_64 &random) {
  return bytesOf<double>(2 * count, random);
}

// The index of the first element that differs; NaNs are the same. -1: none does.
template <typename T> int64_t differenceOf(const std::byte *a, const std::byte *b, uint64_t count) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    int64_t part = differenceOf<typename T::value_type>(a, b, 2 * count);
    return part < 0 ? part : part / 2;
  } else {
    for (uint64_t i = 0; i < count; ++i) {
      T x, y;
      std::memcpy(&x, a + i * sizeof(T), sizeof(T));
      std::memcpy(&y, b + i * sizeof(T), sizeof(T));
      if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(isNan(x) && isNan(y)))
        return static_cast<int64_t>(i);
    }
    return -1;
  }
}

struct Numbers {
  std::vector<std::byte> (*any)(uint64_t count, std::mt19937_64 &random);
  int64_t (*difference)(const std::byte *a, const std::byte *b, uint64_t count);
};
Numbers numbersOf(ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  case ElementType::Name:                                                                          \
    return {bytesOf<CppType>, differenceOf<CppType>};
#include "ir/Vocabulary.def"
  }
  return {};
}

constexpr uint64_t kMargin = 16; ///< bytes beside the target, which stay as they are
constexpr std::byte kUntouched{0x5c};

} // namespace

std::string CombineCase::describe() const {
  std::string text = concat(spelling(reduction), " of ", elements, " ", spelling(type), ", side ",
                            spelling(side), ", ", sources, " sources, misaligned by");
  for (uint64_t bytes : misalignments)
    text += concat(" ", bytes);
  switch (inPlace) {
  case InPlace::No:
    return text;
  case InPlace::First:
    return text + ", the target is the first operand";
  case InPlace::LastSource:
    return text + ", the target is the last source";
  }
  return text;
}

std::vector<std::pair<Reduction, ElementType>> allDefined() {
  std::vector<std::pair<Reduction, ElementType>> all;
  for (unsigned r = 0; r < kReductions; ++r)
    for (unsigned t = 0; t < kElementTypes; ++t) {
      std::pair pair(static_cast<Reduction>(r), static_cast<ElementType>(t));
      if (isDefined(pair.first, pair.second))
        all.push_back(pair);
    }
  return all;
}

std::vector<CombineCase> combineCases(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<CombineCase> all;
  for (auto [reduction, type] : allDefined()) {
    const uint64_t size = sizeBytes(type), counts[] = {1, 48 / size + 1, 37, 67};
    for (Side side : {Side::After, Side::Before})
      for (uint32_t sources = 1; sources <= device::kMaxSources; ++sources) {
        // At borders, all with one distance from them, with several distances, and within elements.
        const std::vector<uint64_t> alignments[] = {
            {0}, {size % 16}, {1 + random() % 15}, {0, size % 16, 2 * size % 16}, {1, 6, 11}};
        for (const auto &misalignments : alignments)
          all.push_back({reduction, type, side, counts[random() % 4], sources, misalignments,
                         static_cast<CombineCase::InPlace>(random() % 3)});
      }
  }
  return all;
}

std::vector<std::byte> anyElements(ElementType type, uint64_t count, std::mt19937_64 &random) {
  return numbersOf(type).any(count, random);
}

int64_t findDifference(Reduction reduction, ElementType type, const std::byte *a,
                       const std::byte *b, uint64_t count) {
  ElementType compared = reduction == Reduction::MatMul ? ElementType::U32 : type;
  return numbersOf(compared).difference(a, b, count);
}

std::string compareWithHost(const CombineCase &c, KernelDevice &device, std::mt19937_64 &random,
                            const std::vector<std::vector<std::byte>> *given) {
  const uint64_t bytes = c.elements * sizeBytes(c.type);
  ReduceFunction reduce = *findReduction(c.reduction, c.type, c.side);
  std::vector<std::byte> expected;
  std::vector<DeviceAddress> operands;
  Status s;
  // An operand, or the target, with bytes around it.
  auto place = [&](size_t number, std::span<const std::byte> content, uint64_t misalignment) {
    std::vector<std::byte> around(bytes + 4 * kMargin, kUntouched);
    std::copy(content.begin(), content.end(), around.data() + kMargin + misalignment);
    DeviceAddress at = device.memory(number, around.size());
    if (Status written = device.write(at, around); !written)
      s = written;
    return at + kMargin + misalignment;
  };
  for (uint32_t i = 0; i <= c.sources; ++i) {
    std::vector<std::byte> operand = given ? (*given)[i] : anyElements(c.type, c.elements, random);
    operands.push_back(place(i, operand, c.misalignments[(i + 1) % c.misalignments.size()]));
    if (i == 0)
      expected = operand;
    else
      reduce(expected.data(), expected.data(), operand.data(), bytes);
  }
  DeviceAddress target = c.inPlace == CombineCase::InPlace::No
                             ? place(c.sources + 1, {}, c.misalignments[0])
                         : c.inPlace == CombineCase::InPlace::First ? operands.front()
                                                                    : operands.back();
  std::vector<std::byte> result(bytes + 2 * kMargin);
  if (s)
    s = device.kernels().prepare(c.reduction, c.type);
  if (s)
    s = device.kernels().combine(device.stream(), c.reduction, c.type, c.side, target, operands[0],
                                 std::span(operands).subspan(1), bytes);
  if (s)
    s = device.read(target - kMargin, result);
  if (!s)
    return s.message();
  auto isUntouched = [](std::byte one) { return one == kUntouched; };
  if (!std::all_of(result.begin(), result.begin() + kMargin, isUntouched) ||
      !std::all_of(result.end() - kMargin, result.end(), isUntouched))
    return "bytes beside the target have changed";
  int64_t at =
      findDifference(c.reduction, c.type, result.data() + kMargin, expected.data(), c.elements);
  return at < 0 ? "" : concat("the element ", at, " is not the host's");
}

std::vector<std::vector<std::byte>> smallPairs(ElementType type, std::mt19937_64 &random) {
  constexpr uint32_t count = 1 << 16;
  std::vector<std::vector<std::byte>> pairs(2, std::vector<std::byte>(count * sizeBytes(type)));
  for (uint32_t i = 0; i < count; ++i) {
    if (sizeBytes(type) == 1) {
      pairs[0][i] = std::byte(i & 255);
      pairs[1][i] = std::byte(i >> 8);
    } else {
      const auto one = static_cast<uint16_t>(i), other = static_cast<uint16_t>(random());
      std::memcpy(&pairs[0][2 * i], &one, 2);
      std::memcpy(&pairs[1][2 * i], &other, 2);
    }
  }
  return pairs;
}

} // namespace colldsl::test
