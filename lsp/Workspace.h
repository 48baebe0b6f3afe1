/// The documents that are open, with their analyses.
#pragma once

#include "lsp/Analysis.h"
#include "lsp/Positions.h"

#include "llvm/Support/JSON.h"

#include <map>

namespace colldsl::lsp {

struct Document {
  std::string uri; ///< as the client writes it
  std::string path;
  std::string text;
  int64_t version = 0;
  uint64_t generation = 0;                  ///< counts the texts of all documents
  bool isPublished = false;                 ///< the client has the diagnostics of this text
  std::string published;                    ///< the parameters of its last publication, as text
  std::shared_ptr<const Analysis> analysis; ///< null: not analysed yet, or stale
  std::shared_ptr<const Analysis> named;    ///< the last that has names, perhaps of an older text
};

class Workspace {
public:
  explicit Workspace(CompileOptions options) : options_(std::move(options)) {}

  Document &open(const std::string &uri, std::string text, int64_t version);
  void close(const std::string &uri);
  /// Applies the contentChanges of a didChange. False: they are malformed, and the text stays.
  bool change(Document &document, const llvm::json::Array &changes, int64_t version,
              Encoding encoding);
  /// Tells that a file changed on the disk.
  void touch(const std::string &path);

  Document *find(llvm::StringRef uri);
  Document *findPath(const std::string &realPath);

  /// The analysis of the document's present text.
  const Analysis &analyse(Document &document);
  /// The analysis of another text for the path. `instead` has texts that replace imported files, by
  /// real path.
  std::shared_ptr<const Analysis> analyse(const std::string &path, std::string text,
                                          std::map<std::string, std::string> instead = {});

  /// The file that an import of a document names; empty: there is none.
  std::string importedFile(llvm::StringRef path, const Document &importer) const;

  std::map<std::string, Document> &documents() { return documents_; }

private:
  void expire(const std::string &path);
  CompileOptions optionsFor(const std::string &path) const;

  CompileOptions options_;
  uint64_t generations_ = 0;
  std::map<std::string, Document> documents_; ///< by path
};

} // namespace colldsl::lsp
