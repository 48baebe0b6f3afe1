#include "driver/RequestFields.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

/// The keyword for a name: in_place for --in-place, L for -L.
std::string keywordOf(llvm::StringRef name) {
  std::string word = name.ltrim('-').str();
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

template <typename T> Fields::Set numberInto(T &number, uint64_t min, uint64_t max) {
  return [&number, min, max](llvm::StringRef given) -> Status {
    Result<uint64_t> parsed = parseNumber(given, min, max);
    if (!parsed)
      return parsed.status();
    number = static_cast<T>(*parsed);
    return {};
  };
}

/// A word of a command line, in quotes if it needs them.
std::string quoted(const std::string &word) {
  bool isPlain = !word.empty() && word.find_first_of(" '\"\\$*?;()[]{}<>&|") == std::string::npos;
  return isPlain ? word : "'" + word + "'";
}

} // namespace

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
  completion.words = {"flat",      "local",        "node:",   "nodes=",       "hosts=",
                      "bind=core", "bind=scatter", "hosts=@", "oversubscribe"};
  return completion;
}

Completion completionOfSchedules(Completion::Names names) {
  Completion completion =
      completionOfFiles({".coll", ".cdag", ".image", ".text", ".goal", ".bin", ".xml"});
  completion.names = names;
  return completion;
}

Completion &Fields::add(llvm::StringRef name, llvm::StringRef value, std::string help, Set set,
                        Values values) {
  Field field;
  field.name = name.str();
  field.value = value.str();
  field.help = std::move(help);
  field.section = section_;
  field.keyword = keywordOf(name);
  field.set = std::move(set);
  field.values = std::move(values);
  fields_.push_back(std::move(field));
  Completion &completion = fields_.back().completion;
  completion.isFile = value == "FILE" || value == "LIB";
  completion.isFolder = value == "DIR";
  return completion;
}

void Fields::addAlias(llvm::StringRef name, llvm::StringRef of) {
  const Field &field = *find(of);
  add(name, std::string(field.value), ("the same as " + of).str(), Set(field.set));
}

void Fields::addFlag(llvm::StringRef name, std::string help, bool &flag, bool meaning) {
  auto set = [&flag, meaning](llvm::StringRef) {
    flag = meaning;
    return Status();
  };
  auto values = [&flag, meaning] {
    return flag == meaning ? std::vector<std::string>{""} : std::vector<std::string>();
  };
  add(name, "", std::move(help), set, values);
  fields_.back().flag = &flag;
}

Completion &Fields::addText(llvm::StringRef name, llvm::StringRef value, std::string help,
                            std::string &text) {
  auto set = [&text](llvm::StringRef given) {
    text = given.str();
    return Status();
  };
  return add(name, value, std::move(help), set, [&text] { return std::vector{text}; });
}

void Fields::addNumber(llvm::StringRef name, llvm::StringRef value, std::string help,
                       uint64_t &number, uint64_t min, uint64_t max) {
  add(name, value, std::move(help), numberInto(number, min, max), numberIn(number));
}

void Fields::addNumber(llvm::StringRef name, llvm::StringRef value, std::string help,
                       uint32_t &number, uint32_t min, uint32_t max) {
  add(name, value, std::move(help), numberInto(number, min, max), numberIn(number));
}

Status Fields::check(Sink &sink) const {
  for (const std::function<Status(Sink &)> &check : checks_)
    if (Status s = check(sink); !s)
      return s;
  return {};
}

auto Fields::find(llvm::StringRef name) -> Field * {
  auto it = llvm::find_if(fields_, [&](const Field &field) { return field.name == name; });
  return it == fields_.end() ? nullptr : &*it;
}

Status Fields::set(llvm::StringRef keyword, llvm::StringRef value) {
  auto field = llvm::find_if(fields_, [&](const Field &f) { return f.keyword == keyword; });
  if (field == fields_.end())
    return Status::error("there is no '" + keyword.str() + "'");
  return take(*field, value);
}

Status Fields::take(Field &field, llvm::StringRef value) {
  if (const Field *rival = rivalOf(field))
    return Status::error(rival->name + " and " + field.name + " exclude each other");
  if (!field.given.empty() && !field.mayRepeat)
    return Status::error(field.name + " is given twice" +
                         (field.value.empty() ? "" : ", again as '" + value.str() + "'"));
  field.given.push_back(value.str());
  return wrap(field.name, field.set(value));
}

auto Fields::rivalOf(const Field &field) const -> const Field * {
  auto it = llvm::find_if(fields_, [&](const Field &other) {
    return field.flag && other.flag == field.flag && other.name != field.name &&
           !other.given.empty();
  });
  return it == fields_.end() ? nullptr : &*it;
}

bool Fields::isGiven(llvm::StringRef name) const {
  return llvm::any_of(
      fields_, [&](const Field &field) { return field.name == name && !field.given.empty(); });
}

Status Fields::refuseGiven(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const {
  for (llvm::StringRef name : names)
    if (isGiven(name))
      return Status::error((name + ": " + why).str());
  return {};
}

Status Fields::refuseAllBut(llvm::ArrayRef<llvm::StringRef> names, const llvm::Twine &why) const {
  for (const Field &field : fields_)
    if (!field.given.empty() && !llvm::is_contained(names, field.name))
      return Status::error((field.name + ": " + why).str());
  return {};
}

std::string Fields::textBeside(const Fields &usual) const {
  std::string text;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field &field = fields_[i];
    if (!field.values || field.values() == usual.fields_[i].values())
      continue;
    for (const std::string &value : field.values())
      text +=
          (text.empty() ? "" : " ") + field.name + (field.value.empty() ? "" : " " + quoted(value));
  }
  return text;
}

std::vector<std::vector<std::string>> Fields::values() const {
  std::vector<std::vector<std::string>> all;
  for (const Field &field : fields_)
    if (field.values)
      all.push_back(field.values());
  return all;
}

Status Fields::notOneOf(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> words) {
  std::string text = "'" + given.str() + "' is not ";
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].str();
  std::string hint = didYouMean(nearestWord(given, words));
  return Status::error(text + (hint.empty() ? "" : "; " + hint));
}

} // namespace colldsl::driver
