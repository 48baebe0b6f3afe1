/// Op kinds, reductions and element types: enums and their spellings, expanded
/// from Vocabulary.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace colldsl {

enum class OpKind : uint8_t {
#define COLLDSL_OP(Name, spelling, summary) Name,
#include "ir/Vocabulary.def"
};

enum class Reduction : uint8_t {
#define COLLDSL_REDUCTION(Name, ...) Name,
#include "ir/Vocabulary.def"
};

enum class ElementType : uint8_t {
#define COLLDSL_TYPE(Name, ...) Name,
#include "ir/Vocabulary.def"
};

/// The kind of numbers that a type of elements has.
enum class Arithmetic : uint8_t {
  Signed,
  Unsigned,
  Real,
  SmallReal, ///< less than 32 bits: computed in f32, and each result is rounded
  Complex,
};

/// The side of the incoming operand of a combine: target = source op target
/// (Before) or target = target op source (After).
enum class Side : uint8_t { After, Before };

/// The role of a buffer, for the parameter's owner. Out buffers hold nothing at entry.
enum class BufferRole : uint8_t { In, Out, InOut, Temp };

/// The protocol by which a message travels.
enum class Protocol : uint8_t {
#define COLLDSL_PROTOCOL(Name, spelling, summary) Name,
#include "ir/Vocabulary.def"
};

/// The end of a message that copies it: the receiver reads or the sender writes.
enum class Mover : uint8_t {
#define COLLDSL_MOVER(Name, spelling) Name,
#include "ir/Vocabulary.def"
};

inline constexpr unsigned kOpKinds = 0
#define COLLDSL_OP(...) +1
#include "ir/Vocabulary.def"
    ;
inline constexpr unsigned kReductions = 0
#define COLLDSL_REDUCTION(...) +1
#include "ir/Vocabulary.def"
    ;
inline constexpr unsigned kElementTypes = 0
#define COLLDSL_TYPE(...) +1
#include "ir/Vocabulary.def"
    ;
inline constexpr unsigned kProtocols = 4;
inline constexpr unsigned kMovers = 3;

std::string_view spelling(OpKind kind);
std::string_view spelling(Reduction reduction);
std::string_view spelling(ElementType type);
std::string_view spelling(Side side);
std::string_view spelling(BufferRole role);
std::string_view spelling(Protocol protocol);
std::string_view spelling(Mover mover);

std::optional<OpKind> parseOpKind(std::string_view text);
std::optional<Reduction> parseReduction(std::string_view text);
std::optional<ElementType> parseElementType(std::string_view text);
std::optional<BufferRole> parseBufferRole(std::string_view text);
std::optional<Protocol> parseProtocol(std::string_view text);
std::optional<Mover> parseMover(std::string_view text);

std::string_view summary(OpKind kind);
bool isCommutative(Reduction reduction);
/// True if callers have this operator; false if it only stands for those of callers.
bool isOfCallers(Reduction reduction);
uint32_t sizeBytes(ElementType type);
Arithmetic arithmetic(ElementType type);
/// The first type of this arithmetic and size.
std::optional<ElementType> findType(Arithmetic arithmetic, uint64_t bytes);

constexpr bool sendsMessage(OpKind k) { return k == OpKind::Send || k == OpKind::Signal; }
constexpr bool receivesMessage(OpKind k) { return k == OpKind::Recv || k == OpKind::Wait; }
constexpr bool isMessage(OpKind k) { return sendsMessage(k) || receivesMessage(k); }

} // namespace colldsl
