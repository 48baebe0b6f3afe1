#include "compiler/SymbolIndex.h"

namespace colldsl {

void SymbolIndex::declare(Symbol symbol) {
  SourceLoc loc = symbol.loc;
  symbols_.try_emplace(loc, std::move(symbol));
}

void SymbolIndex::use(SourceLoc loc, SourceLoc declared) {
  if (loc != declared)
    uses_.try_emplace(loc, declared);
}

void SymbolIndex::member(SourceLoc loc, ValueType base, llvm::StringRef name) {
  members_.try_emplace(loc, Member{loc, base, name.str()});
}

const SymbolIndex::Symbol *SymbolIndex::declaredAt(SourceLoc loc) const {
  auto it = symbols_.find(loc);
  return it == symbols_.end() ? nullptr : &it->second;
}

const SymbolIndex::Symbol *SymbolIndex::at(SourceLoc loc) const {
  auto used = uses_.find(loc);
  return declaredAt(used == uses_.end() ? loc : used->second);
}

const SymbolIndex::Member *SymbolIndex::memberAt(SourceLoc loc) const {
  auto it = members_.find(loc);
  return it == members_.end() ? nullptr : &it->second;
}

std::vector<SymbolIndex::Use> SymbolIndex::uses() const {
  std::vector<Use> all;
  all.reserve(uses_.size());
  for (const auto &[loc, declared] : uses_)
    all.push_back({loc, declared});
  return all;
}

std::vector<SourceLoc> SymbolIndex::usesOf(SourceLoc declared) const {
  std::vector<SourceLoc> places;
  for (const auto &[loc, of] : uses_)
    if (of == declared)
      places.push_back(loc);
  return places;
}

std::vector<const SymbolIndex::Symbol *> SymbolIndex::symbolsIn(uint16_t file) const {
  std::vector<const Symbol *> all;
  for (const auto &[loc, symbol] : symbols_)
    if (loc.file == file)
      all.push_back(&symbol);
  return all;
}

} // namespace colldsl
