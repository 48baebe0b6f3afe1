/// The fields of requests as text. A request has one table, which says what its fields mean; it
/// serves the options of commands, the keyword arguments of Python, and the text of requests.
#pragma once

#include "driver/Sink.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <vector>

namespace colldsl::driver {

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

/// The table of one request's fields, bound to a request that outlives it.
class Fields {
public:
  /// Sets a field; an error describes the mistake in the value.
  using Set = std::function<Status(llvm::StringRef value)>;
  /// The values that Set takes to make the field as it is; empty: the field is as if not set.
  using Values = std::function<std::vector<std::string>()>;

  /// Begins a group of fields in the help, or continues the one of that title.
  void section(llvm::StringRef title) { section_ = title.str(); }

  /// `name` is that of the option, with its dashes; `value` the placeholder in the help. The result
  /// is valid until the next field is added. By default a placeholder FILE, LIB or DIR completes
  /// files or folders. The fields of requests have `values`.
  Completion &add(llvm::StringRef name, llvm::StringRef value, std::string help, Set set,
                  Values values = nullptr);
  /// Adds another name of a field.
  void addAlias(llvm::StringRef name, llvm::StringRef of);
  /// Two flags that set one bool, such as `--verify` and `--no-verify`, exclude each other.
  void addFlag(llvm::StringRef name, std::string help, bool &flag, bool meaning = true);
  Completion &addText(llvm::StringRef name, llvm::StringRef value, std::string help,
                      std::string &text);
  void addNumber(llvm::StringRef name, llvm::StringRef value, std::string help, uint64_t &number,
                 uint64_t min = 0, uint64_t max = UINT64_MAX);
  void addNumber(llvm::StringRef name, llvm::StringRef value, std::string help, uint32_t &number,
                 uint32_t min = 0, uint32_t max = UINT32_MAX);
  /// A field that `parse` reads and `print` writes; nothing: the field is not set.
  template <typename T, typename Parse, typename Print>
  Completion &addParsed(llvm::StringRef name, llvm::StringRef value, std::string help,
                        std::optional<T> &field, Parse parse, Print print) {
    return add(name, value, std::move(help), parsedInto(field, parse), [&field, print] {
      return field ? std::vector<std::string>{print(*field)} : std::vector<std::string>();
    });
  }
  /// Variant of addParsed() for a field that always has a value.
  template <typename T, typename Parse, typename Print>
  Completion &addParsed(llvm::StringRef name, llvm::StringRef value, std::string help, T &field,
                        Parse parse, Print print) {
    return add(name, value, std::move(help), parsedInto(field, parse),
               [&field, print] { return std::vector<std::string>{print(field)}; });
  }
  /// Allows the field that was added last to be given several times; each value is taken.
  void mayRepeat() { fields_.back().mayRepeat = true; }
  /// The keyword of the field that was added last; by default its name: in_place for --in-place.
  void keyword(llvm::StringRef word) { fields_.back().keyword = word.str(); }

  /// Adds a check that runs after all fields were set, and may complete the request. Its error
  /// names the fields.
  void addCheck(std::function<Status(Sink &)> check) { checks_.push_back(std::move(check)); }
  /// Runs the checks. Warnings go to the sink.
  Status check(Sink &sink) const;

  /// Sets the field with that keyword. An error names the field.
  Status set(llvm::StringRef keyword, llvm::StringRef value);

  /// True if the field was set by its text.
  bool isGiven(llvm::StringRef name) const;
  /// An error if one of these fields was given: it names the first, which has no effect because of
  /// `why`.
  Status refuseGiven(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const;

  /// Variant of refuseGiven() for all fields but these.
  Status refuseAllBut(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const;

  /// The fields in which the request differs from that of `usual`, a table of the same request, as
  /// words of a command line: "--ranks 1..4 --in-place".
  std::string textBeside(const Fields &usual) const;
  /// The values of all fields, aliases aside.
  std::vector<std::vector<std::string>> values() const;

  /// "'tcp' is not shm, cma or ofi", with the nearest word if one is near.
  static Status notOneOf(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> words);

protected:
  struct Field {
    std::string name;
    std::string value; ///< empty: a flag
    std::string help;
    std::string section;
    std::string keyword;
    Set set;
    Values values;
    Completion completion;
    const bool *flag = nullptr; ///< the bool that it sets
    bool mayRepeat = false;
    std::vector<std::string> given; ///< the values that set it
  };

  Field *find(llvm::StringRef name);
  /// Sets the field. An error: it was given before, excludes another one that was, or the value is
  /// wrong.
  Status take(Field &field, llvm::StringRef value);
  const std::vector<Field> &all() const { return fields_; }

private:
  template <typename T, typename Parse> static Set parsedInto(T &field, Parse parse) {
    return [&field, parse](llvm::StringRef given) -> Status {
      auto parsed = parse(given);
      if (!parsed)
        return parsed.status();
      field = parsed.take();
      return {};
    };
  }
  /// Another given field that sets the same bool; null: none.
  const Field *rivalOf(const Field &field) const;

  std::string section_;
  std::vector<Field> fields_;
  std::vector<std::function<Status(Sink &)>> checks_;
};

/// The text of a number that outlives the table.
template <typename T> Fields::Values numberIn(const T &number) {
  return [&number] { return std::vector{std::to_string(number)}; };
}

/// A request is data with a table of its fields.
template <typename T>
concept Request = requires(T request, Fields &fields) {
  request.addTo(fields);
};

/// The fields in which it differs from a request that was just made; empty: there are none.
template <Request T> std::string textOf(const T &request) {
  T shown = request, usual;
  Fields fields, usualFields;
  shown.addTo(fields);
  usual.addTo(usualFields);
  return fields.textBeside(usualFields);
}

/// Compares all fields of the table.
template <Request T> bool operator==(const T &a, const T &b) {
  T left = a, right = b;
  Fields fields, others;
  left.addTo(fields);
  right.addTo(others);
  return fields.values() == others.values();
}

} // namespace colldsl::driver
