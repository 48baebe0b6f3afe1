#include "lsp/Workspace.h"

#include "compiler/FileLoader.h"
#include "lsp/ToJson.h"
#include "lsp/Uri.h"

namespace colldsl::lsp {

Document &Workspace::open(const std::string &uri, std::string text, int64_t version) {
  std::string path = pathOf(uri);
  Document &document = documents_[path];
  document = {uri, path, std::move(text), version, ++generations_, false, "", nullptr, nullptr};
  expire(path);
  return document;
}

/// From now on the text on the disk counts again.
void Workspace::close(const std::string &uri) {
  std::string path = pathOf(uri);
  documents_.erase(path);
  expire(path);
}

void Workspace::touch(const std::string &path) { expire(path); }

/// Discards the analyses of the path, of documents that read the file, and of those with mistakes:
/// the file may declare names that they did not find.
void Workspace::expire(const std::string &path) {
  std::string real = realPathOf(path);
  for (auto &[own, document] : documents_) {
    bool isFine = document.analysis && document.analysis->compilation.ok();
    if (own != path && isFine && !document.analysis->reads(real))
      continue;
    document.analysis = nullptr;
    document.isPublished = false;
    document.generation = ++generations_;
  }
}

bool Workspace::change(Document &document, const llvm::json::Array &changes, int64_t version,
                       Encoding encoding) {
  std::string text = document.text;
  for (const llvm::json::Value &value : changes) {
    const llvm::json::Object *change = value.getAsObject();
    std::optional<llvm::StringRef> by = change ? change->getString("text") : std::nullopt;
    if (!by)
      return false;
    const llvm::json::Value *range = change->get("range");
    std::optional<Range> where = range ? rangeFrom(*range) : std::nullopt;
    if (range && !where)
      return false;
    text = where ? replaced(text, *where, *by, encoding) : by->str();
  }
  document.text = std::move(text);
  document.version = version;
  expire(document.path);
  return true;
}

Document *Workspace::find(llvm::StringRef uri) {
  auto it = documents_.find(pathOf(uri));
  return it == documents_.end() ? nullptr : &it->second;
}

Document *Workspace::findPath(const std::string &realPath) {
  for (auto &[path, document] : documents_)
    if (realPathOf(path) == realPath)
      return &document;
  return nullptr;
}

CompileOptions Workspace::optionsFor(const std::string &path) const {
  CompileOptions options = options_;
  for (const auto &[other, document] : documents_)
    if (other != path)
      options.openTexts.emplace(realPathOf(other), document.text);
  return options;
}

std::string Workspace::importedFile(llvm::StringRef path, const Document &importer) const {
  return findImport(path, importer.path, options_.includePaths);
}

std::shared_ptr<const Analysis> Workspace::analyse(const std::string &path, std::string text,
                                                   std::map<std::string, std::string> instead) {
  CompileOptions options = optionsFor(path);
  instead.merge(options.openTexts);
  options.openTexts = std::move(instead);
  return lsp::analyse(path, std::move(text), options);
}

const Analysis &Workspace::analyse(Document &document) {
  if (!document.analysis) {
    document.analysis = analyse(document.path, document.text);
    if (document.analysis->hasNames())
      document.named = document.analysis;
  }
  return *document.analysis;
}

} // namespace colldsl::lsp
