#include "lsp/Analysis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace colldsl::lsp {

std::string realPathOf(const std::string &path) {
  llvm::SmallString<256> real;
  return llvm::sys::fs::real_path(path, real) ? path : real.str().str();
}

bool Analysis::reads(const std::string &realPath) const {
  return llvm::any_of(program().files,
                      [&](const std::string &file) { return realPathOf(file) == realPath; });
}

const Decl *Analysis::declOf(const SymbolIndex::Symbol &symbol) const {
  return index(symbol.decl) < program().decls.size() ? &program().decl(symbol.decl) : nullptr;
}

std::shared_ptr<const Analysis> analyse(const std::string &path, std::string text,
                                        CompileOptions options) {
  auto analysis = std::make_shared<Analysis>();
  analysis->path = path;
  analysis->text = std::move(text);
  options.symbols = &analysis->symbols;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(analysis->text, path));
  analysis->compilation = compileTexts(std::move(files), options);
  const std::vector<std::string> &names = analysis->program().files;
  if (auto it = llvm::find(names, path); it != names.end())
    analysis->file = static_cast<uint16_t>(it - names.begin());
  return analysis;
}

} // namespace colldsl::lsp
