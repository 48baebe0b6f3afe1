/// The options of one subcommand: the list of their declarations serves the parser and `--help`.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colldsl::tools {

/// The exit code of the program.
enum class Exit : int {
  Success = 0,
  Failure = 1, ///< wrong input, refused proof, wrong result
  Usage = 2,   ///< the command line makes no sense
};

/// The words that a shell offers in the place of an operand or of an option's value.
struct Completion {
  /// Words that are determined when a script is written.
  enum class Names : uint8_t {
    None,
    Collectives,  ///< of the standard library, and functions with rules
    Functions,    ///< with rules
    Declarations, ///< of the standard library, and functions with rules
    Parameters,   ///< "root=": of its collectives
    Commands,
  };
  std::vector<std::string> words;
  Names names = Names::None; ///< more words
  char separator = 0;        ///< not 0: the value is a list of words with this separator
  bool isFile = false;
  std::vector<std::string> extensions; ///< of files, with their dots; empty: any file
  bool isFolder = false;
};

/// A completion by one of these words.
Completion completionOf(llvm::ArrayRef<llvm::StringRef> words);
/// A completion by several of these words.
Completion completionOfList(std::vector<std::string> words, char separator = ',');
Completion completionOfFiles(std::vector<std::string> extensions);
Completion completionOfTopology();
Completion completionOfNames(Completion::Names names, char separator = 0);
/// The completion of `FILE|COLLECTIVE`: names, and files of all forms of schedules.
Completion completionOfSchedules(Completion::Names names = Completion::Names::Collectives);

/// The options and operands of a subcommand, as data: for `--help`, shell completion, man pages.
struct OptionTable {
  struct Row {
    std::string name;  ///< with its dashes
    std::string value; ///< placeholder in the help; empty: a flag
    std::string help;
    std::string section;
    Completion completion; ///< of the value
  };
  std::string operands;  ///< as the usage line shows them
  Completion completion; ///< of operands
  std::string description;
  std::vector<Row> rows; ///< grouped by section
};

/// The words of the command line behind the name of the subcommand.
struct Arguments {
  std::span<const char *const> words;
  OptionTable *table = nullptr; ///< not null: parse() fills it in and goes no further
};

/// Options are `--name VALUE`, `--name=VALUE`, `-n VALUE` or flags without a value; they
/// may stand anywhere, until `--`. Everything else is an operand.
class Options {
public:
  /// Takes an option's value; an error describes what is wrong with it.
  using Take = std::function<Status(llvm::StringRef value)>;

  /// All texts outlive this object. `operands` as the usage line shows them;
  /// `description` may have several lines.
  Options(llvm::StringRef command, llvm::StringRef operands, llvm::StringRef description)
      : command_(command), operandsText_(operands), description_(description) {}

  /// Begins a group of options in the help, or continues the one of that title.
  void section(llvm::StringRef title) { section_ = title; }

  /// `name` with its dashes. `value` is the placeholder in the help. The result is valid until the
  /// next option is added. By default a placeholder FILE, LIB or DIR completes files or folders.
  Completion &add(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, Take take);
  /// Adds an option whose value is one of the words, each with its meaning.
  template <typename T>
  void addChoice(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, T &chosen,
                 std::initializer_list<std::pair<llvm::StringRef, T>> words) {
    std::vector<std::pair<llvm::StringRef, T>> list(words);
    std::vector<llvm::StringRef> spelled;
    for (const auto &word : list)
      spelled.push_back(word.first);
    Completion &completion =
        add(name, value, help, [&chosen, list, spelled](llvm::StringRef given) -> Status {
          for (const auto &word : list)
            if (word.first == given) {
              chosen = word.second;
              return {};
            }
          return notOneOf(given, spelled);
        });
    completion = completionOf(spelled);
  }
  /// Two flags that set one bool, such as `--verify` and `--no-verify`, exclude each other.
  void addFlag(llvm::StringRef name, llvm::StringRef help, bool &flag, bool meaning = true);
  Completion &addText(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                      std::string &text);
  void addNumber(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                 uint64_t &number, uint64_t min = 0, uint64_t max = UINT64_MAX);
  void addNumber(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                 uint32_t &number, uint32_t min = 0, uint32_t max = UINT32_MAX);

  /// Adds an option for a file to write, `-` for standard output. No other option and no operand
  /// may name that file.
  Completion &addOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                        std::string &file);
  /// Variant of addOutput() for a file in addition to the command's report, which occupies standard
  /// output.
  Completion &addSideOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                            std::string &file);
  /// Allows the option that was added last to be given several times; each value is taken.
  void mayRepeat() { options_.back().mayRepeat = true; }

  /// True if the command line has the option.
  bool isGiven(llvm::StringRef name) const;
  /// An error if one of these options was given: it names the first, which has no effect because of
  /// `why`.
  Status refuseGiven(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const;

  /// Sets the completion of operands.
  void completeOperands(Completion completion) { operandCompletion_ = std::move(completion); }

  /// Adds a check that runs after all options were read. Its error, which names the options, ends
  /// the program.
  void addCheck(std::function<Status()> check) { checks_.push_back(std::move(check)); }

  /// A value ends the program with that exit code: the help was printed, or a mistake was reported.
  [[nodiscard]] std::optional<Exit> parse(Arguments arguments);

  const std::vector<std::string> &operands() const { return operands_; }

  /// "'tcp' is not shm, cma or ofi", with the nearest word if one is near.
  static Status notOneOf(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> words);

  /// Reports a mistake in the use of this command.
  Exit refuse(const llvm::Twine &message) const;

private:
  struct Option {
    llvm::StringRef name;
    llvm::StringRef value; ///< empty: a flag
    llvm::StringRef help;
    llvm::StringRef section;
    Take take;
    Completion completion;
    const bool *flag = nullptr; ///< the bool that it sets
    bool isOutput = false, isSideOutput = false;
    bool mayRepeat = false;
    std::vector<std::string> given; ///< its values on the command line
  };

  Option *find(llvm::StringRef name);
  std::optional<Exit> take(Option &option, llvm::StringRef value);
  /// Another given option that sets the same bool; null: none.
  const Option *rivalOf(const Option &option) const;
  Status checkOutputs() const;
  std::optional<Exit> parseOption(llvm::StringRef word, std::span<const char *const> &rest);
  Exit refuseUnknown(llvm::StringRef name) const;
  size_t firstOf(llvm::StringRef section) const;
  OptionTable table() const;
  void printHelp(llvm::raw_ostream &out) const;

  llvm::StringRef command_;
  llvm::StringRef operandsText_;
  llvm::StringRef description_;
  llvm::StringRef section_;
  Completion operandCompletion_;
  std::vector<Option> options_;
  std::vector<std::function<Status()>> checks_;
  std::vector<std::string> operands_;
};

} // namespace colldsl::tools
