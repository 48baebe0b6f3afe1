// Calls of collectives: composition, over the current group or another.
#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {

namespace {

std::string_view kindOfValue(ValueType type) {
  switch (type) {
  case ValueType::IntList:
    return "a list of ints";
  case ValueType::Graph:
    return "a graph";
  case ValueType::Tree:
    return "a tree of all ranks";
  default:
    return type <= ValueType::Reduction ? "a number" : "no plain value";
  }
}

} // namespace

/// Translates a value from the numbering of the current group to that of `to`.
int64_t Interpreter::translate(int64_t value, ValueType type, const Group &to, SourceLoc loc,
                               const Param &param) {
  auto translateArgs = [&](std::vector<int64_t> &args, DeclId decl) {
    for (size_t i = 0; i < args.size(); ++i)
      args[i] = translate(args[i], program_.decl(decl).params[i].type, to, loc, param);
  };
  if (type == ValueType::Tree) {
    int64_t there = trees_.next();
    TreeValue &tree = trees_[there] = trees_[value];
    tree.view = {};
    translateArgs(tree.args, tree.decl);
    if (recordsTrees)
      trees.push_back({to, tree, loc});
    return there;
  }
  if (type == ValueType::Graph) {
    int64_t there = graphs_.next();
    GraphValue &graph = graphs_[there] = graphs_[value];
    graph.view = {};
    if (graph.decl != kNoDecl)
      translateArgs(graph.args, graph.decl);
    return there;
  }
  if (type != ValueType::Rank || value == kNone)
    return value;
  const Group &from = currentGroup();
  int64_t there =
      value >= 0 && value < from.size ? to.find(from.world(static_cast<uint32_t>(value))) : kNone;
  if (there == kNone)
    fail(loc, "argument '" + program_.nameOf(param) + "' is rank " + std::to_string(value) +
                  ", which is not in the group of " + std::to_string(to.size) +
                  " ranks that the call runs over");
  return there;
}

void Interpreter::checkValue(const Param &param, SourceLoc loc) {
  int64_t value = intSlot(param.slot);
  if (failed_)
    return;
  const std::string &name = program_.nameOf(param);
  if (param.type == ValueType::Rank && value != kNone &&
      (value < 0 || value >= currentGroup().size))
    return failBeyond(loc, "'" + name + "' is rank", value);
  if (param.type == ValueType::Rank && value == kNone)
    return fail(loc, "'" + name + "' is 'none'");
  bool isNumber = param.type == ValueType::Int || param.type == ValueType::Bytes;
  if (!isNumber || param.candidates.size() != 1 || param.candidates[0].hi == kNoExpr)
    return;
  int64_t lo = eval(param.candidates[0].lo), hi = eval(param.candidates[0].hi);
  if (value < lo || value > hi)
    fail(loc, "'" + name + "' is " + std::to_string(value) + ", which is not in " +
                  std::to_string(lo) + ".." + std::to_string(hi));
}

void Interpreter::bindDefault(const Param &param) {
  if (param.defaultValue == kNoExpr)
    return fail(param.loc, "parameter '" + program_.nameOf(param) + "' has no value",
                "give it with --set " + program_.nameOf(param) + "=VALUE");
  int64_t value = eval(param.defaultValue);
  intSlot(param.slot) = value;
}

void Interpreter::bindEntryValues(const Decl &decl) {
  for (size_t i = 0; i < decl.params.size() && !failed_; ++i) {
    const Param &param = decl.params[i];
    if (param.isBuffer)
      continue;
    if (i < request_.values.size() && request_.values[i].index() != 0) {
      bindGivenValue(param, request_.values[i]);
    } else if (i < request_.arguments.size() && request_.arguments[i] != kNoExpr) {
      int64_t value = eval(request_.arguments[i]);
      intSlot(param.slot) = value;
    } else {
      bindDefault(param);
    }
    checkValue(param, param.loc);
  }
}

