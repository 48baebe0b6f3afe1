#include "tools/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

constexpr llvm::StringLiteral kFishQuote = "\\'";

// Functions of the script: the value at the cursor, also in `--option=VALUE`; words of a list,
// behind those that are typed; files by their extensions, and folders.
constexpr llvm::StringLiteral kFishFunctions = R"(function __colldsl_value
  commandline -ct | string replace -r -- '^--[^=]*=' ''
end
function __colldsl_list
  set -l head (string match -r -- '^(?:(?:[^,{]|\{[^}]*\})*,)?' (__colldsl_value))
  printf '%s\n' $head$argv
end
function __colldsl_files
  set -l others
  set -l found 0
  for entry in (__fish_complete_path (__colldsl_value) | string replace -r -- '\t.*' '')
    if string match -q -- '*/' $entry
      echo $entry
    else if not set -q argv[1]
      echo $entry
    else if contains -- (string match -r -- '\.[^./]*$' $entry) $argv
      echo $entry
      set found 1
    else
      set -a others $entry
    end
  end
  test $found = 0; and set -q others[1]; and printf '%s\n' $others
end
)";

/// The argument of `-a`, the words to offer; empty: none.
std::string offerOf(const CompletionTables &tables, const Completion &completion) {
  if (!tables.numberOf(completion))
    return "";
  std::vector<std::string> parts;
  std::string words = llvm::join(completion.words, " ");
  if (!words.empty() && completion.separator != 0)
    parts.push_back("(__colldsl_list " + allInQuotes(completion.words, kFishQuote) + ")");
  else if (!words.empty())
    parts.push_back(words);
  if (completion.isFile)
    parts.push_back("(__colldsl_files " + llvm::join(completion.extensions, " ") + ")");
  if (completion.isFolder)
    parts.push_back("(__fish_complete_directories (__colldsl_value))");
  return inQuotes(llvm::join(parts, " "), kFishQuote);
}

void printFishCommand(const CompletionTables &tables, const CommandHelp &command,
                      llvm::raw_ostream &out) {
  std::string when =
      ("complete -c colldsl -n '__fish_seen_subcommand_from " + command.name + "'").str();
  for (const OptionTable::Row &row : command.table.rows) {
    llvm::StringRef name(row.name);
    bool isLong = name.consume_front("--");
    name.consume_front("-");
    std::string offer = offerOf(tables, row.completion);
    out << when
        << (isLong             ? " -l "
            : name.size() == 1 ? " -s "
                               : " -o ")
        << name << (row.value.empty() ? "" : " -x") << (offer.empty() ? "" : " -a " + offer)
        << " -d " << inQuotes(firstLine(row.help), kFishQuote) << "\n";
  }
  std::string offer = offerOf(tables, command.table.completion);
  out << when << " -f" << (offer.empty() ? "" : " -a " + offer) << "\n";
}

} // namespace

void printFishScript(const CompletionTables &tables, llvm::raw_ostream &out) {
  out << "# fish completion for colldsl, made by `colldsl completion fish`.\n"
      << kFishFunctions << "set -l commands " << tables.commandNames() << "\n";
  for (const CommandHelp &command : tables.commands())
    out << "complete -c colldsl -f -n \"not __fish_seen_subcommand_from $commands\" -a "
        << command.name << " -d " << inQuotes(command.summary, kFishQuote) << "\n";
  for (const CommandHelp &command : tables.commands())
    printFishCommand(tables, command, out);
}

} // namespace colldsl::tools
