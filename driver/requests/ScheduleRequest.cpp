#include "driver/requests/ScheduleRequest.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"

#include "llvm/Support/FileSystem.h"

namespace colldsl::driver {
namespace {

constexpr llvm::StringRef kTypes[] = {
#define COLLDSL_TYPE(Name, spelling, ...) spelling,
#include "ir/Vocabulary.def"
};

constexpr llvm::StringRef kReductions[] = {
#define COLLDSL_REDUCTION(Name, spelling, ...) spelling,
#include "ir/Vocabulary.def"
};

Status unknown(llvm::StringRef what, llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> words) {
  std::string list;
  for (llvm::StringRef word : words)
    list += " " + word.str();
  std::string hint = didYouMean(nearestWord(given, words));
  return Status::error("there is no " + what.str() + " '" + given.str() + "'; " +
                       (hint.empty() ? "there are" + list : hint));
}

std::string withDefault(llvm::StringRef help, uint64_t value) {
  return (help + " (default: " + llvm::Twine(value) + ")").str();
}

/// A limit of the compiler or of instantiation, and the one of the text form, whose usual values
/// may differ.
template <typename T> struct TwoLimits {
  T &limit, &ofText;
  T usual, usualOfText;

  /// `parse` lets in what T can hold.
  template <typename Parse>
  void addTo(Fields &fields, llvm::StringRef name, llvm::StringRef help, Parse parse) const {
    auto set = [both = *this, parse](llvm::StringRef given) -> Status {
      Result<uint64_t> number = parse(given);
      if (!number)
        return number.status();
      both.limit = both.ofText = static_cast<T>(*number);
      return {};
    };
    auto values = [both = *this]() -> std::vector<std::string> {
      if (both.limit == both.usual && both.ofText == both.usualOfText)
        return {};
      return {std::to_string(both.limit)};
    };
    fields.add(name, "N", withDefault(help, limit), set, values);
  }
};

} // namespace

void ScheduleRequest::addInclude(Fields &fields) {
  fields.add(
      "--include", "DIR", "search imported files here too",
      [this](llvm::StringRef path) {
        if (!llvm::sys::fs::is_directory(path))
          return Status::error("'" + path.str() + "' is no folder");
        compile.includePaths.push_back(path.str());
        return Status();
      },
      [this] { return compile.includePaths; });
  fields.mayRepeat();
}

void ScheduleRequest::addNoWarn(Fields &fields) {
  fields.addFlag("--no-warn", "no warnings of names and operations without use", noWarn);
}

void ScheduleRequest::addTo(Fields &fields) {
  fields.section("which collective");
  fields.add(
      "--name", "C",
      "only this collective of all that the files, or the standard\nlibrary, hold; may be "
      "given again",
      [this](llvm::StringRef name) {
        names.push_back(name.str());
        return Status();
      },
      [this] { return names; }) = completionOfNames(Completion::Names::Collectives);
  fields.mayRepeat();
  fields.add(
      "--set", "NAME=EXPR",
      "value of a parameter, in the language's own expressions:\n"
      "--set root=3, --set g='torus([2, 4])'",
      [this](llvm::StringRef text) -> Status {
        auto [name, value] = text.split('=');
        if (name.empty() || name.size() == text.size())
          return Status::error("'" + text.str() + "' is not NAME=EXPR");
        if (value.trim().empty())
          return Status::error("no expression follows in '--set " + text.str() + "'");
        for (const Setting &other : settings)
          if (other.name == name.trim())
            return Status::error("'" + other.name + "' is given twice, as '" + other.value +
                                 "' and '" + value.str() + "'");
        settings.push_back({name.trim().str(), value.str()});
        return {};
      },
      [this] {
        std::vector<std::string> texts;
        for (const Setting &setting : settings)
          texts.push_back(setting.name + "=" + setting.value);
        return texts;
      }) = completionOfNames(Completion::Names::Parameters);
  fields.mayRepeat();
  fields.keyword("parameters");
  addElements(fields);
  addInclude(fields);
  machine.addTo(fields);
  passes.addTo(fields);
  addLimits(fields);
}

void ScheduleRequest::addElements(Fields &fields) {
  fields.addParsed(
      "--op", "OP", "reduction, for parameters that are one", reduction,
      [](llvm::StringRef text) -> Result<Reduction> {
        if (std::optional<Reduction> known = parseReduction(text))
          return *known;
        return unknown("reduction", text, kReductions);
      },
      [](Reduction r) { return std::string(spelling(r)); }) = completionOf(kReductions);
  fields.addParsed(
      "--type", "T", "type of the elements (default: i32)", type,
      [](llvm::StringRef text) -> Result<ElementType> {
        if (std::optional<ElementType> known = parseElementType(text))
          return *known;
        return unknown("type", text, kTypes);
      },
      [](ElementType t) { return std::string(spelling(t)); }) = completionOf(kTypes);
}

void ScheduleRequest::addLimits(Fields &fields) {
  const ScheduleRequest usual;
  auto add = [&fields](llvm::StringRef name, llvm::StringRef help, auto &limit, auto... bounds) {
    fields.addNumber(name, "N", withDefault(help, limit), limit, bounds...);
  };
  fields.section("limits");
  add("--max-steps", "loop iterations and calls per rank", instantiate.maxSteps);
  add("--max-ops", "ops per rank", instantiate.maxOps);
  TwoLimits<uint64_t>{instantiate.maxTotalOps, text.maxOps, usual.instantiate.maxTotalOps,
                      usual.text.maxOps}
      .addTo(fields, "--max-total-ops", "ops of all ranks",
             [](llvm::StringRef given) { return parseNumber(given, 0, UINT64_MAX); });
  add("--max-deps", "dependencies per rank", instantiate.maxDeps);
  add("--max-total-deps", "dependencies of all ranks", instantiate.maxTotalDeps);
  add("--max-call-depth", "calls within calls", instantiate.maxCallDepth);
  ParseLimits &limits = compile.limits;
  const ParseLimits &usualLimits = usual.compile.limits;
  TwoLimits<uint64_t>{limits.maxBytes, text.maxBytes, usualLimits.maxBytes, usual.text.maxBytes}
      .addTo(fields, "--max-source-bytes", "bytes of one file of text", parseBytes);
  TwoLimits<uint32_t>{limits.maxLineBytes, text.maxLineBytes, usualLimits.maxLineBytes,
                      usual.text.maxLineBytes}
      .addTo(fields, "--max-line-bytes", "bytes of one line, at most 65535",
             [](llvm::StringRef given) -> Result<uint64_t> {
               Result<uint64_t> bytes = parseBytes(given);
               if (bytes && *bytes > kMaxLineBytes)
                 return Status::error(given.str() + " is more than " +
                                      std::to_string(kMaxLineBytes) +
                                      ", the longest line that can be told of");
               return bytes;
             });
  add("--max-tokens", "words and signs of one source file", limits.maxTokens);
  add("--max-nesting", "open brackets in a source file, at most 500", limits.maxNesting, 0,
      kMaxNesting);
  add("--max-chain", "words and signs of one expression, at most 2500", limits.maxChain, 0,
      kMaxChain);
  add("--max-files", "source files, imports included", limits.maxFiles);
  TwoLimits<uint32_t>{limits.maxErrors, text.maxErrors, usualLimits.maxErrors, usual.text.maxErrors}
      .addTo(fields, "--max-errors", "errors shown of one file",
             [](llvm::StringRef given) { return parseNumber(given, 1, UINT32_MAX); });
}

} // namespace colldsl::driver