/// Binds a value from outside. Whatever the value is, the slot gets one of the parameter's type.
void Interpreter::bindGivenValue(const Param &param, const GivenValue &value) {
  const std::string &name = program_.nameOf(param);
  int64_t &slot = intSlot(param.slot);
  if (auto *list = std::get_if<std::vector<int64_t>>(&value);
      list && param.type == ValueType::IntList) {
    slot = newList();
    if (std::find(list->begin(), list->end(), kNone) != list->end())
      return fail(param.loc, "'" + name + "' has an element that is out of range");
    if (step(param.loc, list->size()))
      this->list(slot).assign(list->begin(), list->end());
    return;
  }
  if (auto *graph = std::get_if<const GivenGraph *>(&value);
      graph && param.type == ValueType::Graph) {
    slot = graphs_.next();
    graphs_[slot].decl = kNoDecl;
    graphs_[slot].given = *graph;
    return;
  }
  if (auto *tree = std::get_if<std::shared_ptr<const GivenTree>>(&value);
      tree && param.type == ValueType::Tree) {
    slot = trees_.next();
    trees_[slot].given = tree->get();
    if (recordsTrees)
      trees.push_back({currentGroup(), trees_[slot], param.loc});
    return;
  }
  auto *number = std::get_if<int64_t>(&value);
  bool takesNumber = param.type <= ValueType::Reduction;
  if (!number || !takesNumber)
    return fail(param.loc, "'" + name + "' takes " + std::string(kindOfValue(param.type)));
  bool known = param.type != ValueType::Reduction ||
               (*number >= 0 && *number < static_cast<int64_t>(kReductions));
  if (*number == kNone || !known)
    return fail(param.loc, "'" + name + "' is out of range");
  slot = param.type == ValueType::Bool ? *number != 0 : *number;
}

/// ints, slices: the arguments in the caller's numbering, each kind in the order of the parameters.
void Interpreter::bindCall(const Stmt &s, Frame &callee, int64_t *ints, const SliceValue *slices) {
  const Decl &decl = *callee.decl;
  std::span<const uint32_t> given = std::span(program_.operands).subspan(s.listBegin, s.listCount);
  auto isGiven = [&](size_t i) { return ExprId{given[i]} != kNoExpr; };
  if (callee.group != frame_->group) {
    int64_t *next = ints;
    for (size_t i = 0; i < decl.params.size() && !failed_; ++i)
      if (const Param &param = decl.params[i]; !param.isBuffer) {
        if (isGiven(i))
          *next = translate(*next, param.type, *callee.group, s.loc, param);
        ++next;
      }
  }
  if (failed_)
    return;
  FrameScope scope(*this, callee);
  for (size_t i = 0; i < decl.params.size() && !failed_; ++i) {
    const Param &param = decl.params[i];
    if (param.isBuffer)
      continue;
    if (isGiven(i))
      intSlot(param.slot) = *ints;
    else
      bindDefault(param);
    ++ints;
    checkValue(param, s.loc);
  }
  for (size_t i = 0; i < decl.params.size() && !failed_; ++i)
    if (decl.params[i].isBuffer)
      bindArgument(decl.params[i], *slices++, s.loc);
  checkRequirements(decl, s.loc);
  runBody(callee.declId);
}

/// The group of a call; null if this rank is no member, and has nothing to do.
const Group *Interpreter::groupOfCall(int64_t handle) {
  const Group &group = groups_[handle];
  if (group.me == kNone)
    return nullptr;
  bool isSame = group.members == frame_->group->members && group.size == frame_->group->size;
  return isSame ? frame_->group : &group;
}

void Interpreter::execCall(const Stmt &s, const Group *group, int64_t *ints,
                           const SliceValue *slices) {
  if (!step(s.loc))
    return;
  DeclId decl{static_cast<uint32_t>(s.value)};
  if (!checkRecursion(decl, group->size, s.loc))
    return;
  uint64_t site = mixHash(frame_->instance, 0xca11 + uint64_t{s.loc.file} * 0x9e3779b97f4a7c15u +
                                                (uint64_t{s.loc.line} << 16 | s.loc.column));
  // Counted per group: members of this one need not take part in the others of a loop.
  site = mixHash(site, group->members == frame_->group->members ? 0 : hashOf(*group));
  uint64_t instance = mixHash(site, counts_[site]++);
  if (recordsCalls)
    recordCall(instance, *group, s.loc);
  Frame callee = openFrame(decl, group, s.loc);
  callee.instance = instance;
  bindCall(s, callee, ints, slices);
}

/// A collective may call itself over a strictly smaller group only.
bool Interpreter::checkRecursion(DeclId decl, uint32_t groupSize, SourceLoc loc) {
  for (const Frame *f = frame_; f; f = f->caller) {
    if (f->declId != decl)
      continue;
    if (groupSize < f->group->size)
      return true;
    fail(loc, "'" + program_.nameOf(*f->decl) + "' calls itself over a group of " +
                  std::to_string(groupSize) + " ranks, which is not smaller than its own of " +
                  std::to_string(f->group->size));
    return false;
  }
  return true;
}

void Interpreter::recordCall(uint64_t instance, const Group &group, SourceLoc loc) {
  calls.push_back({instance, hashOf(group), group.size, loc});
}

} // namespace colldsl
