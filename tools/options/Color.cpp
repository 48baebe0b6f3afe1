#include "tools/options/Color.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <unistd.h>

namespace colldsl::tools {
namespace {

using llvm::StringRef;

struct Word {
  StringRef word;
  Color color;
};

constexpr Word kSeverities[] = {
    {"error: ", Color::Red}, {"warning: ", Color::Magenta}, {"note: ", Color::Cyan}};
constexpr Word kVerdicts[] = {
    {": proved", Color::Green}, {": refused", Color::Red}, {": nothing was proved", Color::Yellow}};

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

StringRef codeOf(Color color) {
  switch (color) {
  case Color::Bold:
    return "1";
  case Color::Red:
    return "1;31";
  case Color::Green:
    return "1;32";
  case Color::Yellow:
    return "1;33";
  case Color::Magenta:
    return "1;35";
  case Color::Cyan:
    return "1;36";
  }
  llvm_unreachable("no such color");
}

/// True for the line of carets below a line of the source: "      ^~~".
bool isCaret(StringRef line) {
  return line.contains('^') && line.find_first_not_of(" \t^~") == StringRef::npos;
}

} // namespace

bool hasColors(int descriptor) {
  if (isSet("CLICOLOR_FORCE"))
    return true;
  const char *terminal = std::getenv("TERM");
  bool isDumb = !terminal || StringRef(terminal) == "dumb";
  return !isSet("NO_COLOR") && !isDumb && isatty(descriptor) == 1;
}

std::string colored(StringRef text, Color color) {
  return "\x1b[" + codeOf(color).str() + "m" + text.str() + "\x1b[0m";
}

std::string paintedDiagnostic(StringRef line) {
  if (isCaret(line))
    return colored(line, Color::Green);
  if (StringRef rest = line; rest.consume_front("  hint: "))
    return "  " + colored("hint:", Color::Green) + " " + rest.str();
  for (const Word &severity : kSeverities) {
    size_t at = line.find(severity.word);
    if (at == StringRef::npos || (at > 0 && !line.take_front(at).ends_with(": ")))
      continue;
    std::string place = at == 0 ? "" : colored(line.take_front(at), Color::Bold);
    StringRef message = line.drop_front(at + severity.word.size());
    return place + colored(severity.word.rtrim(), severity.color) + " " +
           (severity.color == Color::Cyan ? message.str() : colored(message, Color::Bold));
  }
  return line.str();
}

std::string paintedVerdict(StringRef line) {
  for (const Word &verdict : kVerdicts)
    if (size_t at = line.find(verdict.word); at != StringRef::npos) {
      StringRef word = verdict.word.drop_front(2); // ": "
      return line.take_front(at + 2).str() + colored(word, verdict.color) +
             line.drop_front(at + verdict.word.size()).str();
    }
  return line.str();
}

} // namespace colldsl::tools
