#include "ir/OptionList.h"

#include <algorithm>

namespace colldsl {

std::string_view takePiece(std::string_view &text, char separator, Braces braces) {
  size_t end = 0;
  bool nest = braces == Braces::Nest;
  for (int depth = 0; end < text.size() && (depth > 0 || text[end] != separator); ++end)
    depth += nest ? (text[end] == '{') - (text[end] == '}') : 0;
  std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

std::vector<std::string_view> splitList(std::string_view text, char separator) {
  bool endsOpen = text.empty() || text.back() == separator;
  std::vector<std::string_view> pieces;
  while (!text.empty())
    pieces.push_back(takePiece(text, separator));
  if (endsOpen)
    pieces.emplace_back();
  return pieces;
}

std::vector<OptionEntry> parseOptions(const std::vector<std::string_view> &pieces) {
  std::vector<OptionEntry> entries;
  for (std::string_view piece : pieces) {
    OptionEntry entry;
    entry.text = entry.value = piece;
    entry.name = takePiece(entry.value, '=');
    entry.hasValue = entry.name.size() < piece.size();
    entry.isRepeated = std::ranges::find(entries, entry.name, &OptionEntry::name) != entries.end();
    entries.push_back(entry);
  }
  return entries;
}

std::vector<OptionEntry> parseOptions(std::string_view text, char separator, Braces braces) {
  std::vector<std::string_view> pieces;
  while (!text.empty())
    pieces.push_back(takePiece(text, separator, braces));
  return parseOptions(pieces);
}

} // namespace colldsl
