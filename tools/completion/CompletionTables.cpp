#include "compiler/Compile.h"
#include "driver/rules/Rules.h"
#include "tools/completion/Scripts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace colldsl::tools {
namespace {

/// The words of each Completion::Names.
class Names {
public:
  Names() : library_(compileFiles({})) {}

  std::vector<std::string> wordsOf(Completion::Names names,
                                   const std::vector<CommandHelp> &commands) const {
    std::vector<std::string> words;
    switch (names) {
    case Completion::Names::None:
      break;
    case Completion::Names::Functions:
      addFunctions(words);
      break;
    case Completion::Names::Collectives:
      addFunctions(words);
      addDecls(words, true);
      break;
    case Completion::Names::Declarations:
      addFunctions(words);
      addDecls(words, false);
      break;
    case Completion::Names::Parameters:
      addParameters(words);
      break;
    case Completion::Names::Commands:
      for (const CommandHelp &command : commands)
        words.push_back(command.name.str());
      break;
    }
    return words;
  }

private:
  static void addFunctions(std::vector<std::string> &words) {
    for (llvm::StringRef function : functionNames())
      words.push_back(function.str());
  }
  void addDecls(std::vector<std::string> &words, bool onlyCollectives) const {
    for (const Decl &decl : library_.program().decls)
      if (!onlyCollectives || decl.kind == DeclKind::Collective)
        words.push_back(library_.program().nameOf(decl));
  }
  void addParameters(std::vector<std::string> &words) const {
    std::set<std::string> names;
    for (const Decl &decl : library_.program().decls)
      for (const Param &param : decl.params)
        if (decl.kind == DeclKind::Collective && !param.isBuffer)
          names.insert(library_.program().nameOf(param) + "=");
    words.assign(names.begin(), names.end());
  }

  Compilation library_;
};

auto keyOf(const Completion &c) {
  return std::tie(c.words, c.names, c.separator, c.isFile, c.extensions, c.isFolder);
}

} // namespace

CompletionTables::CompletionTables() : commands_(allCommands()) {
  Names names;
  auto fill = [&](Completion &completion) {
    for (std::string &word : names.wordsOf(completion.names, commands_))
      completion.words.push_back(std::move(word));
    completion.names = Completion::Names::None;
    add(completion);
  };
  for (CommandHelp &command : commands_) {
    fill(command.table.completion);
    for (Row &row : command.table.rows)
      fill(row.completion);
  }
}

void CompletionTables::add(Completion &completion) {
  bool isNone = completion.words.empty() && !completion.isFile && !completion.isFolder;
  if (!isNone && !numberOf(completion))
    completions_.push_back(completion);
}

std::optional<size_t> CompletionTables::numberOf(const Completion &completion) const {
  for (size_t i = 0; i < completions_.size(); ++i)
    if (keyOf(completions_[i]) == keyOf(completion))
      return i;
  return std::nullopt;
}

std::string CompletionTables::commandNames() const {
  std::vector<llvm::StringRef> names;
  for (const CommandHelp &command : commands_)
    names.push_back(command.name);
  return llvm::join(names, " ");
}

std::string inQuotes(llvm::StringRef text, llvm::StringRef quote) {
  std::string all;
  for (char c : text)
    all += c == '\'' ? quote.str() : std::string(1, c);
  return "'" + all + "'";
}

std::string allInQuotes(llvm::ArrayRef<std::string> words, llvm::StringRef quote) {
  std::vector<std::string> quoted;
  for (const std::string &word : words)
    quoted.push_back(inQuotes(word, quote));
  return llvm::join(quoted, " ");
}

std::string firstLine(llvm::StringRef text) { return text.split('\n').first.rtrim().str(); }

} // namespace colldsl::tools
