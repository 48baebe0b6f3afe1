/// The words that the language knows by itself, as tables.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace colldsl {

/// A function of ints (and lists, see argument types).
struct BuiltinInfo {
  llvm::StringRef name;
  Builtin builtin;
  unsigned minArgs, maxArgs;
  ValueType first; ///< type of the first argument; the others are ints
  bool maybeNone;  ///< may yield none
};

const BuiltinInfo *findBuiltin(llvm::StringRef name);
std::optional<Aggregate> findAggregate(llvm::StringRef name);
std::optional<ValueType> findValueKind(llvm::StringRef name); ///< `int`, `rank`, ... of parameters

/// The element type that another language calls so (`double` is f64), or that has the same letters;
/// empty if there is none.
std::string elementTypeMeant(llvm::StringRef name);
/// Whether a buffer's type of this name is a type variable: a capital letter first, and not the
/// look of an element type (`F32`, `BF16`).
bool isTypeVariable(llvm::StringRef name);

/// Every name that may be called without being declared.
llvm::ArrayRef<llvm::StringRef> builtinCallNames();
/// Every name that may be used as a value without being declared.
llvm::ArrayRef<llvm::StringRef> builtinValueNames();
llvm::ArrayRef<llvm::StringRef> valueKindNames();

} // namespace colldsl
