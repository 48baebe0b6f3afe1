#include "tools/options/Options.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/explain/Explanations.h"
#include "driver/files/WriteFile.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>

namespace colldsl::tools {

Completion &Options::addOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                               std::string &file) {
  outputs_.emplace_back(name.str(), false);
  return addText(name, value, help.str(), file);
}

Completion &Options::addSideOutput(llvm::StringRef name, llvm::StringRef value,
                                   llvm::StringRef help, std::string &file) {
  outputs_.emplace_back(name.str(), true);
  return addText(name, value, help.str(), file);
}

std::optional<Exit> Options::parse(Arguments arguments) {
  if (arguments.table) {
    *arguments.table = table();
    return Exit::Success;
  }
  bool onlyOperands = false;
  for (std::span<const char *const> words = arguments.words; !words.empty();) {
    llvm::StringRef word = words.front();
    words = words.subspan(1);
    bool isOption = !onlyOperands && word.size() > 1 && word.front() == '-';
    if (!isOption) {
      operands_.push_back(word.str());
    } else if (word == "--") {
      onlyOperands = true;
    } else if (word == "--help" || word == "-h") {
      printHelp(resultStream());
      return Exit::Success;
    } else if (std::optional<Exit> exit = parseOption(word, words)) {
      return exit;
    }
  }
  if (Status s = checkOutputs(); !s)
    return refuse(s.message());
  if (Status s = check(printer()); !s)
    return printError(s.diagnostic()), Exit::Failure;
  return std::nullopt;
}

std::optional<Exit> Options::parseOption(llvm::StringRef word, std::span<const char *const> &rest) {
  auto [name, value] = word.split('=');
  bool hasValue = name.size() != word.size();
  Field *option = find(name);
  if (!option)
    return refuseUnknown(name);
  if (option->value.empty() && hasValue)
    return refuse(name + " takes no value");
  if (!option->value.empty() && !hasValue) {
    if (rest.empty())
      return refuse(name + " needs a value: " + name + " " + option->value);
    value = rest.front();
    if (const Field *next = find(value.split('=').first))
      return refuse(name + " needs a value, and " + next->name + " is an option: " + name + "=" +
                    option->value);
    rest = rest.subspan(1);
  }
  Status status = take(*option, value);
  return status ? std::nullopt : std::optional(refuse(status.message()));
}

Status Options::checkOutputs() {
  for (const auto &[name, isSide] : outputs_) {
    const Field &output = *find(name);
    if (output.given.empty())
      continue;
    const std::string &file = output.given.front();
    if (isSide && (file == "-" || file == "/dev/stdout"))
      return Status::error(output.name + ": the standard output is for the report; name a file");
    for (const std::string &operand : operands_)
      if (llvm::sys::fs::exists(operand) && isSameFile(file, operand))
        return Status::error(output.name + ": '" + file + "' is read, too");
    for (const Field &other : all())
      for (const std::string &named : other.given)
        if (&other != &output && other.completion.isFile && isSameFile(file, named))
          return Status::error(output.name + ": '" + file + "' is the file of " + other.name);
  }
  return {};
}

Exit Options::refuse(const llvm::Twine &message) const {
  std::string text = message.str();
  errorStream() << "colldsl " << command_ << ": " << text << "\n";
  if (std::string note = explanationNote(text); !note.empty())
    errorStream() << "colldsl: note: " << note << "\n";
  return Exit::Usage;
}

Exit Options::refuseUnknown(llvm::StringRef name) const {
  std::vector<llvm::StringRef> names{"--help"};
  for (const Field &option : all())
    names.push_back(option.name);
  llvm::StringRef same = name == "-n" ? "--ranks" : name == "--ranks" ? "-n" : "";
  bool hasSame = llvm::is_contained(names, same);
  std::string hint = didYouMean(hasSame ? same : nearestWord(name, names));
  if (hint.empty())
    hint = ("`colldsl " + command_ + " --help` lists them").str();
  return refuse("there is no option '" + name + "'; " + hint);
}

size_t Options::firstOf(llvm::StringRef section) const {
  return static_cast<size_t>(
      llvm::find_if(all(), [&](const Field &o) { return o.section == section; }) - all().begin());
}

OptionTable Options::table() const {
  std::vector<Field> options = all();
  std::stable_sort(options.begin(), options.end(), [this](const Field &a, const Field &b) {
    return firstOf(a.section) < firstOf(b.section);
  });
  OptionTable table{operandsText_.str(), operandCompletion_, description_.str(), {}};
  for (const Field &o : options)
    table.rows.push_back(
        {o.name, o.value, o.help, o.section.empty() ? "options" : o.section, o.completion});
  return table;
}

void Options::printHelp(llvm::raw_ostream &out) const {
  constexpr size_t kHelpColumn = 24;
  OptionTable all = table();
  out << "usage: colldsl " << command_ << " " << all.operands << "\n\n" << all.description << "\n";
  llvm::StringRef section;
  for (const OptionTable::Row &row : all.rows) {
    if (row.section != section)
      out << "\n" << row.section << ":\n";
    section = row.section;
    std::string left = row.name + (row.value.empty() ? "" : " ") + row.value;
    if (left.size() + 3 > kHelpColumn)
      out << "  " << left << "\n" << std::string(kHelpColumn, ' ');
    else
      out << llvm::left_justify("  " + left, kHelpColumn);
    for (char c : row.help) {
      out << c;
      if (c == '\n')
        out << std::string(kHelpColumn, ' ');
    }
    out << "\n";
  }
}

} // namespace colldsl::tools
