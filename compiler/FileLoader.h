/// Reads and parses the files of a compilation, and those that they import.
#pragma once

#include "compiler/Ast.h"
#include "compiler/Compile.h"
#include "compiler/Sources.h"
#include "ir/Result.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <vector>

namespace colldsl {

struct LoadedFile {
  std::shared_ptr<const Ast> ast;
  std::vector<const ast::Decl *> decls; ///< of the tree: the ones to analyse
  bool isMain = false;                  ///< named by the user, not imported
};

/// Finds the file that an import of `path` in the file `importer` names, in the importer's folder
/// or one of the include paths; empty if there is none.
std::string findImport(llvm::StringRef path, llvm::StringRef importer,
                       const std::vector<std::string> &includePaths);

/// An import is looked for in the folder of the importing file, then in the include
/// paths. Each file is read once, however many import it; a file that imports itself,
/// directly or through others, is an error. Imports ordinary files only.
class FileLoader {
public:
  /// All of them outlive this object.
  FileLoader(Sources &sources, std::vector<Diagnostic> &errors, const CompileOptions &options)
      : sources_(sources), errors_(errors), options_(options), limits_(options.limits) {}

  void loadMain(const std::string &path);
  /// Variant of loadMain() of a path, for a file that was read; the buffer is named by its path.
  void loadMain(std::unique_ptr<llvm::MemoryBuffer> file);
  /// Loads the standard library, before all other files. It imports nothing, and the limits of the
  /// user do not apply to it.
  void loadStdlib();

  /// The files without errors, imported ones before their importers.
  std::vector<LoadedFile> takeFiles() { return std::move(files_); }

private:
  enum class State : uint8_t { Busy, Done };
  struct Importer {
    std::string path; ///< of the file that is being loaded
    SourceLoc import; ///< of the import in it that is being followed
  };

  void keep(std::shared_ptr<const Ast> ast, bool isMain);
  void load(Result<uint16_t> file, llvm::StringRef realPath, bool isMain);
  void follow(const ast::Import &import, uint16_t importer);
  Result<uint16_t> read(const std::string &path);
  Result<uint16_t> add(std::unique_ptr<llvm::MemoryBuffer> file);
  Status checkSize(uint64_t bytes, llvm::StringRef path) const;
  Status refuse(llvm::StringRef path, const std::string &why) const;
  void reportMissing(const ast::Import &import, uint16_t importer);
  void reportCycle(llvm::StringRef realPath, SourceLoc import);
  bool full() const { return errors_.size() >= limits_.maxErrors; }

  Sources &sources_;
  std::vector<Diagnostic> &errors_;
  const CompileOptions &options_;
  const ParseLimits &limits_;
  llvm::StringMap<State> states_;   ///< by real path
  std::vector<Importer> importers_; ///< from the main file to the one being loaded
  std::vector<LoadedFile> files_;
};

} // namespace colldsl
