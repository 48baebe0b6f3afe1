// Types of the results of functions, which follow from their expressions.
//
// Functions that call each other, in a circle, are a component (Tarjan 1972: one depth-first
// walk, callees first). Their types are found as a fixed point: at first no type is known, which
// fits everywhere; a function is analysed again when the type of one that it calls has changed.
// Example: f(k) = k == 0 ? none : g(k); g(k) = k == 1 ? rank : f(k - 2): at first f is anything,
// so g is a rank; then f may be none; then g may be none; then nothing changes.
//
// All of this happens in a program that is thrown away: expressions that are analysed while types
// are unknown never become part of the result.
#include "compiler/SemaImpl.h"

#include <deque>

namespace colldsl {

using llvm::cast;

namespace {

/// The most changes of a type: it gets its kind, loses its unit, may be none. More changes are a
/// circle.
constexpr unsigned kMaxChanges = 8;

} // namespace

std::vector<Sema::FunctionResult> Sema::functionResults() {
  for (const auto &work : works_) // all first: what a default calls may use the declaration itself
    if (program_.decl(work->id).kind != DeclKind::Collective)
      needHead(*work);
  infers_ = true;
  std::vector<FunctionResult> results;
  for (const auto &work : works_) {
    if (program_.decl(work->id).kind == DeclKind::Function)
      resultOf(*work);
    results.push_back(work->result);
  }
  return results;
}

void Sema::takeResults(const std::vector<FunctionResult> &results) {
  for (size_t i = 0; i < works_.size(); ++i)
    works_[i]->result = results[i];
}

/// The type of a function's result; while types are being inferred, as far as it is known so far.
Type Sema::resultOf(Work &work) {
  if (!infers_)
    return work.result.type;
  if (work.isOpen)
    inferred_->lowest = std::min(inferred_->lowest, work.order);
  else if (!work.result.isFinal)
    openFunction(work);
  if (work.isOpen)
    work.callers.insert(inferred_);
  return work.result.type;
}

/// The walk: analyses the function and all that it calls.
void Sema::openFunction(Work &work) {
  work.order = work.lowest = ++orders_;
  work.isOpen = true;
  open_.push_back(&work);
  inferBody(work);
  if (Work *caller = inferred_)
    caller->lowest = std::min(caller->lowest, work.lowest);
  if (work.lowest == work.order)
    closeComponent(work);
}

/// `first` is the one of its component that was opened first: the others are above it.
void Sema::closeComponent(Work &first) {
  auto begin = llvm::find(open_, &first);
  std::vector<Work *> members(begin, open_.end());
  std::deque<Work *> changed(members.rbegin(), members.rend()); // callees first
  bool isCircle = members.size() > 1 || first.callers.contains(&first);
  while (isCircle && !changed.empty()) {
    Work &work = *changed.front();
    changed.pop_front();
    work.isQueued = false;
    if (!inferBody(work))
      continue;
    for (Work *caller : work.callers)
      if (!std::exchange(caller->isQueued, true))
        changed.push_back(caller);
  }
  bool hasErrors = llvm::any_of(members, [](Work *w) { return !w->result.errors.empty(); });
  for (Work *work : members) {
    work->isOpen = false;
    work->result.isFinal = true;
    if (work->result.type.invalid && !hasErrors && isCircle)
      work->result.errors.push_back(Diagnostic::error(
          work->ast->name.loc, "'" + work->ast->name.text.str() +
                                   "' has no value: every way through it calls it again"));
  }
  open_.erase(begin, open_.end());
}

/// Infers the type of the function's result once more. True if the type changed.
bool Sema::inferBody(Work &work) {
  if (work.result.changes > kMaxChanges)
    return false;
  size_t exprs = program_.exprs.size(), operands = program_.operands.size();
  size_t errors = errors_.size();
  Work *caller = std::exchange(inferred_, &work);
  Type type = bodyOf(work).type;
  inferred_ = caller;
  program_.exprs.resize(exprs);
  program_.operands.resize(operands);
  FunctionResult &result = work.result;
  result.errors.assign(errors_.begin() + static_cast<ptrdiff_t>(errors), errors_.end());
  errors_.resize(errors);
  if (type == result.type)
    return false;
  if (++result.changes > kMaxChanges) {
    type = Type::error();
    result.errors.push_back(Diagnostic::error(
        work.ast->name.loc, "'" + work.ast->name.text.str() +
                                "' has no type: what its calls of itself yield depends on it"));
  }
  result.type = type;
  return true;
}

/// The expression of a function, in its own scope.
TypedExpr Sema::bodyOf(Work &work) {
  Work *outerWork = std::exchange(work_, &work);
  Scope *outerScope = std::exchange(scope_, &work.scope);
  depth_ += kDepthOfDecl;
  const auto &function = cast<ast::FunctionDecl>(*work.ast);
  TypedExpr result = expr(*function.result);
  depth_ -= kDepthOfDecl;
  if (!result.type.invalid && !livesInIntSlot(result.type.value))
    result.type = failed(function.result->loc, "a function cannot yield " + describe(result.type));
  work_ = outerWork;
  scope_ = outerScope;
  return result;
}

/// Analyses the function for the program that stays. Reports the reason if it has no type.
void Sema::analyseFunction(Work &work) {
  size_t errorsBefore = errors_.size();
  TypedExpr result = bodyOf(work);
  decl().result = result.id;
  if (!work.result.type.invalid || errors_.size() > errorsBefore)
    return;
  for (const Diagnostic &why : work.result.errors)
    if (!full())
      errors_.push_back(why);
}

} // namespace colldsl
