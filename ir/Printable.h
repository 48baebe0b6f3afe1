/// Text of files, names and arguments as a terminal may get it: without characters that would move
/// its cursor, change its state, or show text in another order than it has. These are C0 (but line
/// feeds and tabs), DEL, C1, the controls of bidirectional text, the separators of lines and
/// paragraphs, and bytes that are no UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace colldsl {

/// The text in the place of such a character.
enum class Masking : uint8_t {
  QuestionMarks, ///< one per byte, so that columns stay
  JsonEscapes,   ///< \u009b, which is the same text in a string of JSON
};

/// Appends the text, masked. If the text may go on, the beginning of a UTF-8 character at its end
/// is left out. Returns the number of these bytes, which the caller gives again with the next ones.
size_t appendPrintable(std::string &out, std::string_view text, Masking masking, bool mayGoOn);

std::string printable(std::string_view text);

} // namespace colldsl
