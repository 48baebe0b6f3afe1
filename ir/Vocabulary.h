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
#define COLLDSL_REDUCTION(Name, spelling, commutative) Name,
#include "ir/Vocabulary.def"
};

enum class ElementType : uint8_t {
#define COLLDSL_TYPE(Name, spelling, CppType) Name,
#include "ir/Vocabulary.def"
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

inline constexpr unsigned kOpKinds = 7;
inline constexpr unsigned kReductions = 11;
inline constexpr unsigned kElementTypes = 10;
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
uint32_t sizeBytes(ElementType type);

constexpr bool sendsMessage(OpKind k) { return k == OpKind::Send || k == OpKind::Signal; }
constexpr bool receivesMessage(OpKind k) { return k == OpKind::Recv || k == OpKind::Wait; }
constexpr bool isMessage(OpKind k) { return sendsMessage(k) || receivesMessage(k); }

} // namespace colldsl
