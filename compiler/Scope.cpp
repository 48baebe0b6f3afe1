#include "compiler/Scope.h"

namespace colldsl {

void Scope::pop() {
  for (; names_.size() > marks_.back(); names_.pop_back())
    symbols_[names_.back()].pop_back();
  marks_.pop_back();
}

bool Scope::declare(llvm::StringRef name, const Symbol &symbol) {
  auto it = symbols_.try_emplace(name).first;
  auto &declared = it->second;
  if (!declared.empty() && declared.back().depth == marks_.size())
    return false;
  declared.push_back({symbol, marks_.size()});
  names_.push_back(it->getKey());
  return true;
}

const Symbol *Scope::find(llvm::StringRef name) const {
  auto it = symbols_.find(name);
  return it == symbols_.end() || it->second.empty() ? nullptr : &it->second.back().symbol;
}

const Symbol *Scope::findInBlock(llvm::StringRef name) const {
  auto it = symbols_.find(name);
  bool here =
      it != symbols_.end() && !it->second.empty() && it->second.back().depth == marks_.size();
  return here ? &it->second.back().symbol : nullptr;
}

std::vector<llvm::StringRef> Scope::names() const { return names_; }

} // namespace colldsl
