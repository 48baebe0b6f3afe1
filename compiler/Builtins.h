/// The words that the language knows by itself, as tables.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace colldsl {

std::optional<Builtin> findBuiltin(llvm::StringRef name);
std::optional<Aggregate> findAggregate(llvm::StringRef name);
std::optional<ValueType> findValueKind(llvm::StringRef name); ///< `int`, `rank`, ... of parameters

/// An expression that has a word of its own.
struct WordInfo {
  ExprKind kind;
  int64_t value; ///< Expr::value, where the word chooses it
};
/// The expression that is written as a call of that name.
std::optional<ExprKind> findCall(llvm::StringRef name);
/// The member of a base, or its member function. `names` gets the members that come before it, or
/// all if there is none of that name.
std::optional<WordInfo> findMember(ValueType base, llvm::StringRef name, bool isFunction,
                                   std::vector<llvm::StringRef> &names);
/// True if some type has a member function of that name.
bool isMemberFunction(llvm::StringRef name);

/// The element type that another language calls by this name (`double` is f64), or that has the
/// same letters; empty if there is none.
std::string elementTypeMeant(llvm::StringRef name);
/// True if a buffer's type of this name is a type variable: it begins with a capital letter and
/// does not look like an element type (`F32`, `TF32`).
bool isTypeVariable(llvm::StringRef name);

/// Every name that may be called without being declared.
std::vector<llvm::StringRef> builtinCallNames();
/// Every name that may be used as a value without being declared.
llvm::ArrayRef<llvm::StringRef> builtinValueNames();
std::vector<llvm::StringRef> valueKindNames();

} // namespace colldsl
