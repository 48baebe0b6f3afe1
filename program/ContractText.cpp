#include "program/ContractText.h"

#include "ir/Concat.h"
#include "ir/Cost.h"

#include <algorithm>

namespace colldsl {
namespace {

std::string joined(const std::vector<std::string> &parts, std::string_view between) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

/// The way of several to write an expression that its value chooses.
std::string_view usageOf(const Expr &e) {
  std::string_view usage = infoOf(e.kind).usage;
  for (int64_t i = 0; i < e.value && usage.find('|') != usage.npos; ++i)
    usage.remove_prefix(usage.find('|') + 1);
  return usage.substr(0, usage.find('|'));
}

bool isSign(std::string_view usage) {
  return !usage.empty() && usage[0] != '.' && usage.find('(') == usage.npos;
}

} // namespace

// Sizes are numbered as the buffers name them, these by their own names: so parameters in another
// order have the same numbers.
ContractText::ContractText(const Program &program, const Decl &collective)
    : program_(program), collective_(collective) {
  std::vector<const Param *> buffers;
  for (const Param &param : collective.params)
    if (param.isBuffer)
      buffers.push_back(&param);
  std::sort(buffers.begin(), buffers.end(), [&](const Param *a, const Param *b) {
    return program.nameOf(*a) < program.nameOf(*b);
  });
  for (const Param *param : buffers)
    buffer(*param);
}

std::string ContractText::ensures() {
  std::vector<std::string> all;
  for (uint32_t root : collective_.ensures)
    if (program_.statementOf(root).kind != EnsureKind::Cost)
      all.push_back(ensure(program_.ensures[root]));
  std::sort(all.begin(), all.end());
  return joined(all, " and ");
}

std::string ContractText::atRank(ExprId slice, ExprId rank) {
  return expr(slice) + (rank == kNoExpr ? "" : "@" + expr(rank));
}

/// `body` and `condition` are in the scope of the loop's variable, which is the next one.
std::string ContractText::loop(const EnsureNode &node, const std::string &body,
                               const std::string &condition) {
  return concat("for $", bound_.size() + 1, " in ", expr(node.iterable),
                condition.empty() ? "" : " if " + condition, ": ", body);
}

std::string ContractText::ensure(const EnsureNode &node) {
  auto inLoop = [&](auto body) {
    bound_.push_back(node.slot);
    std::string condition = node.condition == kNoExpr ? "" : expr(node.condition);
    std::string text = body();
    bound_.pop_back();
    return loop(node, text, condition);
  };
  switch (node.kind) {
  case EnsureKind::Equal:
    return expr(node.target) + " == " + atRank(node.operand, node.rank);
  case EnsureKind::EqualReduce:
    return concat(expr(node.target), " == reduce(", expr(node.reduction), ", ",
                  inLoop([&] { return atRank(node.operand, node.rank); }), ")");
  case EnsureKind::ForEach:
    return inLoop([&] { return ensure(program_.ensures[node.inner]); });
  case EnsureKind::At:
    return concat("at ", expr(node.condition), ": ", ensure(program_.ensures[node.inner]));
  case EnsureKind::Synchronizes:
    return "synchronizes";
  case EnsureKind::Cost:
    return concat(spelling(static_cast<Cost>(node.slot)), " <= ", expr(node.operand));
  }
  return {};
}

std::string ContractText::dim(const Dim &dim) {
  switch (dim.kind) {
  case DimKind::Fixed:
  case DimKind::Symbol:
  case DimKind::Counts:
    return "[" + expr(dim.expr) + "]";
  case DimKind::CallTime:
    return "[*]";
  case DimKind::Capacity:
    return "[<= " + expr(dim.expr) + "]";
  }
  return {};
}

std::string ContractText::buffer(const Param &param) {
  std::string text = param.buffer.generic ? "T" : std::string(spelling(param.buffer.type));
  for (uint32_t d = 0; d < param.buffer.dims; ++d)
    text += dim(param.buffer.dim[d]);
  return param.significantAt == kNoExpr ? text : text + " at " + expr(param.significantAt);
}

std::string ContractText::local(uint32_t slot, bool isSlice) {
  for (size_t depth = bound_.size(); !isSlice && depth > 0; --depth)
    if (bound_[depth - 1] == slot)
      return concat("$", depth);
  for (const Param &param : collective_.params)
    if (param.isBuffer == isSlice && param.slot == slot)
      return program_.nameOf(param);
  isComparable_ = false;
  return "?";
}

std::string ContractText::size(uint32_t slot) {
  auto known = std::find(sizes_.begin(), sizes_.end(), slot);
  auto number = static_cast<size_t>(known - sizes_.begin()) + 1;
  if (known == sizes_.end())
    sizes_.push_back(slot);
  return concat("$n", number);
}

std::string ContractText::literal(const Expr &e) const {
  if (e.type == ValueType::Reduction)
    return std::string(spelling(static_cast<Reduction>(e.value)));
  if (e.type == ValueType::Bool)
    return e.value ? "true" : "false";
  return e.value == kNone ? "none" : std::to_string(e.value);
}

std::string ContractText::listOf(const Expr &e) {
  std::vector<std::string> parts;
  for (uint32_t k = 0; k < index(e.b); ++k)
    parts.push_back(expr(ExprId{program_.operands[index(e.a) + k]}));
  return joined(parts, ", ");
}

/// "(a, b, c)" without the number of a list; a loop's variable is bound in all but its iterable.
std::string ContractText::operandsOf(const Expr &e) {
  const ExprInfo &info = infoOf(e.kind);
  const ExprId ids[] = {e.a, e.b, e.c};
  std::vector<std::string> parts;
  bool isBound = false;
  for (unsigned i = 0; i < info.numOperands(); ++i) {
    bool binds = info.slot == SlotUse::Rank || (info.slot == SlotUse::Loop && i > 0);
    if (binds && !isBound)
      bound_.push_back(e.slot);
    isBound |= binds;
    if (isList(info.operands[i]))
      parts.push_back(listOf(e));
    else if (info.operands[i] != Operand::Count)
      parts.push_back(expr(ids[i]));
  }
  if (isBound)
    bound_.pop_back();
  return "(" + joined(parts, ", ") + ")";
}

std::string ContractText::binary(const Expr &e, std::string_view sign) {
  return concat("(", expr(e.a), " ", sign, " ", expr(e.b), ")");
}

/// "f(a, b)"; with what tells calls of the same kind apart.
std::string ContractText::call(const Expr &e) {
  const ExprInfo &info = infoOf(e.kind);
  std::string name(wordOf(usageOf(e)));
  switch (info.value) {
  case ValueUse::None:
  case ValueUse::Direction:
  case ValueUse::Closed:
    break;
  case ValueUse::Literal:
  case ValueUse::Level:
  case ValueUse::Multicast:
  case ValueUse::Temp:
  case ValueUse::Aggregate:
    name += concat("#", e.value);
    break;
  case ValueUse::Builtin:
    name = std::string(wordOf(infoOf(static_cast<Builtin>(e.value)).usage));
    break;
  case ValueUse::String:
    name += "'" + program_.strings[static_cast<size_t>(e.value)] + "'";
    break;
  case ValueUse::Collective:
  case ValueUse::Tree:
  case ValueUse::Graph:
  case ValueUse::Function:
    isComparable_ = false;
    name = program_.nameOf(program_.decls[static_cast<size_t>(e.value)]);
    break;
  }
  if (name.empty())
    name = concat("expression", static_cast<unsigned>(e.kind));
  return name + operandsOf(e);
}

std::string ContractText::expr(ExprId id) {
  if (id == kNoExpr)
    return "_";
  const Expr &e = program_.expr(id);
  const ExprInfo &info = infoOf(e.kind);
  std::string_view usage = usageOf(e);
  if (e.kind == ExprKind::IntLit)
    return literal(e);
  if (info.slot == SlotUse::Int || info.slot == SlotUse::Slice)
    return local(e.slot, info.slot == SlotUse::Slice);
  if (info.slot == SlotUse::Size)
    return size(e.slot);
  if (info.numOperands() == 0 && isSign(usage))
    return std::string(usage);
  if (info.numOperands() == 2 && info.value == ValueUse::None && isSign(usage))
    return binary(e, usage);
  if (e.kind == ExprKind::RangeOf)
    return expr(e.a) + (e.value ? "..=" : "..") + expr(e.b);
  if (e.kind == ExprKind::Block)
    return concat(expr(e.a), "[", expr(e.b), "]");
  if (usage.starts_with(".") && info.numOperands() == 1)
    return expr(e.a) + std::string(usage);
  return call(e);
}

} // namespace colldsl
