// The kernels of device memory, in CUDA's dialect of C++, which clang compiles to PTX without CUDA.
// Each becomes one function without calls or global data, as Kernels.cpp cuts it out of the text.
//
// clang's wrappers of standard headers need the two macros and malloc().
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#include <cstdlib>

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#pragma clang force_cuda_host_device begin
#include "ir/SmallFloat.h"
#pragma clang force_cuda_host_device end
#include "device/KernelOperands.h"
#pragma clang force_cuda_host_device begin
#include "ir/ApplyOperator.h"
#pragma clang force_cuda_host_device end

#define DEVICE static __device__ __attribute__((always_inline))
#define KERNEL __attribute__((global, launch_bounds(kThreadsPerBlock)))

namespace colldsl::device {

// This thread's number in the grid, and the number of all.
DEVICE uint64_t threadNumber() {
  uint64_t block = static_cast<uint32_t>(__nvvm_read_ptx_sreg_ctaid_x());
  return block * kThreadsPerBlock + static_cast<uint32_t>(__nvvm_read_ptx_sreg_tid_x());
}
DEVICE uint64_t threadCount() {
  uint64_t blocks = static_cast<uint32_t>(__nvvm_read_ptx_sreg_nctaid_x());
  return blocks * kThreadsPerBlock;
}

// Addresses are numbers in the operands, and belong to the device's memory.
template <typename T> using Global = __attribute__((address_space(1))) T;
template <typename T> DEVICE T load(uint64_t address) {
  return *reinterpret_cast<const Global<T> *>(address);
}
template <typename T> DEVICE void store(uint64_t address, T value) {
  *reinterpret_cast<Global<T> *>(address) = value;
}

// Elements in memory: a number, its bits if it is a small one, or two parts.
template <typename P> struct Complex { P re, im; };
template <typename T> constexpr bool isComplex = false;
template <typename P> constexpr bool isComplex<std::complex<P>> = true;
template <typename T> struct InMemory {
  using Type = T;
  using Part = T;
};
template <typename B, int M, bool I> struct InMemory<SmallFloat<B, M, I>> {
  using Type = B;
  using Part = B;
};
template <typename P> struct InMemory<std::complex<P>> {
  using Type = Complex<P>;
  using Part = P;
};
template <typename T> using Stored = typename InMemory<T>::Type;
template <typename T> using Part = typename InMemory<T>::Part;

/// Elements that a thread combines at once.
template <typename T, unsigned count> struct Lanes { Stored<T> lane[count]; };
/// Loaded and stored at once.
using Words = uint32_t __attribute__((ext_vector_type(4)));
// Compilers cut a store of bytes into words.
DEVICE void storeWords(uint64_t address, Words w) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w.x), "r"(w.y),
               "r"(w.z), "r"(w.w)
               : "memory");
}

// Values that are aligned as their parts are.
template <typename Value, typename Unit> struct Units { Unit unit[sizeof(Value) / sizeof(Unit)]; };
template <typename Unit, typename Value> DEVICE Value loadUnits(uint64_t address) {
  Units<Value, Unit> units;
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / sizeof(Unit); ++i)
    units.unit[i] = load<Unit>(address + i * sizeof(Unit));
  return std::bit_cast<Value>(units);
}
template <typename Unit, typename Value> DEVICE void storeUnits(uint64_t address, Value value) {
  auto units = std::bit_cast<Units<Value, Unit>>(value);
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / sizeof(Unit); ++i)
    store<Unit>(address + i * sizeof(Unit), units.unit[i]);
}

// The values are those of ir/SmallFloat.h, but NaNs may have other bits. Formats with at most the
// exponents of binary16 have its bits, shifted, with another bias.
template <typename T> DEVICE float widen(Stored<T> bits) {
  constexpr uint32_t sign = 1u << (8 * sizeof(bits) - 1), magnitude = sign - 1;
  if constexpr (T::kExponent == 8) {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  } else {
    uint32_t half = (bits & sign) << (16 - 8 * sizeof(bits)) | (bits & magnitude)
                                                                   << (10 - T::kMantissa);
    constexpr int halfBias = 15;
    float value = std::bit_cast<_Float16>(static_cast<uint16_t>(half));
    if constexpr (T::kBias != halfBias)
      value *= 1 << (halfBias - T::kBias);
    if constexpr (!T::kHasInfinities)
      value = (bits & magnitude) == magnitude ? __builtin_nanf("") : value;
    return value;
  }
}
template <typename T> DEVICE Stored<T> narrow(float value) {
  if constexpr (std::is_same_v<T, Float16>)
    return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  else
    return T(value).bits;
}

constexpr bool isLogical(Reduction reduction) {
  return reduction == Reduction::Land || reduction == Reduction::Lor ||
         reduction == Reduction::Lxor;
}
constexpr bool isChoice(Reduction reduction) {
  return reduction == Reduction::Min || reduction == Reduction::Max;
}

// The operators whose results depend on the side, apart from the bits of NaNs: those that choose
// between zeros and NaNs, and those that do not commute.
template <typename T> constexpr bool sideShows(Reduction reduction) {
  switch (reduction) {
#define COLLDSL_REDUCTION(Name, spelling, commutative, ...)                                        \
  case Reduction::Name:                                                                            \
    if (!commutative)                                                                              \
      return true;                                                                                 \
    break;
#include "ir/Vocabulary.def"
  }
  return isChoice(reduction) && !std::is_integral_v<T>;
}

