#include "tools/options/Options.h"

#include "compiler/Spelling.h"
#include "tools/explain/Explanations.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Lists.h"
#include "tools/options/ResultStream.h"
#include "tools/output/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>

namespace colldsl::tools {

Completion completionOf(llvm::ArrayRef<llvm::StringRef> words) {
  Completion completion;
  for (llvm::StringRef word : words)
    completion.words.push_back(word.str());
  return completion;
}

Completion completionOfList(std::vector<std::string> words, char separator) {
  Completion completion;
  completion.words = std::move(words);
  completion.separator = separator;
  return completion;
}

Completion completionOfFiles(std::vector<std::string> extensions) {
  Completion completion;
  completion.isFile = true;
  completion.extensions = std::move(extensions);
  return completion;
}

Completion completionOfNames(Completion::Names names, char separator) {
  Completion completion;
  completion.names = names;
  completion.separator = separator;
  return completion;
}

Completion completionOfTopology() {
  Completion completion = completionOfFiles({".xml"});
  completion.words = {"flat", "local", "node:", "bind=core", "bind=scatter", "oversubscribe"};
  return completion;
}

Completion completionOfSchedules(Completion::Names names) {
  Completion completion =
      completionOfFiles({".coll", ".cdag", ".image", ".text", ".goal", ".bin", ".xml"});
  completion.names = names;
  return completion;
}

Completion &Options::add(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                         Take take) {
  Option option;
  option.name = name;
  option.value = value;
  option.help = help;
  option.section = section_;
  option.take = std::move(take);
  options_.push_back(std::move(option));
  Completion &completion = options_.back().completion;
  completion.isFile = value == "FILE" || value == "LIB";
  completion.isFolder = value == "DIR";
  return completion;
}

void Options::addFlag(llvm::StringRef name, llvm::StringRef help, bool &flag, bool meaning) {
  add(name, "", help, [&flag, meaning](llvm::StringRef) {
    flag = meaning;
    return Status();
  });
  options_.back().flag = &flag;
}

Completion &Options::addText(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                             std::string &text) {
  return add(name, value, help, [&text](llvm::StringRef given) {
    text = given.str();
    return Status();
  });
}

Completion &Options::addOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                               std::string &file) {
  Completion &completion = addText(name, value, help, file);
  options_.back().isOutput = true;
  return completion;
}

Completion &Options::addSideOutput(llvm::StringRef name, llvm::StringRef value,
                                   llvm::StringRef help, std::string &file) {
  Completion &completion = addOutput(name, value, help, file);
  options_.back().isSideOutput = true;
  return completion;
}

void Options::addNumber(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                        uint64_t &number, uint64_t min, uint64_t max) {
  add(name, value, help, [&number, min, max](llvm::StringRef given) -> Status {
    Result<uint64_t> parsed = parseNumber(given, min, max);
    if (!parsed)
      return parsed.status();
    number = *parsed;
    return {};
  });
}

void Options::addNumber(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                        uint32_t &number, uint32_t min, uint32_t max) {
  add(name, value, help, [&number, min, max](llvm::StringRef given) -> Status {
    Result<uint64_t> parsed = parseNumber(given, min, max);
    if (!parsed)
      return parsed.status();
    number = static_cast<uint32_t>(*parsed);
    return {};
  });
}

auto Options::find(llvm::StringRef name) -> Option * {
  auto it = llvm::find_if(options_, [&](const Option &option) { return option.name == name; });
  return it == options_.end() ? nullptr : &*it;
}

bool Options::isGiven(llvm::StringRef name) const {
  return llvm::any_of(
      options_, [&](const Option &option) { return option.name == name && !option.given.empty(); });
}

Status Options::refuseGiven(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const {
  for (llvm::StringRef name : names)
    if (isGiven(name))
      return Status::error((name + ": " + why).str());
  return {};
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
  for (const std::function<Status()> &check : checks_)
    if (Status s = check(); !s) {
      printError(s.diagnostic());
      return Exit::Failure;
    }
  return std::nullopt;
}

std::optional<Exit> Options::parseOption(llvm::StringRef word, std::span<const char *const> &rest) {
  auto [name, value] = word.split('=');
  bool hasValue = name.size() != word.size();
  Option *option = find(name);
  if (!option)
    return refuseUnknown(name);
  if (option->value.empty() && hasValue)
    return refuse(name + " takes no value");
  if (!option->value.empty() && !hasValue) {
    if (rest.empty())
      return refuse(name + " needs a value: " + name + " " + option->value);
    value = rest.front();
    if (const Option *next = find(value.split('=').first))
      return refuse(name + " needs a value, and " + next->name + " is an option: " + name + "=" +
                    option->value);
    rest = rest.subspan(1);
  }
  return take(*option, value);
}

std::optional<Exit> Options::take(Option &option, llvm::StringRef value) {
  if (const Option *rival = rivalOf(option))
    return refuse(rival->name + " and " + option.name + " exclude each other");
  if (!option.given.empty() && !option.mayRepeat)
    return refuse(option.name + " is given twice" +
                  (option.value.empty() ? "" : ", again as '" + value + "'"));
  option.given.push_back(value.str());
  if (Status status = option.take(value); !status)
    return refuse(option.name + ": " + status.message());
  return std::nullopt;
}

auto Options::rivalOf(const Option &option) const -> const Option * {
  auto it = llvm::find_if(options_, [&](const Option &other) {
    return option.flag && other.flag == option.flag && other.name != option.name &&
           !other.given.empty();
  });
  return it == options_.end() ? nullptr : &*it;
}

Status Options::checkOutputs() const {
  for (const Option &output : options_) {
    if (!output.isOutput || output.given.empty())
      continue;
    const std::string &file = output.given.front();
    if (output.isSideOutput && (file == "-" || file == "/dev/stdout"))
      return Status::error(
          (output.name + ": the standard output is for the report; name a file").str());
    for (const std::string &operand : operands_)
      if (llvm::sys::fs::exists(operand) && isSameFile(file, operand))
        return Status::error((output.name + ": '" + file + "' is read, too").str());
    for (const Option &other : options_)
      for (const std::string &named : other.given)
        if (&other != &output && (other.completion.isFile || other.isOutput) &&
            isSameFile(file, named))
          return Status::error(
              (output.name + ": '" + file + "' is the file of " + other.name).str());
  }
  return {};
}

Status Options::notOneOf(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> words) {
  std::string text = "'" + given.str() + "' is not ";
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].str();
  std::string hint = didYouMean(nearestWord(given, words));
  return Status::error(text + (hint.empty() ? "" : "; " + hint));
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
  for (const Option &option : options_)
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
      llvm::find_if(options_, [&](const Option &o) { return o.section == section; }) -
      options_.begin());
}

OptionTable Options::table() const {
  std::vector<Option> options = options_;
  std::stable_sort(options.begin(), options.end(), [this](const Option &a, const Option &b) {
    return firstOf(a.section) < firstOf(b.section);
  });
  OptionTable table{operandsText_.str(), operandCompletion_, description_.str(), {}};
  for (const Option &o : options)
    table.rows.push_back({o.name.str(), o.value.str(), o.help.str(),
                          o.section.empty() ? "options" : o.section.str(), o.completion});
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
