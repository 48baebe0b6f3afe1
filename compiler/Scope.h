/// The names of one declaration's frame: block scopes, and slots.
#pragma once

#include "compiler/Types.h"
#include "ir/Ids.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace colldsl {

/// The meaning of a name: an int slot, a slice slot, or a size symbol.
struct Symbol {
  Type type;
  uint32_t slot = 0;
  bool isSize = false;
  SourceLoc loc;
};

class Scope {
public:
  void push() { marks_.push_back(names_.size()); }
  void pop();

  /// False: the innermost block has that name already.
  bool declare(llvm::StringRef name, const Symbol &symbol);
  /// The innermost symbol of that name, or null.
  const Symbol *find(llvm::StringRef name) const;
  /// The name in the innermost block alone, or null.
  const Symbol *findInBlock(llvm::StringRef name) const;
  /// Names in scope, for suggestions.
  std::vector<llvm::StringRef> names() const;

  uint32_t newSlot(const Type &type) {
    return livesInIntSlot(type.value) ? intSlots++ : sliceSlots++;
  }

  uint32_t intSlots = 0, sliceSlots = 0, sizeSlots = 0;

private:
  struct Declared {
    Symbol symbol;
    size_t depth;
  };
  llvm::StringMap<llvm::SmallVector<Declared, 1>> symbols_;
  std::vector<llvm::StringRef> names_; // as declared; blocks begin at marks_
  std::vector<size_t> marks_;
};

/// Opens a block for as long as it lives.
class BlockScope {
public:
  explicit BlockScope(Scope &scope) : scope_(scope) { scope_.push(); }
  ~BlockScope() { scope_.pop(); }
  BlockScope(const BlockScope &) = delete;
  BlockScope &operator=(const BlockScope &) = delete;

private:
  Scope &scope_;
};

} // namespace colldsl
