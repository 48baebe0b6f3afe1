#include "driver/requests/ScheduleRequest.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"

#include "llvm/Support/FileSystem.h"

#include <initializer_list>
#include <limits>

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

/// Sets a limit of several readers from one option.
template <typename T> Status setLimits(Result<uint64_t> given, std::initializer_list<T *> limits) {
  if (!given)
    return given.status();
  if (*given > std::numeric_limits<T>::max())
    return Status::error(std::to_string(*given) + " is more than " +
                         std::to_string(std::numeric_limits<T>::max()));
  for (T *limit : limits)
    *limit = static_cast<T>(*given);
  return {};
}

std::string withDefault(llvm::StringRef help, uint64_t value) {
  return (help + " (default: " + llvm::Twine(value) + ")").str();
}

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
  fields.section("limits");
  fields.addNumber("--max-steps", "N",
                   withDefault("loop iterations and calls per rank", instantiate.maxSteps),
                   instantiate.maxSteps);
  fields.addNumber("--max-ops", "N", withDefault("ops per rank", instantiate.maxOps),
                   instantiate.maxOps);
  fields.add(
      "--max-total-ops", "N", withDefault("ops of all ranks", instantiate.maxTotalOps),
      [this](llvm::StringRef given) {
        return setLimits(parseNumber(given, 0, UINT64_MAX),
                         {&instantiate.maxTotalOps, &text.maxOps});
      },
      numberIn(instantiate.maxTotalOps));
  fields.addNumber("--max-deps", "N", withDefault("dependencies per rank", instantiate.maxDeps),
                   instantiate.maxDeps);
  fields.addNumber("--max-total-deps", "N",
                   withDefault("dependencies of all ranks", instantiate.maxTotalDeps),
                   instantiate.maxTotalDeps);
  fields.addNumber("--max-call-depth", "N",
                   withDefault("calls within calls", instantiate.maxCallDepth),
                   instantiate.maxCallDepth);
  fields.add(
      "--max-source-bytes", "N", withDefault("bytes of one file of text", compile.limits.maxBytes),
      [this](llvm::StringRef given) {
        return setLimits(parseBytes(given), {&compile.limits.maxBytes, &text.maxBytes});
      },
      numberIn(compile.limits.maxBytes));
  fields.add(
      "--max-line-bytes", "N",
      withDefault("bytes of one line, at most 65535", compile.limits.maxLineBytes),
      [this](llvm::StringRef given) -> Status {
        Result<uint64_t> bytes = parseBytes(given);
        if (bytes && *bytes > kMaxLineBytes)
          return Status::error(given.str() + " is more than " + std::to_string(kMaxLineBytes) +
                               ", the longest line that can be told of");
        return setLimits(std::move(bytes), {&compile.limits.maxLineBytes, &text.maxLineBytes});
      },
      numberIn(compile.limits.maxLineBytes));
  fields.addNumber("--max-tokens", "N",
                   withDefault("words and signs of one source file", compile.limits.maxTokens),
                   compile.limits.maxTokens);
  fields.addNumber(
      "--max-nesting", "N",
      withDefault("open brackets in a source file, at most 500", compile.limits.maxNesting),
      compile.limits.maxNesting, 0, kMaxNesting);
  fields.addNumber(
      "--max-chain", "N",
      withDefault("words and signs of one expression, at most 2500", compile.limits.maxChain),
      compile.limits.maxChain, 0, kMaxChain);
  fields.addNumber("--max-files", "N",
                   withDefault("source files, imports included", compile.limits.maxFiles),
                   compile.limits.maxFiles);
  fields.add(
      "--max-errors", "N", withDefault("errors shown of one file", compile.limits.maxErrors),
      [this](llvm::StringRef given) {
        return setLimits(parseNumber(given, 1, UINT32_MAX),
                         {&compile.limits.maxErrors, &text.maxErrors});
      },
      numberIn(compile.limits.maxErrors));
}

} // namespace colldsl::driver
