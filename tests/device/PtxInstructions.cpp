#include "tests/device/PtxInstructions.h"

#include "ir/Concat.h"
#include "ir/SmallFloat.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace colldsl::test {
namespace {

using Run = PtxInstruction::Run;

/// A number of binary16, computed in f32: sums and products are then rounded as if at once.
struct Half {
  float value;
};
/// One bit.
struct Predicate {
  bool value;
};

template <typename T> T valueOf(uint64_t bits) {
  if constexpr (std::is_same_v<T, Half>)
    return {static_cast<float>(Float16{std::bit_cast<Float16>(static_cast<uint16_t>(bits))})};
  else if constexpr (std::is_same_v<T, Predicate>)
    return {(bits & 1) != 0};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <typename T> uint64_t bitsOf(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return std::isnan(value.value) ? 0x7fff : Float16(value.value).bits;
  else if constexpr (std::is_same_v<T, Predicate>)
    return value.value;
  else if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? 0x7fffffff : std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::isnan(value) ? 0x7fffffffffffffff : std::bit_cast<uint64_t>(value);
  else
    return static_cast<uint64_t>(value); // signed ones fill the register
}

// Names of types: b32 and u32 are the same to operations that ask for either.
template <typename Pick> Run ofInteger(std::string_view type, Pick pick) {
  if (type == "u8" || type == "b8")
    return pick.template operator()<uint8_t>();
  if (type == "s8")
    return pick.template operator()<int8_t>();
  if (type == "u16" || type == "b16")
    return pick.template operator()<uint16_t>();
  if (type == "s16")
    return pick.template operator()<int16_t>();
  if (type == "u32" || type == "b32")
    return pick.template operator()<uint32_t>();
  if (type == "s32")
    return pick.template operator()<int32_t>();
  if (type == "u64" || type == "b64")
    return pick.template operator()<uint64_t>();
  if (type == "s64")
    return pick.template operator()<int64_t>();
  return nullptr;
}
template <typename Pick> Run ofFloat(std::string_view type, Pick pick) {
  if (type == "f16")
    return pick.template operator()<Half>();
  if (type == "f32")
    return pick.template operator()<float>();
  if (type == "f64")
    return pick.template operator()<double>();
  return nullptr;
}
template <typename Pick> Run ofNumber(std::string_view type, Pick pick) {
  Run run = ofInteger(type, pick);
  return run ? run : ofFloat(type, pick);
}

template <typename T> T operand(const PtxThread &thread, const PtxInstruction &instruction, int i) {
  return valueOf<T>(thread.registers[instruction.from[i]]);
}
template <typename T> bool give(PtxThread &thread, const PtxInstruction &instruction, T value) {
  thread.registers[instruction.to[0]] = bitsOf<T>(value);
  return true;
}

// Sums and products of integers have the bits of unsigned ones.
template <typename T, typename F> T calculate(T a, T b, F f) {
  if constexpr (std::is_same_v<T, Half>)
    return {f(a.value, b.value)};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return f(a, b);
}

struct Add {
  template <typename T> static T apply(T a, T b) {
    return calculate(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Subtract {
  template <typename T> static T apply(T a, T b) {
    return calculate(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Multiply {
  template <typename T> static T apply(T a, T b) {
    return calculate(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Least {
  template <typename T> static T apply(T a, T b) { return b < a ? b : a; }
};
struct Greatest {
  template <typename T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};

template <typename Op> struct Binary {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      return give<T>(t, i, Op::template apply<T>(operand<T>(t, i, 0), operand<T>(t, i, 1)));
    };
  }
};

// Logic of integers and of predicates.
template <typename Op> Run logic(std::string_view type) {
  if (type == "pred")
    return [](PtxThread &t, const PtxInstruction &i) {
      bool a = operand<Predicate>(t, i, 0).value, b = operand<Predicate>(t, i, 1).value;
      return give<Predicate>(t, i, {Op::template apply<bool>(a, b)});
    };
  return type[0] == 'b' ? ofInteger(type, Binary<Op>{}) : nullptr;
}

// Two numbers of binary16 in one register.
template <typename Op> bool inPairs(PtxThread &t, const PtxInstruction &i) {
  uint64_t result = 0;
  for (int shift : {0, 16}) {
    auto half = [&](int j) { return valueOf<Half>(t.registers[i.from[j]] >> shift); };
    result |= bitsOf(Op::template apply<Half>(half(0), half(1))) << shift;
  }
  t.registers[i.to[0]] = result;
  return true;
}

// Floats are rounded to the nearest one by instructions that say so; others may be fused.
template <typename Op> Run arithmetic(std::string_view rounding, std::string_view type) {
  if (rounding == "rn")
    return type == "f16x2" ? inPairs<Op> : ofFloat(type, Binary<Op>{});
  return rounding.empty() ? ofInteger(type, Binary<Op>{}) : nullptr;
}

// The product of twice the width.
Run wideProduct(std::string_view type) {
  if (type == "u16")
    return [](PtxThread &t, const PtxInstruction &i) {
      return give<uint32_t>(t, i,
                            uint32_t{operand<uint16_t>(t, i, 0)} * operand<uint16_t>(t, i, 1));
    };
  if (type == "u32")
    return [](PtxThread &t, const PtxInstruction &i) {
      return give<uint64_t>(t, i,
                            uint64_t{operand<uint32_t>(t, i, 0)} * operand<uint32_t>(t, i, 1));
    };
  return nullptr;
}

struct MultiplyAdd {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      T product = Multiply::apply<T>(operand<T>(t, i, 0), operand<T>(t, i, 1));
      return give<T>(t, i, Add::apply<T>(product, operand<T>(t, i, 2)));
    };
  }
};

struct ShiftLeft {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      auto by = operand<uint32_t>(t, i, 1);
      T result = by >= 8 * sizeof(T) ? T{0} : static_cast<T>(operand<uint64_t>(t, i, 0) << by);
      return give<T>(t, i, result);
    };
  }
};
struct ShiftRight {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      T value = operand<T>(t, i, 0);
      auto by = operand<uint32_t>(t, i, 1);
      if (by >= 8 * sizeof(T))
        return give<T>(t, i, static_cast<T>(value < 0 ? -1 : 0));
      return give<T>(t, i, static_cast<T>(value >> by));
    };
  }
};
struct Negate {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      return give<T>(t, i, Subtract::apply<T>(0, operand<T>(t, i, 0)));
    };
  }
};

bool extractUnsigned(PtxThread &t, const PtxInstruction &i) {
  uint32_t at = operand<uint32_t>(t, i, 1) & 255, bits = operand<uint32_t>(t, i, 2) & 255;
  uint64_t shifted = at < 32 ? operand<uint32_t>(t, i, 0) >> at : 0;
  return give<uint32_t>(t, i,
                        static_cast<uint32_t>(bits < 32 ? shifted & ((1u << bits) - 1) : shifted));
}
// Fields beyond the number are not used.
bool extractSigned(PtxThread &t, const PtxInstruction &i) {
  uint32_t at = operand<uint32_t>(t, i, 1) & 255, bits = operand<uint32_t>(t, i, 2) & 255;
  if (bits == 0 || at + bits > 32)
    return t.fault = "bfe.s32 of bits beyond the number", false;
  auto high = static_cast<int32_t>(operand<uint32_t>(t, i, 0) << (32 - at - bits));
  return give<int32_t>(t, i, high >> (32 - bits));
}
bool insertBits(PtxThread &t, const PtxInstruction &i) {
  uint32_t at = operand<uint32_t>(t, i, 2) & 255, bits = operand<uint32_t>(t, i, 3) & 255;
  if (at + bits > 32)
    return t.fault = "bfi.b32 of bits beyond the number", false;
  auto mask = static_cast<uint32_t>(((uint64_t{1} << bits) - 1) << at);
  uint32_t inserted = at < 32 ? operand<uint32_t>(t, i, 0) << at : 0;
  return give<uint32_t>(t, i, (inserted & mask) | (operand<uint32_t>(t, i, 1) & ~mask));
}

template <typename T> auto comparable(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return value.value;
  else
    return value;
}
template <typename Compare> struct Comparison {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      auto a = comparable(operand<T>(t, i, 0)), b = comparable(operand<T>(t, i, 1));
      return give<Predicate>(t, i, {Compare{}(a, b)});
    };
  }
};
Run compare(std::string_view how, std::string_view type) {
  if (how == "lt")
    return ofNumber(type, Comparison<std::less<>>{});
  if (how == "le")
    return ofNumber(type, Comparison<std::less_equal<>>{});
  if (how == "gt")
    return ofNumber(type, Comparison<std::greater<>>{});
  if (how == "ge")
    return ofNumber(type, Comparison<std::greater_equal<>>{});
  if (how == "eq")
    return ofNumber(type, Comparison<std::equal_to<>>{});
  if (how == "ne")
    return ofInteger(type, Comparison<std::not_equal_to<>>{});
  if (how == "neu") // or one is a NaN
    return ofFloat(type, Comparison<std::not_equal_to<>>{});
  return nullptr;
}

