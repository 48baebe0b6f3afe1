#include "tools/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

constexpr llvm::StringLiteral kZshQuote = "'\\''";

// usage: _colldsl_offer LIST FOLDERS GLOB WORD...; LIST: commas between words.
constexpr llvm::StringLiteral kZshOffer = R"(_colldsl_offer() {
  local list=$1 folders=$2 glob=$3 found=1
  shift 3
  if (( $# )); then
    local -a whole=(${@:#*[=:]}) begun=(${(M)@:#*[=:]})
    if [[ -n $list && $PREFIX =~ '^(([^,{]|\{[^}]*\})*,)' ]]; then
      compset -p ${#MATCH}
    fi
    if [[ -n $list ]]; then
      compadd -Q -S '' -a whole && found=0
    else
      compadd -Q -a whole && found=0
    fi
    compadd -Q -S '' -a begun && found=0
  fi
  [[ -n $glob ]] && _files -g $glob && found=0
  [[ -n $folders ]] && _files -/ && found=0
  return found
}
)";

std::string escaped(llvm::StringRef text) {
  std::string all;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      all += '\\';
    all += c;
  }
  return all;
}

std::string globOf(const Completion &completion) {
  if (!completion.isFile)
    return "";
  if (completion.extensions.size() < 2) // in brackets one would be a qualifier
    return "*" + llvm::join(completion.extensions, "");
  return "*(" + llvm::join(completion.extensions, "|") + ")";
}

void printZshCompletion(size_t number, const Completion &completion, llvm::raw_ostream &out) {
  out << "_colldsl_" << number << "() {\n  _colldsl_offer "
      << (completion.separator != 0 ? "1" : "''") << " " << (completion.isFolder ? "1" : "''")
      << " " << inQuotes(globOf(completion), kZshQuote) << " "
      << allInQuotes(completion.words, kZshQuote) << "\n}\n";
}

std::string actionOf(const CompletionTables &tables, const Completion &completion) {
  std::optional<size_t> number = tables.numberOf(completion);
  return number ? "_colldsl_" + std::to_string(*number) : " ";
}

void printZshCommand(const CompletionTables &tables, const CommandHelp &command,
                     llvm::raw_ostream &out) {
  out << "    " << command.name << ")\n      _arguments \\\n"
      << "        '--help[show the options]' \\\n";
  for (const OptionTable::Row &row : command.table.rows) {
    bool isLong = llvm::StringRef(row.name).starts_with("--");
    std::string spec = "*" + row.name + (isLong && !row.value.empty() ? "=" : "") + "[" +
                       escaped(firstLine(row.help)) + "]";
    if (!row.value.empty())
      spec += ":" + escaped(row.value) + ":" + actionOf(tables, row.completion);
    out << "        " << inQuotes(spec, kZshQuote) << " \\\n";
  }
  out << "        '*:operand:" << actionOf(tables, command.table.completion) << "'\n      ;;\n";
}

} // namespace

void printZshScript(const CompletionTables &tables, llvm::raw_ostream &out) {
  out << "#compdef colldsl\n"
         "# zsh completion for colldsl, made by `colldsl completion zsh`.\n"
      << kZshOffer;
  for (size_t i = 0; i < tables.completions().size(); ++i)
    printZshCompletion(i, tables.completions()[i], out);
  out << "_colldsl() {\n"
         "  if ((CURRENT == 2)); then\n"
         "    local -a described=(\n";
  for (const CommandHelp &command : tables.commands())
    out << "      " << inQuotes((command.name + ":" + command.summary).str(), kZshQuote) << "\n";
  out << "    )\n"
         "    _describe command described\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $command in\n";
  for (const CommandHelp &command : tables.commands())
    printZshCommand(tables, command, out);
  out << "  esac\n"
         "}\n"
         "_colldsl \"$@\"\n";
}

} // namespace colldsl::tools
