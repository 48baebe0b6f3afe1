/// Lists such as "a=1,b=2", and "0,6,8-11", as the command line and the environment give them.
#pragma once

#include <string_view>
#include <vector>

namespace colldsl {

/// The pieces between separators. Where text is empty there is one, which is empty.
std::vector<std::string_view> splitList(std::string_view text, char separator);

enum class Braces : bool { Plain, Nest };
/// The next piece, which ends before a separator or with the text, and is taken from it with its
/// separator. Where braces nest, separators in them separate nothing.
std::string_view takePiece(std::string_view &text, char separator, Braces braces = Braces::Plain);

/// One of "a=1,b=2".
struct OptionEntry {
  std::string_view text, name;
  std::string_view value;  ///< empty, too, if there is no equals sign
  bool hasValue = false;   ///< there is one
  bool isRepeated = false; ///< an entry before it has the same name
};
std::vector<OptionEntry> parseOptions(const std::vector<std::string_view> &pieces);
/// Of pieces that takePiece() takes: behind the last one there may be a separator.
std::vector<OptionEntry> parseOptions(std::string_view text, char separator,
                                      Braces braces = Braces::Plain);

} // namespace colldsl
