#include "tools/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

constexpr llvm::StringLiteral kQuote = "'\\''";

// Offers completions of $1 from `words`, `extensions` and so on. bash splits a word at '=' and ':'
// and replaces the last piece alone.
constexpr llvm::StringLiteral kOffer = R"(_colldsl_offer() {
  local value=$1 head= word entry
  [[ $list && $value =~ ^(([^,{]|\{[^}]*\})*,)? ]] && head=${BASH_REMATCH[0]}
  for word in "${words[@]}"; do
    [[ $head$word == "$value"* ]] && COMPREPLY+=("$head$word")
  done
  if [[ $list || ( ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ) ]]; then
    compopt -o nospace 2>/dev/null
  fi
  if [[ $files || $folders ]]; then
    [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o filenames 2>/dev/null
    local -a fitting=() others=()
    while IFS= read -r entry; do
      if [[ -d $entry ]]; then
        fitting+=("$entry")
      elif [[ $files ]]; then
        others+=("$entry")
        for word in "${extensions[@]}"; do
          [[ $entry == *"$word" ]] && fitting+=("$entry")
        done
      fi
    done < <(compgen -f -- "$value")
    [[ ${#extensions[@]} -eq 0 || ${#fitting[@]} -eq 0 ]] && fitting+=("${others[@]}")
    COMPREPLY+=("${fitting[@]}")
  fi
  local pieces=${value%"${value##*[=:]}"}
  COMPREPLY=("${COMPREPLY[@]#"$pieces"}")
}
)";

constexpr llvm::StringLiteral kMain = R"(_colldsl() {
  local -a line=() words=() extensions=()
  local list= files= folders= joins= i word
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && ( $joins || $word == [=:]* ) ]]; then
      line[${#line[@]}-1]+=$word
    else
      line+=("$word")
    fi
    [[ $word == [=:] ]] && joins=1 || joins=
  done
  COMPREPLY=()
  local count=${#line[@]}
  local command=${line[1]} previous=${line[count-2]}
  word=${line[count-1]}
  if ((count == 2)); then
    _colldsl_commands
    _colldsl_offer "$word"
  elif [[ $word == --*=* ]] && _colldsl_value "$command ${word%%=*}"; then
    _colldsl_offer "${word#*=}"
  elif _colldsl_value "$command $previous"; then
    _colldsl_offer "$word"
  elif [[ $word == -* ]]; then
    _colldsl_options "$command"
    _colldsl_offer "$word"
  else
    _colldsl_operands "$command"
    _colldsl_offer "$word"
  fi
}
complete -F _colldsl colldsl
)";

void printCompletion(size_t number, const Completion &completion, llvm::raw_ostream &out) {
  out << "_colldsl_" << number << "() {\n";
  if (!completion.words.empty())
    out << "  words=(" << allInQuotes(completion.words, kQuote) << ")\n";
  if (completion.separator != 0)
    out << "  list=1\n";
  if (completion.isFile)
    out << "  files=1 extensions=(" << allInQuotes(completion.extensions, kQuote) << ")\n";
  if (completion.isFolder)
    out << "  folders=1\n";
  out << "}\n";
}

/// "'verify --op' | 'run --op'": options with the same completion.
std::string optionsOf(const CompletionTables &tables, std::optional<size_t> number) {
  std::vector<std::string> patterns;
  for (const CommandHelp &command : tables.commands())
    for (const OptionTable::Row &row : command.table.rows)
      if (!row.value.empty() && tables.numberOf(row.completion) == number)
        patterns.push_back("'" + command.name.str() + " " + row.name + "'");
  return llvm::join(patterns, " | ");
}

void printValues(const CompletionTables &tables, llvm::raw_ostream &out) {
  out << "_colldsl_value() {\n  case $1 in\n";
  for (size_t i = 0; i < tables.completions().size(); ++i)
    if (std::string options = optionsOf(tables, i); !options.empty())
      out << "    " << options << ") _colldsl_" << i << " ;;\n";
  out << "    " << optionsOf(tables, std::nullopt) << ") ;;\n"
      << "    *) return 1 ;;\n  esac\n}\n";
}

} // namespace

void printBashScript(const CompletionTables &tables, llvm::raw_ostream &out) {
  out << "# bash completion for colldsl, made by `colldsl completion bash`.\n";
  for (size_t i = 0; i < tables.completions().size(); ++i)
    printCompletion(i, tables.completions()[i], out);
  out << "_colldsl_commands() {\n  words=(" << tables.commandNames() << " --help --version)\n}\n";
  printValues(tables, out);
  out << "_colldsl_options() {\n  case $1 in\n";
  for (const CommandHelp &command : tables.commands()) {
    out << "    " << command.name << ") words=(--help";
    for (const OptionTable::Row &row : command.table.rows)
      out << " " << row.name;
    out << ") ;;\n";
  }
  out << "  esac\n}\n_colldsl_operands() {\n  case $1 in\n";
  for (const CommandHelp &command : tables.commands())
    if (std::optional<size_t> number = tables.numberOf(command.table.completion))
      out << "    " << command.name << ") _colldsl_" << *number << " ;;\n";
  out << "  esac\n}\n" << kOffer << kMain;
}

} // namespace colldsl::tools
