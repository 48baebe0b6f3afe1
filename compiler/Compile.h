/// From files to a checked program: reads the files and what they import, parses,
/// resolves names, checks types.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"
#include "program/Program.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class MemoryBuffer;
}

namespace colldsl {

class SymbolIndex;

/// The places that the lines of a generated text stand for, such as one that was traced from
/// Python: ops and messages about them name these. More files than a compilation may have are an
/// error.
struct Origins {
  struct File {
    std::string name, text;
  };
  std::vector<File> files;
  std::map<uint32_t, SourceLoc> places; ///< by line of the text; SourceLoc::file is one of `files`
};

struct CompileOptions {
  std::vector<std::string> includePaths; ///< searched after the importing file's own folder
  ParseLimits limits;
  bool withStdlib = true; ///< put the standard library in scope
  /// Restricts the standard library to the declarations that these names and the main files use.
  /// Nothing: all of it.
  std::optional<std::vector<std::string>> usedBy;
  /// Texts that replace the contents of imported files, by real path: the open buffers of an
  /// editor.
  std::map<std::string, std::string> openTexts;
  Origins origins;                ///< of the first main file
  SymbolIndex *symbols = nullptr; ///< gets the names, if the files could be parsed
};

/// A checked program with its sources. Errors, if any, are in `diagnostics`, and
/// the program is then not to be used.
class Compilation {
public:
  Compilation();
  ~Compilation();
  Compilation(Compilation &&) noexcept;
  Compilation &operator=(Compilation &&) noexcept;

  bool ok() const;
  const Program &program() const;
  const std::vector<Diagnostic> &diagnostics() const;

  /// Declarations of the files that were named, in the order of their text; not
  /// those of the standard library nor of imports.
  const std::vector<DeclId> &mainDecls() const;

  /// Checks an expression that a person gave for a parameter (`--set root=3`) and adds
  /// it to the program: an argument for InstantiateRequest.
  Result<ExprId> addArgument(DeclId collective, std::string_view param, std::string_view text);

  /// The diagnostic as people read it, with the line of the source and a caret.
  std::string render(const Diagnostic &diagnostic) const;

  /// The text of file i of Program::files.
  std::string_view sourceText(uint16_t file) const;

private:
  friend Compilation reopenProgram(Program, const std::vector<std::string_view> &,
                                   std::vector<DeclId>);
  friend Compilation compileFiles(const std::vector<std::string> &, const CompileOptions &);
  friend Compilation compileTexts(std::vector<std::unique_ptr<llvm::MemoryBuffer>>,
                                  const CompileOptions &);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Restores a program that was compiled before, such as that of a schedule library. `texts` are
/// those of Program::files.
Compilation reopenProgram(Program program, const std::vector<std::string_view> &texts,
                          std::vector<DeclId> mainDecls);

/// Compiles the files (none: the standard library alone).
Compilation compileFiles(const std::vector<std::string> &paths, const CompileOptions &options = {});

/// Compiles files that were read; each buffer is named by the path, or what messages shall call it.
Compilation compileTexts(std::vector<std::unique_ptr<llvm::MemoryBuffer>> files,
                         const CompileOptions &options);

} // namespace colldsl
