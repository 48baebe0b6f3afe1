#include "compiler/Compile.h"

#include "compiler/FileLoader.h"
#include "compiler/Parser.h"
#include "compiler/Sema.h"
#include "ir/Concat.h"
#include "program/CheckProgram.h"
#include "program/Operands.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>

namespace colldsl {

struct Compilation::Impl {
  Sources sources;
  Program program;
  ParseLimits limits;
  std::vector<Diagnostic> diagnostics;
  std::vector<DeclId> mainDecls;

  template <typename File> void compile(std::vector<File> files, const CompileOptions &options);
  void analyseAll(llvm::ArrayRef<LoadedFile> files, size_t numStdlib, SymbolIndex *symbols);
  void leaveOutUnused(llvm::MutableArrayRef<LoadedFile> stdlib,
                      const std::vector<std::string> &usedBy);
  void relocate(uint16_t file, const Origins &origins);
  Result<uint16_t> addText(std::string_view text, std::string name);
  bool hasErrors() const {
    return llvm::any_of(diagnostics,
                        [](const Diagnostic &d) { return d.severity == Severity::Error; });
  }
};

/// The standard library is one unit, whose files know each other; every other file is
/// one of its own and knows the units before it.
void Compilation::Impl::analyseAll(llvm::ArrayRef<LoadedFile> files, size_t numStdlib,
                                   SymbolIndex *symbols) {
  std::vector<SemaInput> inputs;
  for (auto [i, file] : llvm::enumerate(files)) {
    auto unit = static_cast<uint32_t>(i < numStdlib ? 0 : i - numStdlib + 1);
    inputs.push_back({file.decls, unit, file.isMain});
  }
  diagnostics = analyse(inputs, program, mainDecls, limits.maxErrors, symbols);
}

/// Leaves unused declarations of the standard library out of the next analysis.
void Compilation::Impl::leaveOutUnused(llvm::MutableArrayRef<LoadedFile> stdlib,
                                       const std::vector<std::string> &usedBy) {
  std::vector<DeclId> roots = mainDecls;
  for (uint32_t i = 0; i < program.decls.size(); ++i)
    if (llvm::is_contained(usedBy, program.nameOf(program.decls[i])))
      roots.push_back(DeclId{i});
  std::vector<bool> isUsed = reachableFrom(program, roots);
  llvm::DenseSet<std::pair<unsigned, unsigned>> used; // files and lines
  for (uint32_t i = 0; i < program.decls.size(); ++i)
    if (isUsed[i])
      used.insert({program.decls[i].loc.file, program.decls[i].loc.line});
  for (LoadedFile &file : stdlib) {
    llvm::erase_if(file.decls, [&](const ast::Decl *d) {
      return !used.contains({d->loc.file, d->loc.line});
    });
  }
}

/// Moves the statements of a file, and all within them, to the origins of their lines.
void Compilation::Impl::relocate(uint16_t file, const Origins &origins) {
  if (sources.size() + origins.files.size() > Sources::kMaxFiles) {
    diagnostics.push_back(Diagnostic::error(
        {}, concat("cannot read '", sources.name(file), "': it stands for ", origins.files.size(),
                   " files, a compilation has at most ", Sources::kMaxFiles)));
    return;
  }
  auto first = static_cast<uint16_t>(sources.size());
  for (const Origins::File &origin : origins.files)
    sources.add(llvm::MemoryBuffer::getMemBufferCopy(origin.text, origin.name), origin.name);
  program.files = sources.names();
  auto move = [&](SourceLoc &loc) {
    auto place = loc.file == file ? origins.places.find(loc.line) : origins.places.end();
    if (place == origins.places.end())
      return;
    assert(place->second.file < origins.files.size());
    loc = place->second;
    loc.file += first;
  };
  for (Stmt &stmt : program.stmts)
    move(stmt.loc);
  for (Expr &expr : program.exprs)
    move(expr.loc);
  for (LabelRef &label : program.labels)
    move(label.loc);
}

Result<uint16_t> Compilation::Impl::addText(std::string_view text, std::string name) {
  if (sources.size() >= Sources::kMaxFiles)
    return Status::error("too many arguments for one compilation");
  program.files.push_back(name);
  return sources.add(llvm::MemoryBuffer::getMemBufferCopy(text, name), name);
}

Compilation::Compilation() : impl_(std::make_unique<Impl>()) {}
Compilation::~Compilation() = default;
Compilation::Compilation(Compilation &&) noexcept = default;
Compilation &Compilation::operator=(Compilation &&) noexcept = default;

bool Compilation::ok() const { return !impl_->hasErrors(); }
const Program &Compilation::program() const { return impl_->program; }
const std::vector<Diagnostic> &Compilation::diagnostics() const { return impl_->diagnostics; }
const std::vector<DeclId> &Compilation::mainDecls() const { return impl_->mainDecls; }
std::string Compilation::render(const Diagnostic &d) const { return impl_->sources.render(d); }
std::string_view Compilation::sourceText(uint16_t file) const { return impl_->sources.text(file); }

Result<ExprId> Compilation::addArgument(DeclId collective, std::string_view param,
                                        std::string_view text) {
  Result<uint16_t> file = impl_->addText(text, "argument '" + std::string(param) + "'");
  if (!file)
    return file.status();
  ParsedExpr parsed = parseExpression(impl_->sources.text(*file), *file, impl_->limits);
  if (!parsed.errors.empty())
    return parsed.errors.front();
  Result<ExprId> argument = analyseArgument(*parsed.expr, collective, param, impl_->program);
  if (argument)
    lower(impl_->program);
  return argument;
}

Compilation reopenProgram(Program program, const std::vector<std::string_view> &texts,
                          std::vector<DeclId> mainDecls) {
  Compilation compilation;
  Compilation::Impl &impl = *compilation.impl_;
  impl.program = std::move(program);
  impl.mainDecls = std::move(mainDecls);
  for (auto [name, text] : llvm::zip_equal(impl.program.files, texts))
    impl.sources.add(llvm::MemoryBuffer::getMemBufferCopy(text, name), name);
  return compilation;
}

/// `files`: paths, or texts that were read.
template <typename File>
void Compilation::Impl::compile(std::vector<File> files, const CompileOptions &options) {
  limits = options.limits;
  FileLoader loader(sources, diagnostics, options);
  size_t numStdlib = options.withStdlib ? stdlibFiles().size() : 0;
  if (options.withStdlib)
    loader.loadStdlib();
  for (File &file : files)
    loader.loadMain(std::move(file));
  program.files = sources.names();
  if (hasErrors())
    return;
  std::vector<LoadedFile> loaded = loader.takeFiles();
  analyseAll(loaded, numStdlib, options.symbols);
  if (hasErrors())
    return;
  if (options.usedBy) {
    leaveOutUnused(llvm::MutableArrayRef(loaded).take_front(numStdlib), *options.usedBy);
    program = Program();
    program.files = sources.names();
    mainDecls.clear();
    analyseAll(loaded, numStdlib, options.symbols);
  }
  relocate(static_cast<uint16_t>(numStdlib), options.origins);
  disownUnused(program);
  lower(program);
}

Compilation compileFiles(const std::vector<std::string> &paths, const CompileOptions &options) {
  Compilation compilation;
  compilation.impl_->compile(paths, options);
  return compilation;
}

Compilation compileTexts(std::vector<std::unique_ptr<llvm::MemoryBuffer>> files,
                         const CompileOptions &options) {
  Compilation compilation;
  compilation.impl_->compile(std::move(files), options);
  return compilation;
}

} // namespace colldsl