// Bits are moved as they are.
bool select(PtxThread &t, const PtxInstruction &i) {
  t.registers[i.to[0]] = t.registers[i.from[operand<Predicate>(t, i, 2).value ? 0 : 1]];
  return true;
}

// One register to one, one to several parts, or several to one.
template <unsigned bits> bool move(PtxThread &t, const PtxInstruction &i) {
  const unsigned part = bits / std::max(i.toCount, i.fromCount);
  auto mask = [](unsigned width) {
    return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  };
  uint64_t whole = 0;
  for (unsigned j = 0; j < i.fromCount; ++j)
    whole |= (t.registers[i.from[j]] & mask(bits / i.fromCount)) << (j * part);
  for (unsigned j = 0; j < i.toCount; ++j)
    t.registers[i.to[j]] = whole >> (j * part) & mask(bits / i.toCount);
  return true;
}
Run moveOf(std::string_view type) {
  if (type.size() != 3)
    return nullptr;
  std::string_view bits = type.substr(1);
  return bits == "16" ? move<16> : bits == "32" ? move<32> : bits == "64" ? move<64> : nullptr;
}

template <typename To> struct ConvertTo {
  template <typename From> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      auto from = comparable(operand<From>(t, i, 0));
      if constexpr (std::is_same_v<To, Half>)
        return give<Half>(t, i, {static_cast<float>(from)});
      else
        return give<To>(t, i, static_cast<To>(from));
    };
  }
};
// Integers to integers, exactly or cut; to floats rounded, or from binary16, which is exact.
Run convert(std::string_view rounding, std::string_view to, std::string_view from) {
  if (rounding.empty() && to == "f32" && from == "f16")
    return ConvertTo<float>{}.operator()<Half>();
  if (rounding == "rn" && to == "f16" && from == "f32")
    return ConvertTo<Half>{}.operator()<float>();
  if (rounding == "rn")
    return ofFloat(to, [&]<typename To>() { return ofInteger(from, ConvertTo<To>{}); });
  return ofInteger(to, [&]<typename To>() { return ofInteger(from, ConvertTo<To>{}); });
}

