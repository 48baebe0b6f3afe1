#include "driver/explain/Explanations.h"
#include "driver/files/FileKind.h"
#include "driver/files/ReadInput.h"
#include "driver/files/WriteFile.h"
#include "driver/source/FormatText.h"
#include "driver/source/RenderInFiles.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/ResultStream.h"

namespace colldsl::tools {
namespace {

enum class Use : uint8_t { Print, Write, Check };

/// Both texts; nothing, after a message: the file cannot be read or does not parse.
struct Formatted {
  std::string before, after;
};
std::optional<Formatted> formatFile(const std::string &operand, const ParseLimits &limits) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(operand);
  if (!input) {
    printError(input.status().diagnostic());
    return std::nullopt;
  }
  if (Status s = refuseForeign((*input)->getBuffer(), shownName(operand)); !s) {
    printError(s.diagnostic());
    return std::nullopt;
  }
  Formatted result;
  result.before = (*input)->getBuffer().str(); // a mapped file may be cut off while it is parsed
  std::vector<Diagnostic> errors;
  std::optional<std::string> after = formatText(result.before, limits, errors);
  addExplanationNote(errors);
  for (const Diagnostic &error : errors)
    errorStream() << renderInFiles(error, {shownName(operand)},
                                   [&](llvm::StringRef) { return input->get(); });
  if (!after)
    return std::nullopt;
  result.after = std::move(*after);
  return result;
}

bool use(const std::string &operand, const Formatted &text, Use how) {
  bool changes = text.before != text.after;
  switch (how) {
  case Use::Print:
    llvm::outs() << text.after;
    return true;
  case Use::Check:
    if (changes)
      resultStream() << shownName(operand) << "\n";
    return !changes;
  case Use::Write:
    break;
  }
  if (!changes)
    return true;
  Status status = writeFile(operand, [&](llvm::raw_ostream &out) {
    out << text.after;
    return Status();
  });
  return status || printError(status.diagnostic());
}

} // namespace

Exit fmtCommand(Arguments arguments) {
  bool write = false, check = false;
  ParseLimits limits;
  Options options(
      "fmt", "[FILE]... [OPTION...]",
      "Formats source text (.coll): indentation, blanks, empty lines. Line breaks and\n"
      "comments stay, and so do columns of blanks before `=`, `{` and comments. The result\n"
      "goes to the standard output; without a FILE, the standard input is read.");
  options.completeOperands(completionOfFiles({".coll"}));
  options.addFlag("--write", "write each FILE in place, if it changes", write);
  options.addFlag("--check",
                  "print the names of those that would change, and fail if there are any", check);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (write && check)
    return options.refuse("--write and --check exclude each other");
  std::vector<std::string> files = options.operands();
  if (files.empty())
    files.push_back("-");
  if (write && descriptorNamed(files.front()) >= 0)
    return options.refuse("--write needs files, and not the standard input");
  if (files.size() > 1 && !write && !check)
    return options.refuse("several files go with --write or --check only");
  bool fine = true;
  for (const std::string &file : files) {
    std::optional<Formatted> text = formatFile(file, limits);
    fine &= text && use(file, *text, write ? Use::Write : check ? Use::Check : Use::Print);
  }
  return fine ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
