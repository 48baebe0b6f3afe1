/// Lists such as "a=1,b=2", and "0,6,8-11", as the command line and the environment give them.
#pragma once

#include <string_view>
#include <vector>

namespace colldsl {

/// The pieces between separators. An empty text has one piece, which is empty.
std::vector<std::string_view> splitList(std::string_view text, char separator);

enum class Braces : bool { Plain, Nest };
/// Takes the next piece from the text, and the separator behind it. A piece ends before a separator
/// or with the text. If braces nest, separators in them separate nothing.
std::string_view takePiece(std::string_view &text, char separator, Braces braces = Braces::Plain);

/// An entry of "a=1,b=2".
struct OptionEntry {
  std::string_view text, name;
  std::string_view value;  ///< empty, too, if there is no equals sign
  bool hasValue = false;   ///< there is an equals sign
  bool isRepeated = false; ///< an entry before it has the same name
};
std::vector<OptionEntry> parseOptions(const std::vector<std::string_view> &pieces);
/// Variant of parseOptions() for the pieces that takePiece() takes: a separator may stand behind
/// the last one.
std::vector<OptionEntry> parseOptions(std::string_view text, char separator,
                                      Braces braces = Braces::Plain);

} // namespace colldsl