// The memory of a load or a store; null: the thread has faulted.
std::byte *memoryOf(PtxThread &t, const PtxInstruction &i, uint64_t bytes, bool isStore) {
  uint64_t address = t.registers[i.from[0]] + static_cast<uint64_t>(i.offset);
  if (address % bytes != 0)
    return t.fault =
               concat("an access of ", bytes, " bytes at ", address, ", which is not aligned"),
           nullptr;
  std::byte *found = t.memory->find(address, bytes, isStore);
  if (!found)
    t.fault = concat("an access of ", bytes, " bytes at ", address,
                     ", which is not memory of the device");
  return found;
}

template <typename T> uint64_t loaded(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return bitsOf(value);
}

struct LoadGlobal {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      const std::byte *at = memoryOf(t, i, sizeof(T) * i.toCount, false);
      for (unsigned j = 0; at && j < i.toCount; ++j)
        t.registers[i.to[j]] = loaded<T>(at + j * sizeof(T));
      return at != nullptr;
    };
  }
};
struct StoreGlobal {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      const unsigned count = i.fromCount - 1u;
      std::byte *at = memoryOf(t, i, sizeof(T) * count, true);
      for (unsigned j = 0; at && j < count; ++j)
        std::memcpy(at + j * sizeof(T), &t.registers[i.from[1 + j]], sizeof(T));
      return at != nullptr;
    };
  }
};
// Addresses of the parameter begin at 0.
struct LoadParameter {
  template <typename T> Run operator()() const {
    return [](PtxThread &t, const PtxInstruction &i) {
      uint64_t at = t.registers[i.from[0]] + static_cast<uint64_t>(i.offset);
      if (at > t.parameter.size() || sizeof(T) * i.toCount > t.parameter.size() - at)
        return t.fault = concat("a load beyond the parameter, at ", at), false;
      for (unsigned j = 0; j < i.toCount; ++j)
        t.registers[i.to[j]] = loaded<T>(t.parameter.data() + at + j * sizeof(T));
      return true;
    };
  }
};

