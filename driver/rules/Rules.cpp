#include "driver/rules/Rules.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/files/ReadInput.h"
#include "driver/rules/StandardFunctions.h"
#include "ir/ForeignFormat.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace colldsl::driver {
namespace {

/// The words of a line, without quotes. A quoted part and the text that it touches form one word.
Result<std::vector<std::string>> splitWords(llvm::StringRef line) {
  std::vector<std::string> words;
  bool inWord = false, inQuotes = false;
  for (char c : line) {
    if (c == '#' && !inQuotes)
      break;
    if (c == '\'') {
      inQuotes = !inQuotes;
    } else if (llvm::isSpace(c) && !inQuotes) {
      inWord = false;
      continue;
    }
    if (!inWord)
      words.emplace_back();
    inWord = true;
    if (c != '\'')
      words.back() += c;
  }
  if (inQuotes)
    return Status::error("a quote is never closed");
  return words;
}

using Parse = Result<uint64_t> (*)(llvm::StringRef);

Result<uint64_t> parseCount(llvm::StringRef text) { return parseNumber(text, 0, UINT32_MAX); }

/// `a..b`, `a..`, `..b` or `a`.
template <typename T> Status parseRange(llvm::StringRef text, Parse parse, T &min, T &max) {
  auto [first, last] = text.split("..");
  bool isOne = !text.contains("..");
  auto take = [&](llvm::StringRef word, T &into) -> Status {
    Result<uint64_t> number = parse(word);
    if (!number)
      return number.status();
    into = static_cast<T>(*number);
    return {};
  };
  if (isOne) {
    Status s = take(text, min);
    max = min;
    return s;
  }
  if (!first.empty())
    if (Status s = take(first, min); !s)
      return s;
  if (!last.empty())
    if (Status s = take(last, max); !s)
      return s;
  if (min > max)
    return Status::error("'" + text.str() + "' holds nothing");
  return {};
}

Status parseTypes(llvm::StringRef text, uint32_t &types) {
  types = 0;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  for (llvm::StringRef word : words) {
    std::optional<ElementType> type = parseElementType({word.data(), word.size()});
    if (!type)
      return Status::error("'" + word.str() + "' is no type of elements");
    types |= 1u << static_cast<unsigned>(*type);
  }
  return {};
}

class LineReader {
public:
  LineReader(llvm::ArrayRef<std::string> words, Compilation &compilation)
      : words_(words), compilation_(compilation) {}

  Result<SelectionRule> read() {
    rule_.function = take();
    while (!words_.empty() && words_.front() != "use")
      if (Status s = readCondition(); !s)
        return s;
    if (words_.size() < 2)
      return Status::error("expected 'use' and a collective at the end of the rule");
    take();
    seen_.clear();
    if (Status s = readCollective(take()); !s)
      return s;
    while (!words_.empty())
      if (Status s = readArgument(take()); !s)
        return s;
    return rule_;
  }

private:
  std::string take() {
    std::string word = words_.front();
    words_ = words_.drop_front();
    return word;
  }

  Status readCondition() {
    std::string word = take();
    if (Status s = once(word); !s)
      return s;
    if (word == "commutative") {
      rule_.needsCommutative = true;
      return {};
    }
    if (word == "oversubscribed") {
      rule_.needsOversubscribed = true;
      return {};
    }
    if (word == "multicast") {
      rule_.needsMulticast = true;
      return {};
    }
    if (word == "tcp") {
      rule_.needsTcp = true;
      return {};
    }
    bool known = word == "ranks" || word == "bytes" || word == "total" || word == "nodes" ||
                 word == "pernode" || word == "types";
    if (!known)
      return Status::error("expected 'ranks', 'bytes', 'total', 'nodes', 'pernode', 'types', "
                           "'commutative', 'oversubscribed', 'multicast', 'tcp' or 'use', found '" +
                           word + "'");
    if (words_.empty() || words_.front() == "use")
      return Status::error("'" + word + "' is not followed by a value");
    std::string value = take();
    if (word == "ranks")
      return parseRange(value, parseCount, rule_.minRanks, rule_.maxRanks);
    if (word == "bytes")
      return parseRange(value, parseBytes, rule_.minBytes, rule_.maxBytes);
    if (word == "total")
      return parseRange(value, parseBytes, rule_.minTotal, rule_.maxTotal);
    if (word == "nodes")
      return parseRange(value, parseCount, rule_.minNodes, rule_.maxNodes);
    if (word == "pernode")
      return parseRange(value, parseCount, rule_.minPerNode, rule_.maxPerNode);
    return parseTypes(value, rule_.types);
  }

  /// An error if the condition, or the argument, was given before.
  Status once(const std::string &word) {
    if (!seen_.insert(word).second)
      return Status::error("'" + word + "' is given twice");
    return {};
  }

  Status readCollective(const std::string &name) {
    const Program &program = compilation_.program();
    DeclId id = program.find(name, DeclKind::Collective);
    if (id == kNoDecl) {
      std::vector<llvm::StringRef> known;
      for (const Decl &decl : program.decls)
        if (decl.kind == DeclKind::Collective)
          known.push_back(program.nameOf(decl));
      std::string hint = didYouMean(nearestWord(name, known));
      return Status::error("there is no collective '" + name + "'" +
                           (hint.empty() ? "" : "; " + hint));
    }
    rule_.collective = index(id);
    return {};
  }

  Status readArgument(const std::string &word) {
    auto [name, value] = llvm::StringRef(word).split('=');
    if (value.empty())
      return Status::error("expected NAME=VALUE, found '" + word + "'");
    if (Status s = once(name.str()); !s)
      return s;
    Result<ExprId> added = compilation_.addArgument(
        DeclId{rule_.collective}, {name.data(), name.size()}, {value.data(), value.size()});
    if (!added)
      return Status::error("'" + word + "': " + added.message());
    rule_.arguments.push_back(static_cast<uint32_t>(compilation_.program().arguments.size() - 1));
    return {};
  }

