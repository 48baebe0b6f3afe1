#include "lsp/Occurrences.h"

#include "lsp/Uri.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>
#include <tuple>

namespace colldsl::lsp {
namespace {

namespace fs = llvm::sys::fs;

constexpr size_t kMaxFiles = 2'000; ///< of a workspace to search

using ByPlace = std::map<std::tuple<std::string, uint32_t, uint16_t>, Occurrence>;

/// The symbol in another analysis; null: it is not there.
const SymbolIndex::Symbol *counterpart(const Analysis &other, const Analysis &own,
                                       const SymbolIndex::Symbol &symbol) {
  if (&other == &own)
    return &symbol;
  std::string path = realPathOf(own.program().files[symbol.loc.file]);
  const std::vector<std::string> &files = other.program().files;
  for (size_t i = 0; i < files.size(); ++i)
    if (realPathOf(files[i]) == path) {
      SourceLoc loc = symbol.loc;
      loc.file = static_cast<uint16_t>(i);
      const SymbolIndex::Symbol *found = other.symbols.declaredAt(loc);
      return found && found->name == symbol.name ? found : nullptr;
    }
  return nullptr;
}

void addFrom(const View &view, const SymbolIndex::Symbol &symbol, ByPlace &found) {
  auto add = [&](SourceLoc loc, bool isDeclaration) {
    std::optional<json::Value> location = view.locationOf(loc, symbol.name.size());
    if (!location)
      return;
    const json::Object &object = *location->getAsObject();
    std::string path = realPathOf(view.analysis().program().files[loc.file]);
    found.try_emplace({path, loc.line, loc.column},
                      Occurrence{object.getString("uri")->str(), path, loc,
                                 *rangeFrom(*object.get("range")), isDeclaration});
  };
  add(symbol.loc, true);
  for (SourceLoc loc : view.analysis().symbols.usesOf(symbol.loc))
    add(loc, false);
}

bool isHidden(llvm::StringRef folder) {
  llvm::StringRef name = llvm::sys::path::filename(folder);
  return name.starts_with(".") || name == "build" || name == "node_modules";
}

std::vector<std::string> filesBelow(const std::string &root) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error, /*follow_symlinks=*/false), end;
       it != end && !error && files.size() < kMaxFiles; it.increment(error)) {
    bool isFolder = it->type() == fs::file_type::directory_file;
    if (isFolder && isHidden(it->path()))
      it.no_push();
    else if (!isFolder && llvm::StringRef(it->path()).ends_with(".coll"))
      files.push_back(it->path());
  }
  llvm::sort(files);
  return files;
}

} // namespace

std::vector<Document> closedFilesWith(Context &context, llvm::StringRef name) {
  std::vector<Document> documents;
  for (const std::string &root : context.roots)
    for (const std::string &path : filesBelow(root)) {
      if (context.workspace.findPath(realPathOf(path)))
        continue;
      auto text =
          llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
      if (!text || !(*text)->getBuffer().contains(name))
        continue;
      Document &document = documents.emplace_back();
      document.uri = uriOf(path);
      document.path = path;
      document.text = (*text)->getBuffer().str();
    }
  return documents;
}

std::vector<Occurrence> occurrencesOf(const View &view, const SymbolIndex::Symbol &symbol) {
  ByPlace found;
  addFrom(view, symbol, found);
  bool isVisible = symbol.kind == SymbolKind::Declaration || symbol.kind == SymbolKind::Parameter;
  std::vector<Document> closed;
  if (isVisible)
    closed = closedFilesWith(view.context(), symbol.name);
  auto search = [&](Document &document) {
    View other(view.context(), document);
    if (!other.hasAnalysis() || &document == &view.document())
      return;
    if (const SymbolIndex::Symbol *same = counterpart(other.analysis(), view.analysis(), symbol))
      addFrom(other, *same, found);
  };
  for (auto &[path, document] : view.context().workspace.documents())
    search(document);
  for (Document &document : closed)
    search(document);
  std::vector<Occurrence> all;
  for (auto &[place, occurrence] : found)
    all.push_back(std::move(occurrence));
  return all;
}

} // namespace colldsl::lsp
