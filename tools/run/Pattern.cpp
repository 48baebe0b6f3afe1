#include "tools/run/Pattern.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace colldsl::tools {
namespace {

/// source: the finalizer of SplitMix64, S. Vigna, https://prng.di.unimi.it/splitmix64.c
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

Pattern::Pattern(const Schedule &schedule) {
  for (const Dag &dag : schedule.ranks)
    for (const Ensure &ensure : dag.contract.ensures) {
      if (!ensure.isReduction)
        continue;
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

template <typename T> T Pattern::value(uint64_t random) const {
  constexpr bool isInteger = std::is_integral_v<T>;
  switch (values_) {
  case Values::Any:
    return isInteger ? static_cast<T>(random) : static_cast<T>(static_cast<int>(random % 17) - 8);
  case Values::Factors:
    if (isInteger)
      return static_cast<T>(random);
    return static_cast<T>(random % 16 == 0 ? 2 : random % 2 == 0 ? 1 : -1);
  case Values::Truths:
    return static_cast<T>(random % 8 == 0 ? 0 : 1 + random % 2);
  case Values::Bits: {
    T bits;
    std::memcpy(&bits, &random, sizeof(T));
    return bits;
  }
  }
  return T();
}

template <typename T> void Pattern::fillAs(std::span<std::byte> bytes, const Place &place) const {
  uint64_t seed = mix(mix(uint64_t{index(place.rank)} << 32 | index(place.buffer)) + place.call);
  uint64_t element = place.element;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T x = value<T>(mix(seed + element++));
    std::memcpy(&bytes[i], &x, sizeof(T));
  }
}

void Pattern::fill(std::span<std::byte> bytes, ElementType type, const Place &place) const {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType)                                                      \
  case ElementType::Name:                                                                          \
    return fillAs<CppType>(bytes, place);
#include "ir/Vocabulary.def"
  }
}

} // namespace colldsl::tools
