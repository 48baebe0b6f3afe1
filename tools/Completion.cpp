#include "compiler/Compile.h"
#include "tools/Commands.h"
#include "tools/library/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

// Scripts for shells, from the tables of which --help is made. A script has all words in it: to
// complete one starts no process of colldsl.

namespace colldsl::tools {
namespace {

using llvm::StringRef;
using Row = OptionTable::Row;

/// Whether an operand or a value of that name is a file.
bool isFile(StringRef value) {
  return value.contains("FILE") || value.contains("DIR") || value.contains("LIB") ||
         value.contains("PATH");
}

/// Collectives of the standard library and functions with rules.
std::string operandNames() {
  Compilation library = compileFiles({});
  std::vector<std::string> names;
  for (StringRef function : functionNames())
    names.push_back(function.str());
  for (const Decl &decl : library.program().decls)
    if (decl.kind == DeclKind::Collective)
      names.push_back(library.program().nameOf(decl));
  return llvm::join(names, " ");
}

bool takesCollectives(const CommandHelp &command) {
  StringRef operands = command.table.operands;
  return operands.contains("COLLECTIVE") || operands.contains("NAME");
}

std::string commandNames(const std::vector<CommandHelp> &all) {
  std::vector<StringRef> names;
  for (const CommandHelp &command : all)
    names.push_back(command.name);
  return llvm::join(names, " ");
}

std::string firstLine(StringRef text) { return text.split('\n').first.rtrim().str(); }

/// In single quotes.
std::string quoted(StringRef text, StringRef quote) {
  std::string all;
  for (char c : text)
    all += c == '\'' ? quote.str() : std::string(1, c);
  return "'" + all + "'";
}

// bash

/// "--a|--b": options with a value that is, or is none, a file.
std::string optionsWithValue(const CommandHelp &command, bool ofFiles) {
  std::vector<StringRef> names;
  for (const Row &row : command.table.rows)
    if (!row.value.empty() && isFile(row.value) == ofFiles)
      names.push_back(row.name);
  return llvm::join(names, "|");
}

void printBashCase(const CommandHelp &command, llvm::raw_ostream &out) {
  out << "    " << command.name << ")\n";
  std::string ofFiles = optionsWithValue(command, true), others = optionsWithValue(command, false);
  if (!ofFiles.empty() || !others.empty()) {
    out << "      case $previous in\n";
    if (!ofFiles.empty())
      out << "        " << ofFiles
          << ") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\"))"
          << "; return ;;\n";
    if (!others.empty())
      out << "        " << others << ") return ;;\n";
    out << "      esac\n";
  }
  out << "      options='--help";
  for (const Row &row : command.table.rows)
    out << " " << row.name;
  out << "'\n";
  if (takesCollectives(command))
    out << "      names=$collectives\n";
  if (command.name == "man")
    out << "      names=$commands\n";
  if (command.name == "completion")
    out << "      names='bash zsh fish'\n";
  out << "      ;;\n";
}

void printBash(const std::vector<CommandHelp> &all, llvm::raw_ostream &out) {
  out << "# bash completion for colldsl, made by `colldsl completion bash`.\n"
         "_colldsl() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local commands='"
      << commandNames(all)
      << "'\n"
         "  local collectives='"
      << operandNames()
      << "'\n"
         "  local options= names=\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n";
  for (const CommandHelp &command : all)
    printBashCase(command, out);
  out << "    *) return ;;\n"
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  else\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    COMPREPLY=($(compgen -W \"$names\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -F _colldsl colldsl\n";
}

// zsh

std::string zshWords(StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void printZshCase(const CommandHelp &command, llvm::raw_ostream &out) {
  out << "    " << command.name << ")\n      _arguments \\\n"
      << "        '--help[show the options]' \\\n";
  for (const Row &row : command.table.rows) {
    std::string spec = "*" + row.name + "[" + zshWords(firstLine(row.help)) + "]";
    if (!row.value.empty())
      spec += ":" + zshWords(row.value) + ":" + (isFile(row.value) ? "_files" : " ");
    out << "        " << quoted(spec, "'\\''") << " \\\n";
  }
  if (takesCollectives(command))
    out << "        '*:operand:_colldsl_operands'\n";
  else if (command.name == "man")
    out << "        \"*:command:($commands)\"\n";
  else if (command.name == "completion")
    out << "        '*:shell:(bash zsh fish)'\n";
  else
    out << "        '*:operand:_files'\n";
  out << "      ;;\n";
}

void printZsh(const std::vector<CommandHelp> &all, llvm::raw_ostream &out) {
  out << "#compdef colldsl\n"
         "# zsh completion for colldsl, made by `colldsl completion zsh`.\n"
         "_colldsl_operands() {\n"
         "  local -a collectives=("
      << operandNames()
      << ")\n"
         "  _alternative \"names:collective:(${collectives[*]})\" 'files:file:_files'\n"
         "}\n"
         "_colldsl() {\n"
         "  local commands='"
      << commandNames(all)
      << "'\n"
         "  if ((CURRENT == 2)); then\n"
         "    local -a described=(\n";
  for (const CommandHelp &command : all)
    out << "      " << quoted((command.name + ":" + command.summary).str(), "'\\''") << "\n";
  out << "    )\n"
         "    _describe command described\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $command in\n";
  for (const CommandHelp &command : all)
    printZshCase(command, out);
  out << "  esac\n"
         "}\n"
         "_colldsl \"$@\"\n";
}

// fish

void printFish(const std::vector<CommandHelp> &all, llvm::raw_ostream &out) {
  out << "# fish completion for colldsl, made by `colldsl completion fish`.\n"
         "set -l commands "
      << commandNames(all)
      << "\n"
         "set -l collectives "
      << operandNames() << "\n";
  for (const CommandHelp &command : all)
    out << "complete -c colldsl -f -n \"not __fish_seen_subcommand_from $commands\" -a "
        << command.name << " -d " << quoted(command.summary, "\\'") << "\n";
  for (const CommandHelp &command : all) {
    std::string when =
        ("complete -c colldsl -n '__fish_seen_subcommand_from " + command.name + "'").str();
    for (const Row &row : command.table.rows) {
      StringRef name(row.name);
      bool isLong = name.consume_front("--");
      name.consume_front("-");
      out << when
          << (isLong             ? " -l "
              : name.size() == 1 ? " -s "
                                 : " -o ")
          << name
          << (row.value.empty()   ? ""
              : isFile(row.value) ? " -rF"
                                  : " -x")
          << " -d " << quoted(firstLine(row.help), "\\'") << "\n";
    }
    if (takesCollectives(command))
      out << when << " -a \"$collectives\"\n";
    if (command.name == "man")
      out << when << " -f -a \"$commands\"\n";
    if (command.name == "completion")
      out << when << " -f -a 'bash zsh fish'\n";
  }
}

} // namespace

Exit completionCommand(Arguments arguments) {
  Options options("completion", "bash|zsh|fish",
                  "Prints the script by which a shell completes commands, options, files and\n"
                  "collectives. For bash: source <(colldsl completion bash)");
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() != 1)
    return options.refuse("name one shell: bash, zsh or fish");
  StringRef shell = options.operands().front();
  if (shell == "bash")
    printBash(allCommands(), llvm::outs());
  else if (shell == "zsh")
    printZsh(allCommands(), llvm::outs());
  else if (shell == "fish")
    printFish(allCommands(), llvm::outs());
  else
    return options.refuse("there is no script for '" + shell + "': bash, zsh or fish");
  return Exit::Success;
}

} // namespace colldsl::tools
