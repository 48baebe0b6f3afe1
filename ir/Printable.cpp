#include "ir/Printable.h"

#include <algorithm>
#include <array>

namespace colldsl {
namespace {

constexpr uint32_t kInvalid =
    0xfffd; ///< the replacement character stands for bytes of no character

struct Character {
  uint32_t code = kInvalid;
  size_t bytes = 1;
  bool isCutOff = false; ///< the text ends in it
};

bool isPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; }

/// The length in bytes of a UTF-8 character by its first byte; 0: no character begins with it.
size_t lengthOf(unsigned char first) {
  if (first < 0x80)
    return 1;
  return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/// The first character.
Character decode(std::string_view text) {
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  constexpr std::array<unsigned char, 5> kBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  auto first = static_cast<unsigned char>(text[0]);
  size_t length = lengthOf(first);
  uint32_t code = first & kBits[length];
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size())
      return {kInvalid, 1, true};
    auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80)
      return {};
    code = code << 6 | (next & 0x3fu);
  }
  bool isSurrogate = code >= 0xd800 && code < 0xe000;
  bool isValid = length != 0 && code >= kLeast[length] && code <= 0x10ffff && !isSurrogate;
  return isValid ? Character{code, length} : Character{};
}

bool isMasked(uint32_t code) {
  struct Span {
    uint32_t first, last;
  };
  constexpr Span kSpans[] = {{0x00, 0x08},        {0x0b, 0x1f},     // C0
                             {0x7f, 0x9f},                          // DEL, C1
                             {0x061c, 0x061c},    {0x200e, 0x200f}, // marks of direction
                             {0x2028, 0x202e}, // separators, embeddings, overrides
                             {0x2066, 0x2069}, // isolates
                             {kInvalid, kInvalid}};
  return std::any_of(std::begin(kSpans), std::end(kSpans),
                     [&](const Span &span) { return span.first <= code && code <= span.last; });
}

void appendEscape(std::string &out, uint32_t code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += kHex[code >> shift & 0xf];
}

} // namespace

size_t appendPrintable(std::string &out, std::string_view text, Masking masking, bool mayGoOn) {
  while (!text.empty()) {
    auto plain =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), isPlain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty())
      break;
    Character next = decode(text);
    if (next.isCutOff && mayGoOn)
      return text.size();
    if (!isMasked(next.code))
      out += text.substr(0, next.bytes);
    else if (masking == Masking::QuestionMarks)
      out.append(next.bytes, '?');
    else
      appendEscape(out, next.code);
    text.remove_prefix(next.bytes);
  }
  return 0;
}

std::string printable(std::string_view text) {
  std::string out;
  appendPrintable(out, text, Masking::QuestionMarks, /*mayGoOn=*/false);
  return out;
}

} // namespace colldsl