template <Reduction reduction, typename T> DEVICE Stored<T> combineSmall(Stored<T> a, Stored<T> b) {
  constexpr Stored<T> sign = 1u << (8 * sizeof(a) - 1);
  if constexpr (isLogical(reduction)) // of all bits but the sign
    return applyOperator<reduction>((a & ~sign) != 0, (b & ~sign) != 0) ? narrow<T>(1) : 0;
  float left = widen<T>(a), right = widen<T>(b);
  if constexpr (reduction == Reduction::Min)
    return right < left ? b : a;
  else if constexpr (reduction == Reduction::Max)
    return left < right ? b : a;
  else
    return narrow<T>(applyOperator<reduction>(left, right));
}

template <Reduction reduction, typename T> DEVICE Stored<T> combineOne(Stored<T> a, Stored<T> b) {
  if constexpr (isSmallFloat<T>)
    return combineSmall<reduction, T>(a, b);
  else if constexpr (isComplex<T>)
    return multiply(a, b);
  else
    return applyOperator<reduction>(a, b);
}

// The loop over the sources is not unrolled: a thread has one load of a source under way, and the
// other threads of its processor have theirs.
template <Reduction reduction, typename T, unsigned count, typename Load>
DEVICE Lanes<T, count> combineLanes(const CombineOperands &operands, uint64_t at, Load load) {
  Lanes<T, count> result = load(operands.first + at);
#pragma unroll 1
  for (uint32_t i = 0; i < operands.sourceCount; ++i) {
    Lanes<T, count> left = result, right = load(operands.sources[i] + at);
    if (sideShows<T>(reduction) && operands.isBefore) {
      left = right;
      right = result;
    }
#pragma unroll
    for (unsigned j = 0; j < count; ++j)
      result.lane[j] = combineOne<reduction, T>(left.lane[j], right.lane[j]);
  }
  return result;
}

template <ElementType type> struct NumberOf;
#define COLLDSL_TYPE(Name, spelling, CppType, ...)                                                 \
  template <> struct NumberOf<ElementType::Name> { using Type = CppType; };
#include "ir/Vocabulary.def"

// One function template, whose mangled names Kernels.cpp knows.
template <unsigned reductionNumber, unsigned typeNumber>
KERNEL void combine(CombineOperands operands) {
  constexpr auto reduction = static_cast<Reduction>(reductionNumber);
  using T = typename NumberOf<static_cast<ElementType>(typeNumber)>::Type;
  using One = Lanes<T, 1>;
  constexpr unsigned perVector = kVectorBytes / sizeof(One);
  using Vector = Lanes<T, perVector>;

  const uint64_t body = operands.head * sizeof(One);
  for (uint64_t i = threadNumber(); i < operands.vectors; i += threadCount()) {
    uint64_t at = body + i * kVectorBytes;
    auto result = combineLanes<reduction, T, perVector>(
        operands, at, [](uint64_t address) { return std::bit_cast<Vector>(load<Words>(address)); });
    storeWords(operands.target + at, std::bit_cast<Words>(result));
  }

  const uint64_t inVectors = operands.vectors * perVector;
  for (uint64_t i = threadNumber(); i < operands.elements - inVectors; i += threadCount()) {
    uint64_t at = (i < operands.head ? i : i + inVectors) * sizeof(One);
    auto result = combineLanes<reduction, T, 1>(operands, at, [&](uint64_t address) {
      return operands.isAligned ? loadUnits<Part<T>, One>(address)
                                : loadUnits<uint8_t, One>(address);
    });
    if (operands.isAligned)
      storeUnits<Part<T>>(operands.target + at, result);
    else
      storeUnits<uint8_t>(operands.target + at, result);
  }
}

template <typename Unit> DEVICE void copyUnits(const CopyPiece &piece) {
  const uint64_t toBorder = -piece.to % sizeof(Unit);
  const uint64_t head = toBorder < piece.bytes ? toBorder : piece.bytes;
  const uint64_t units = (piece.bytes - head) / sizeof(Unit), inUnits = units * sizeof(Unit);
  for (uint64_t i = threadNumber(); i < units; i += threadCount()) {
    uint64_t at = head + i * sizeof(Unit);
    store(piece.to + at, load<Unit>(piece.from + at));
  }
  for (uint64_t i = threadNumber(); i < piece.bytes - inUnits; i += threadCount()) {
    uint64_t at = i < head ? i : i + inUnits;
    store(piece.to + at, load<uint8_t>(piece.from + at));
  }
}

KERNEL void copyPieces(CopyOperands operands) {
  const CopyPiece &piece = operands.pieces[__nvvm_read_ptx_sreg_ctaid_y()];
  switch (unitBytes(piece)) {
  case sizeof(Words):
    return copyUnits<Words>(piece);
  case sizeof(uint32_t):
    return copyUnits<uint32_t>(piece);
  }
  copyUnits<uint8_t>(piece);
}

// The host's side of this text refers to all kernels, so that the compiler makes them.
template <unsigned number> const void *kernelOf() {
  constexpr unsigned reduction = number / kElementTypes, type = number % kElementTypes;
  constexpr auto reductionOf = static_cast<Reduction>(reduction);
  constexpr auto typeOf = static_cast<ElementType>(type);
  if constexpr (isDefined(reductionOf, typeOf) && kernelType(reductionOf, typeOf) == typeOf)
    return reinterpret_cast<const void *>(combine<reduction, type>);
  else
    return nullptr;
}
template <unsigned... numbers> auto kernelsOf(std::integer_sequence<unsigned, numbers...>) {
  return std::array{kernelOf<numbers>()...};
}
auto allKernels() {
  return kernelsOf(std::make_integer_sequence<unsigned, kReductions * kElementTypes>());
}

} // namespace colldsl::device
