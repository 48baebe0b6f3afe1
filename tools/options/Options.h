/// The options of one subcommand: the list of their declarations serves the parser and `--help`.
#pragma once

#include "driver/RequestFields.h"

#include "llvm/Support/raw_ostream.h"

#include <span>

namespace colldsl::tools {

using namespace driver; // commands speak of its requests and results

/// The exit code of the program.
enum class Exit : int {
  Success = 0,
  Failure = 1, ///< wrong input, refused proof, wrong result
  Usage = 2,   ///< the command line makes no sense
};

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
class Options : public driver::Fields {
public:
  /// `operands` as the usage line shows them; `description` may have several lines. The texts
  /// outlive this object.
  Options(llvm::StringRef command, llvm::StringRef operands, llvm::StringRef description)
      : command_(command), operandsText_(operands), description_(description) {}

  /// Adds an option whose value is one of the words, each with its meaning.
  template <typename T>
  void addChoice(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, T &chosen,
                 std::initializer_list<std::pair<llvm::StringRef, T>> words) {
    std::vector<std::pair<llvm::StringRef, T>> list(words);
    std::vector<llvm::StringRef> spelled;
    for (const auto &word : list)
      spelled.push_back(word.first);
    Completion &completion =
        add(name, value, help.str(), [&chosen, list, spelled](llvm::StringRef given) -> Status {
          for (const auto &word : list)
            if (word.first == given) {
              chosen = word.second;
              return {};
            }
          return notOneOf(given, spelled);
        });
    completion = completionOf(spelled);
  }
  /// Adds an option for a file to write, `-` for standard output. No other option and no operand
  /// may name that file.
  Completion &addOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                        std::string &file);
  /// Variant of addOutput() for a file in addition to the command's report, which occupies standard
  /// output.
  Completion &addSideOutput(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
                            std::string &file);

  /// Sets the completion of operands.
  void completeOperands(Completion completion) { operandCompletion_ = std::move(completion); }

  /// A value ends the program with that exit code: the help was printed, or a mistake was reported.
  [[nodiscard]] std::optional<Exit> parse(Arguments arguments);

  const std::vector<std::string> &operands() const { return operands_; }

  /// Reports a mistake in the use of this command.
  Exit refuse(const llvm::Twine &message) const;

private:
  Status checkOutputs();
  std::optional<Exit> parseOption(llvm::StringRef word, std::span<const char *const> &rest);
  Exit refuseUnknown(llvm::StringRef name) const;
  size_t firstOf(llvm::StringRef section) const;
  OptionTable table() const;
  void printHelp(llvm::raw_ostream &out) const;

  llvm::StringRef command_;
  llvm::StringRef operandsText_;
  llvm::StringRef description_;
  Completion operandCompletion_;
  std::vector<std::string> operands_;
  std::vector<std::pair<std::string, bool>> outputs_; ///< options; true: of a side output
};

} // namespace colldsl::tools