// Floats are loaded and stored as their bits.
std::string_view bitsType(std::string_view type) {
  return type == "f16" ? "b16" : type == "f32" ? "b32" : type == "f64" ? "b64" : type;
}

} // namespace

// A name is an operation, what modifies it, and types.
Run findPtxInstruction(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= name.size();) {
    size_t end = std::min(name.find('.', at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  if (words.size() < 2)
    return nullptr;
  const std::string_view operation = words.front(), type = words.back();
  const std::vector<std::string_view> modifiers(words.begin() + 1, words.end() - 1);
  const std::string_view first = modifiers.empty() ? "" : modifiers[0];
  auto isVector = [](std::string_view word) { return word == "v2" || word == "v4"; };
  if (operation == "ld" || operation == "st") {
    if (modifiers.size() > 2 || (modifiers.size() == 2 && !isVector(modifiers[1])))
      return nullptr;
    if (first == "global")
      return operation == "ld" ? ofInteger(bitsType(type), LoadGlobal{})
                               : ofInteger(bitsType(type), StoreGlobal{});
    return operation == "ld" && first == "param" ? ofInteger(bitsType(type), LoadParameter{})
                                                 : nullptr;
  }
  if (operation == "cvt" && modifiers.size() == 1)
    return convert("", modifiers[0], type);
  if (operation == "cvt" && modifiers.size() == 2)
    return convert(modifiers[0], modifiers[1], type);
  if (modifiers.size() > 1)
    return nullptr;
  if (operation == "add")
    return arithmetic<Add>(first, type);
  if (operation == "sub")
    return arithmetic<Subtract>(first, type);
  if (operation == "mul" && first == "wide")
    return wideProduct(type);
  if (operation == "mul" && first == "lo")
    return ofInteger(type, Binary<Multiply>{});
  if (operation == "mul" && first == "rn")
    return arithmetic<Multiply>(first, type);
  if (operation == "mad" && first == "lo")
    return ofInteger(type, MultiplyAdd{});
  if (operation == "setp")
    return compare(first, type);
  if (!modifiers.empty())
    return nullptr;
  if (operation == "mov")
    return moveOf(type);
  if (operation == "selp")
    return type == "pred" ? nullptr : select;
  if (operation == "and")
    return logic<And>(type);
  if (operation == "or")
    return logic<Or>(type);
  if (operation == "xor")
    return logic<Xor>(type);
  if (operation == "shl")
    return ofInteger(type, ShiftLeft{});
  if (operation == "shr")
    return ofInteger(type, ShiftRight{});
  if (operation == "min")
    return ofInteger(type, Binary<Least>{});
  if (operation == "max")
    return ofInteger(type, Binary<Greatest>{});
  if (operation == "neg")
    return ofInteger(type, Negate{});
  if (name == "bfe.u32")
    return extractUnsigned;
  if (name == "bfe.s32")
    return extractSigned;
  if (name == "bfi.b32")
    return insertBits;
  if (name == "abs.f32")
    return [](PtxThread &t, const PtxInstruction &i) {
      return give<float>(t, i, std::fabs(operand<float>(t, i, 0)));
    };
  return nullptr;
}

} // namespace colldsl::test
