#include "ir/Vocabulary.h"

#include "ir/SmallFloat.h"

#include <array>
#include <complex>
#include <cstddef>

namespace colldsl {
namespace {

constexpr std::array kOpSpellings = {
#define COLLDSL_OP(Name, spelling, summary) std::string_view(spelling),
#include "ir/Vocabulary.def"
};
constexpr std::array kOpSummaries = {
#define COLLDSL_OP(Name, spelling, summary) std::string_view(summary),
#include "ir/Vocabulary.def"
};
constexpr std::array kReductionSpellings = {
#define COLLDSL_REDUCTION(Name, spelling, ...) std::string_view(spelling),
#include "ir/Vocabulary.def"
};
constexpr std::array kCommutative = {
#define COLLDSL_REDUCTION(Name, spelling, commutative, ...) commutative,
#include "ir/Vocabulary.def"
};
constexpr std::array kOfCallers = {
#define COLLDSL_REDUCTION(...) true,
#define COLLDSL_STAND_IN(...) false,
#include "ir/Vocabulary.def"
};
constexpr std::array kTypeSpellings = {
#define COLLDSL_TYPE(Name, spelling, ...) std::string_view(spelling),
#include "ir/Vocabulary.def"
};
constexpr std::array kTypeSizes = {
#define COLLDSL_TYPE(Name, spelling, CppType, ...) uint32_t{sizeof(CppType)},
#include "ir/Vocabulary.def"
};
constexpr std::array kArithmetic = {
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, ...) Arithmetic::arithmetic,
#include "ir/Vocabulary.def"
};
constexpr std::array<std::string_view, 4> kRoleSpellings = {"in", "out", "inout", "temp"};

constexpr std::array<std::string_view, kProtocols> kProtocolSpellings = {
#define COLLDSL_PROTOCOL(Name, spelling, summary) spelling,
#include "ir/Vocabulary.def"
};

constexpr std::array<std::string_view, kMovers> kMoverSpellings = {
#define COLLDSL_MOVER(Name, spelling) spelling,
#include "ir/Vocabulary.def"
};

template <typename Enum, size_t N>
std::optional<Enum> parseWord(const std::array<std::string_view, N> &words, std::string_view text) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == text)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace

std::string_view spelling(OpKind kind) { return kOpSpellings[static_cast<size_t>(kind)]; }
std::string_view spelling(Reduction r) { return kReductionSpellings[static_cast<size_t>(r)]; }
std::string_view spelling(ElementType t) { return kTypeSpellings[static_cast<size_t>(t)]; }
std::string_view spelling(Side side) { return side == Side::Before ? "before" : "after"; }
std::string_view spelling(BufferRole role) { return kRoleSpellings[static_cast<size_t>(role)]; }
std::string_view spelling(Protocol p) { return kProtocolSpellings[static_cast<size_t>(p)]; }
std::string_view spelling(Mover mover) { return kMoverSpellings[static_cast<size_t>(mover)]; }

std::optional<OpKind> parseOpKind(std::string_view text) {
  return parseWord<OpKind>(kOpSpellings, text);
}
std::optional<Reduction> parseReduction(std::string_view text) {
  return parseWord<Reduction>(kReductionSpellings, text);
}
std::optional<ElementType> parseElementType(std::string_view text) {
  return parseWord<ElementType>(kTypeSpellings, text);
}
std::optional<BufferRole> parseBufferRole(std::string_view text) {
  return parseWord<BufferRole>(kRoleSpellings, text);
}
std::optional<Protocol> parseProtocol(std::string_view text) {
  return parseWord<Protocol>(kProtocolSpellings, text);
}
std::optional<Mover> parseMover(std::string_view text) {
  return parseWord<Mover>(kMoverSpellings, text);
}

std::string_view summary(OpKind kind) { return kOpSummaries[static_cast<size_t>(kind)]; }
bool isCommutative(Reduction r) { return kCommutative[static_cast<size_t>(r)]; }
bool isOfCallers(Reduction r) { return kOfCallers[static_cast<size_t>(r)]; }
Arithmetic arithmetic(ElementType t) { return kArithmetic[static_cast<size_t>(t)]; }
std::optional<ElementType> findType(Arithmetic arithmetic, uint64_t bytes) {
  for (size_t i = 0; i < kElementTypes; ++i)
    if (kArithmetic[i] == arithmetic && kTypeSizes[i] == bytes)
      return static_cast<ElementType>(i);
  return std::nullopt;
}
uint32_t sizeBytes(ElementType t) { return kTypeSizes[static_cast<size_t>(t)]; }

} // namespace colldsl