  llvm::ArrayRef<std::string> words_;
  Compilation &compilation_;
  SelectionRule rule_;
  std::set<std::string> seen_; ///< words that may occur once only
};

/// Warns of a function that the standard library lacks: plans call it by name, MPI programs do not.
void warnOfOwn(llvm::StringRef where, const std::string &function, Sink &sink) {
  std::string hint = didYouMean(nearestWord(function, functionNames()));
  sink.warn(where + ": '" + function +
            "' is no function of the standard library: plans can name it, MPI programs do not "
            "call it" +
            (hint.empty() ? "" : "; " + hint));
}

template <typename T>
void printRange(std::string &line, const char *word, T min, T max, T least, T most) {
  if (min == least && max == most)
    return;
  line += std::string(" ") + word + " ";
  if (min == max) {
    line += std::to_string(min);
    return;
  }
  line +=
      (min == least ? "" : std::to_string(min)) + ".." + (max == most ? "" : std::to_string(max));
}

} // namespace

Result<std::string> rulesText(const std::string &path) {
  if (path.empty())
    return std::string();
  Result<std::string> rules = readText(path);
  if (!rules)
    return rules;
  if (std::string format = foreignFormat(*rules, Readable::Text); !format.empty())
    return Status::error("'" + path + "' has no rules: it is " + format);
  return rules;
}

Result<std::vector<SelectionRule>> readRules(llvm::StringRef fileName, llvm::StringRef text,
                                             Compilation &compilation,
                                             const StandardFunctions *standard, Sink *sink) {
  std::vector<SelectionRule> rules;
  std::set<std::string> ofOwn;
  for (size_t number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    std::string where = fileName.str() + ":" + std::to_string(number);
    auto fail = [&](const Status &s) { return Status::error(where + ": " + s.message()); };
    Result<std::vector<std::string>> words = splitWords(line);
    if (!words)
      return fail(words.status());
    if (words->empty())
      continue;
    Result<SelectionRule> rule = LineReader(*words, compilation).read();
    if (!rule)
      return fail(rule.status());
    if (standard && !standard->has(rule->function) && ofOwn.insert(rule->function).second)
      warnOfOwn(where, rule->function, *sink);
    Status suits = standard ? standard->check(*rule, compilation.program()) : Status();
    if (!suits)
      return fail(suits);
    rules.push_back(rule.take());
    rules.back().line = static_cast<uint32_t>(number);
  }
  return rules;
}

std::string linesOfFunction(std::string_view text, llvm::StringRef function) {
  std::string lines;
  for (llvm::StringRef rest(text.data(), text.size()); !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    bool isOurs = line.take_until([](char c) { return llvm::isSpace(c); }) == function;
    lines += (isOurs ? line : "").str() + '\n';
    rest = behind;
  }
  return lines;
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  llvm::StringRef rest(text.data(), text.size());
  auto isOfName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!rest.empty()) {
    llvm::StringRef word = rest.take_while(isOfName);
    if (!word.empty())
      words.push_back(word.str());
    rest = rest.drop_front(std::max<size_t>(word.size(), 1));
  }
  return words;
}

std::vector<llvm::StringRef> functionNames() {
  std::vector<llvm::StringRef> names;
  std::string_view rules = selectionRules();
  for (llvm::StringRef rest(rules.data(), rules.size()); !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    llvm::StringRef word = line.take_until([](char c) { return llvm::isSpace(c); });
    if (!word.empty() && word.front() != '#' && !llvm::is_contained(names, word))
      names.push_back(word);
    rest = behind;
  }
  return names;
}

std::string printRule(const SelectionRule &rule, const Program &program,
                      const std::vector<LibrarySource> &sources) {
  std::string line = rule.function;
  printRange(line, "ranks", rule.minRanks, rule.maxRanks, 1u, UINT32_MAX);
  printRange(line, "bytes", rule.minBytes, rule.maxBytes, uint64_t{0}, UINT64_MAX);
  printRange(line, "total", rule.minTotal, rule.maxTotal, uint64_t{0}, UINT64_MAX);
  printRange(line, "nodes", rule.minNodes, rule.maxNodes, 1u, UINT32_MAX);
  printRange(line, "pernode", rule.minPerNode, rule.maxPerNode, 1u, UINT32_MAX);
  if (rule.types != UINT32_MAX) {
    std::string types;
    for (unsigned t = 0; t < kElementTypes; ++t)
      if (rule.types >> t & 1)
        types += (types.empty() ? "" : ",") + std::string(spelling(static_cast<ElementType>(t)));
    line += " types " + types;
  }
  if (rule.needsCommutative)
    line += " commutative";
  if (rule.needsOversubscribed)
    line += " oversubscribed";
  if (rule.needsMulticast)
    line += " multicast";
  if (rule.needsTcp)
    line += " tcp";
  const Decl &decl = program.decl(DeclId{rule.collective});
  line += " use " + program.nameOf(decl);
  for (uint32_t i : rule.arguments) {
    const GivenArgument &given = program.arguments[i];
    uint16_t file = program.expr(given.value).loc.file; // each argument has a text of its own
    std::string value = file < sources.size() ? sources[file].text : "";
    bool plain = llvm::all_of(value, [](char c) { return !llvm::isSpace(c) && c != '#'; });
    line +=
        " " + program.nameOf(decl.params[given.param]) + "=" + (plain ? value : "'" + value + "'");
  }
  return line;
}

} // namespace colldsl::driver
