#include "compiler/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

namespace colldsl {
namespace {

constexpr llvm::StringRef kAggregates[] = {
#define COLLDSL_AGGREGATE(Name, usage, summary) wordOf(usage),
#include "program/Builtins.def"
};

constexpr llvm::StringRef kValueKinds[] = {
#define COLLDSL_TYPE(Name, spelling, description) spelling,
#include "program/Types.def"
};

constexpr llvm::StringRef kBuiltinNames[] = {
#define COLLDSL_BUILTIN(Name, usage, ...) wordOf(usage),
#include "program/Builtins.def"
};

/// One way to write a kind of expression.
struct Usage {
  ExprKind kind{};
  int64_t value = 0;
  llvm::StringRef word;
  bool isMember = false;
  bool isCall = false;
};

constexpr size_t countUsages() {
  size_t count = 0;
  forEachUsage([&](ExprKind, std::string_view, int64_t) { ++count; });
  return count;
}

constexpr auto kUsages = [] {
  std::array<Usage, countUsages()> all;
  size_t count = 0;
  forEachUsage([&](ExprKind kind, std::string_view usage, int64_t value) {
    bool isMember = usage.starts_with('.'), isCall = usage.find('(') != usage.npos;
    all[count++] = {kind, value, wordOf(usage), isMember, isCall};
  });
  return all;
}();

constexpr llvm::StringRef kValueNames[] = {
    "rank", "ranks", "all", "node", "board", "socket", "numa",
#define COLLDSL_REDUCTION(Name, spelling, ...) spelling,
#include "ir/Vocabulary.def"
};

constexpr struct {
  llvm::StringRef name;
  llvm::StringRef meant;
} kForeignTypes[] = {
    {"double", "f64"}, {"float", "f32"}, {"half", "f16"}, {"char", "i8"},    {"byte", "u8"},
    {"short", "i16"},  {"int", "i32"},   {"long", "i64"}, {"size_t", "u64"},
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, numpy, ...) {numpy, spelling},
#include "ir/Vocabulary.def"
};

// Letters before the number of bits, and what they are here.
constexpr struct {
  llvm::StringRef stem;
  llvm::StringRef letters;
} kStems[] = {
    {"i", "i"},  {"s", "i"},     {"int", "i"}, {"u", "u"},       {"uint", "u"}, {"f", "f"},
    {"fp", "f"}, {"float", "f"}, {"bf", "bf"}, {"bfloat", "bf"}, {"tf", "tf"},
};

/// The type that a foreign name of an element type stands for; empty if colldsl has no such type.
/// Nothing if the name does not look like an element type.
std::optional<std::string> readElementType(llvm::StringRef name) {
  std::string lower = name.lower();
  for (const auto &foreign : kForeignTypes)
    if (foreign.name == lower)
      return foreign.meant.str();
  llvm::StringRef stem = lower;
  stem.consume_back("_t");
  llvm::StringRef bits = stem.drop_while([](char c) { return !llvm::isDigit(c); });
  stem = stem.drop_back(bits.size());
  const auto *it = llvm::find_if(kStems, [&](const auto &s) { return s.stem == stem; });
  if (it == std::end(kStems) || bits.empty() || !llvm::all_of(bits, llvm::isDigit))
    return std::nullopt;
  std::string meant = it->letters.str() + bits.str();
  return parseElementType(meant) ? meant : std::string();
}

} // namespace

std::string elementTypeMeant(llvm::StringRef name) {
  return readElementType(name).value_or(std::string());
}

bool isTypeVariable(llvm::StringRef name) {
  return llvm::isUpper(name.front()) && !readElementType(name);
}

std::optional<Builtin> findBuiltin(llvm::StringRef name) {
  const auto *it = llvm::find(kBuiltinNames, name);
  if (it == std::end(kBuiltinNames))
    return std::nullopt;
  return static_cast<Builtin>(it - kBuiltinNames);
}

std::optional<Aggregate> findAggregate(llvm::StringRef name) {
  const auto *it = llvm::find(kAggregates, name);
  if (it == std::end(kAggregates))
    return std::nullopt;
  return static_cast<Aggregate>(it - kAggregates);
}

std::optional<ValueType> findValueKind(llvm::StringRef name) {
  const auto *it = llvm::find(kValueKinds, name);
  if (it == std::end(kValueKinds) || name.empty())
    return std::nullopt;
  return static_cast<ValueType>(it - kValueKinds);
}

std::optional<ExprKind> findCall(llvm::StringRef name) {
  for (const Usage &usage : kUsages)
    if (usage.isCall && !usage.isMember && usage.word == name)
      return usage.kind;
  return std::nullopt;
}

std::optional<WordInfo> findMember(ValueType base, llvm::StringRef name, bool isFunction,
                                   std::vector<llvm::StringRef> &names) {
  for (const Usage &usage : kUsages) {
    bool fits = usage.isMember && usage.isCall == isFunction &&
                infoOf(usage.kind).operands[0] == static_cast<Operand>(base);
    if (fits && usage.word == name)
      return WordInfo{usage.kind, usage.value};
    if (fits)
      names.push_back(usage.word);
  }
  return std::nullopt;
}

bool isMemberFunction(llvm::StringRef name) {
  return llvm::any_of(kUsages, [&](const Usage &usage) {
    return usage.isMember && usage.isCall && usage.word == name;
  });
}

std::vector<llvm::StringRef> builtinCallNames() {
  std::vector<llvm::StringRef> names(std::begin(kBuiltinNames), std::end(kBuiltinNames));
  llvm::append_range(names, kAggregates);
  for (const Usage &usage : kUsages)
    if (usage.isCall && !usage.isMember)
      names.push_back(usage.word);
  return names;
}

llvm::ArrayRef<llvm::StringRef> builtinValueNames() { return kValueNames; }

std::vector<llvm::StringRef> valueKindNames() {
  std::vector<llvm::StringRef> names;
  for (llvm::StringRef name : kValueKinds)
    if (!name.empty())
      names.push_back(name);
  return names;
}

} // namespace colldsl
