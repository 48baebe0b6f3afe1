#include "tests/random/Shrink.h"

#include "tests/random/Judge.h"
#include "tests/random/Mutate.h"

namespace colldsl::generated {
namespace {

class Shrinker {
public:
  Shrinker(Program program, uint64_t seed)
      : best_(std::move(program)), seed_(seed), why_(judge(best_, seed).why) {}

  Program run() {
    for (bool shorter = true; shorter;)
      shorter = dropStatements() || unwrapStatements() || dropEnsures();
    return best_;
  }

private:
  bool keepIfUnsound(Program changed) {
    Verdict verdict = judge(changed, seed_);
    if (verdict.outcome != Outcome::Unsound || verdict.why != why_)
      return false;
    best_ = std::move(changed);
    return true;
  }

  bool dropStatements() {
    for (size_t list = 0; list < statementLists(best_).size(); ++list)
      for (size_t i = 0; i < statementLists(best_)[list]->size(); ++i) {
        Program changed = best_;
        std::vector<Stmt> &body = *statementLists(changed)[list];
        body.erase(body.begin() + static_cast<ptrdiff_t>(i));
        if (keepIfUnsound(std::move(changed)))
          return true;
      }
    return false;
  }

  /// An `if` becomes one of its arms.
  bool unwrapStatements() {
    for (size_t list = 0; list < statementLists(best_).size(); ++list)
      for (size_t i = 0; i < statementLists(best_)[list]->size(); ++i) {
        if ((*statementLists(best_)[list])[i].kind != Stmt::Kind::If)
          continue;
        Program changed = best_;
        std::vector<Stmt> &body = *statementLists(changed)[list];
        std::vector<Stmt> arm = body[i].body;
        body.erase(body.begin() + static_cast<ptrdiff_t>(i));
        body.insert(body.begin() + static_cast<ptrdiff_t>(i), arm.begin(), arm.end());
        if (keepIfUnsound(std::move(changed)))
          return true;
      }
    return false;
  }

  bool dropEnsures() {
    for (size_t i = 0; i < best_.main().ensures.size(); ++i) {
      Program changed = best_;
      changed.main().ensures.erase(changed.main().ensures.begin() + static_cast<ptrdiff_t>(i));
      if (keepIfUnsound(std::move(changed)))
        return true;
    }
    return false;
  }

  Program best_;
  uint64_t seed_;
  std::string why_;
};

} // namespace

Program shrink(Program program, uint64_t seed) { return Shrinker(std::move(program), seed).run(); }

} // namespace colldsl::generated
