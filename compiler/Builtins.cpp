#include "compiler/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <climits>

namespace colldsl {
namespace {

constexpr BuiltinInfo kBuiltins[] = {
    {"ctz", Builtin::Ctz, 1, 1, ValueType::Int, false},
    {"popcount", Builtin::Popcount, 1, 1, ValueType::Int, false},
    {"bitreverse", Builtin::BitReverse, 2, 2, ValueType::Int, false},
    {"log2", Builtin::Log2, 1, 1, ValueType::Int, false},
    {"ceil_log2", Builtin::CeilLog2, 1, 1, ValueType::Int, false},
    {"pow2floor", Builtin::Pow2Floor, 1, 1, ValueType::Int, false},
    {"abs", Builtin::Abs, 1, 1, ValueType::Int, false},
    {"min", Builtin::Min, 2, UINT_MAX, ValueType::Int, false},
    {"max", Builtin::Max, 2, UINT_MAX, ValueType::Int, false},
    {"sum", Builtin::SumList, 1, 1, ValueType::IntList, false},
    {"product", Builtin::ProductList, 1, 1, ValueType::IntList, false},
    {"shift", Builtin::Shift, 3, 3, ValueType::IntList, false},
    {"shift_open", Builtin::ShiftOpen, 3, 3, ValueType::IntList, true},
};

constexpr struct {
  llvm::StringRef name;
  Aggregate aggregate;
} kAggregates[] = {
    {"sum", Aggregate::Sum}, {"product", Aggregate::Product}, {"min", Aggregate::Min},
    {"max", Aggregate::Max}, {"count", Aggregate::Count},
};

constexpr struct {
  llvm::StringRef name;
  ValueType type;
} kValueKinds[] = {
    {"int", ValueType::Int},     {"bool", ValueType::Bool},           {"rank", ValueType::Rank},
    {"bytes", ValueType::Bytes}, {"time", ValueType::Time},           {"string", ValueType::String},
    {"tree", ValueType::Tree},   {"reduction", ValueType::Reduction}, {"graph", ValueType::Graph},
};

constexpr llvm::StringRef kCallNames[] = {
    "ctz",  "popcount", "bitreverse", "log2",    "ceil_log2",   "pow2floor",  "abs",    "min",
    "max",  "sum",      "product",    "count",   "shift",       "shift_open", "length", "edges",
    "part", "segments", "leader",     "leaders", "commutative", "where",      "split",
};

constexpr llvm::StringRef kValueNames[] = {
    "rank", "ranks", "all", "node", "board", "socket", "numa",
#define COLLDSL_REDUCTION(Name, spelling, commutative) spelling,
#include "ir/Vocabulary.def"
};

constexpr llvm::StringRef kKindNames[] = {"int",    "bool", "rank",      "bytes", "time",
                                          "string", "tree", "reduction", "graph", "int[]"};

constexpr struct {
  llvm::StringRef name;
  llvm::StringRef meant; // empty: there is no such element type
} kForeignTypes[] = {
    {"double", "f64"}, {"float", "f32"}, {"half", ""},    {"char", "i8"},    {"byte", "u8"},
    {"short", "i16"},  {"int", "i32"},   {"long", "i64"}, {"size_t", "u64"},
};

// Letters before the number of bits, and what they are here.
constexpr struct {
  llvm::StringRef stem;
  char letter; // 0: there is no such element type
} kStems[] = {
    {"i", 'i'},  {"s", 'i'},     {"int", 'i'}, {"u", 'u'},    {"uint", 'u'}, {"f", 'f'},
    {"fp", 'f'}, {"float", 'f'}, {"bf", 0},    {"bfloat", 0}, {"tf", 0},
};

/// What a name that looks like an element type stands for, empty where there is no such type;
/// nothing if it does not look like one.
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
  std::string meant = it->letter + bits.str();
  return parseElementType(meant) ? meant : std::string();
}

} // namespace

std::string elementTypeMeant(llvm::StringRef name) {
  return readElementType(name).value_or(std::string());
}

bool isTypeVariable(llvm::StringRef name) {
  return llvm::isUpper(name.front()) && !readElementType(name);
}

const BuiltinInfo *findBuiltin(llvm::StringRef name) {
  auto *it = llvm::find_if(kBuiltins, [&](const BuiltinInfo &b) { return b.name == name; });
  return it == std::end(kBuiltins) ? nullptr : it;
}

std::optional<Aggregate> findAggregate(llvm::StringRef name) {
  for (const auto &entry : kAggregates)
    if (entry.name == name)
      return entry.aggregate;
  return std::nullopt;
}

std::optional<ValueType> findValueKind(llvm::StringRef name) {
  for (const auto &entry : kValueKinds)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

llvm::ArrayRef<llvm::StringRef> builtinCallNames() { return kCallNames; }
llvm::ArrayRef<llvm::StringRef> builtinValueNames() { return kValueNames; }
llvm::ArrayRef<llvm::StringRef> valueKindNames() { return kKindNames; }

} // namespace colldsl
