#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

// Pages of section 1 in the macros of man(7), from the tables of which --help is made.

namespace colldsl::tools {
namespace {

/// The text with roff's special characters escaped.
std::string roff(llvm::StringRef text) {
  std::string escaped;
  bool beginsLine = true;
  for (char c : text) {
    if (beginsLine && (c == '.' || c == '\''))
      escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    beginsLine = c == '\n';
  }
  return escaped;
}

/// The text as one argument of a macro.
std::string quoted(llvm::StringRef text) {
  std::string escaped = roff(text);
  for (size_t at = 0; (at = escaped.find('"', at)) != std::string::npos; at += 4)
    escaped.replace(at, 1, "\\(dq");
  return "\"" + escaped + "\"";
}

void printHead(const std::string &name, llvm::StringRef summary, llvm::raw_ostream &out) {
  out << ".TH " << quoted(llvm::StringRef(name).upper()) << " 1 \"\" "
      << quoted("colldsl " COLLDSL_VERSION) << " \"User Commands\"\n"
      << ".SH NAME\n"
      << roff(name) << " \\- " << roff(summary) << "\n";
}

void printExitStatus(llvm::raw_ostream &out) {
  out << ".SH \"EXIT STATUS\"\n"
         ".TP\n.B 0\nSuccess.\n"
         ".TP\n.B 1\nWrong input, a refused proof, a wrong result.\n"
         ".TP\n.B 2\nThe command line makes no sense.\n";
}

void printPage(const CommandHelp &command, llvm::raw_ostream &out) {
  printHead(("colldsl-" + command.name).str(), command.summary, out);
  out << ".SH SYNOPSIS\n.B colldsl " << roff(command.name) << "\n"
      << roff(command.table.operands) << "\n"
      << ".SH DESCRIPTION\n"
      << roff(command.table.description) << "\n.SH OPTIONS\n";
  llvm::StringRef section;
  for (const OptionTable::Row &row : command.table.rows) {
    if (row.section != section && row.section != "options")
      out << ".SS " << quoted(row.section) << "\n";
    section = row.section;
    out << ".TP\n\\fB" << roff(row.name) << "\\fR";
    if (!row.value.empty())
      out << " \\fI" << roff(row.value) << "\\fR";
    out << "\n" << roff(row.help) << "\n";
  }
  printExitStatus(out);
  out << ".SH \"SEE ALSO\"\n.BR colldsl (1)\n";
}

void printPage(const std::vector<CommandHelp> &all, llvm::raw_ostream &out) {
  printHead("colldsl", "compile, prove and run communication schedules", out);
  out << ".SH SYNOPSIS\n.B colldsl\n.I COMMAND\n[OPTION...] [OPERAND...]\n.SH COMMANDS\n";
  for (const CommandHelp &command : all)
    out << ".TP\n.B " << roff(command.name) << "\n" << roff(command.summary) << "\n";
  printExitStatus(out);
  out << ".SH \"SEE ALSO\"\n";
  for (const CommandHelp &command : all)
    out << ".BR " << roff(("colldsl-" + command.name).str()) << " (1)"
        << (&command == &all.back() ? "\n" : ",\n");
}

} // namespace

Exit manCommand(Arguments arguments) {
  Options options("man", "[COMMAND]",
                  "Prints the manual page of a command, or that of the program, for man(1):\n"
                  "colldsl man verify | man -l -");
  options.completeOperands(completionOfNames(Completion::Names::Commands));
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() > 1)
    return options.refuse("name one command");
  std::vector<CommandHelp> all = allCommands();
  if (options.operands().empty()) {
    printPage(all, llvm::outs());
    return Exit::Success;
  }
  const std::string &name = options.operands().front();
  auto command = std::find_if(all.begin(), all.end(), [&](auto &c) { return c.name == name; });
  if (command == all.end())
    return options.refuse("there is no command '" + name + "'; `colldsl --help` lists them");
  printPage(*command, llvm::outs());
  return Exit::Success;
}

} // namespace colldsl::tools
