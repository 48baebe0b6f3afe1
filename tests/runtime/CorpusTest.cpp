// The corpus of fuzz-library as it lies in tests/runtime/corpus: names say what files are, and
// nothing that a program can hold is missing.

#include "program/library/LibraryLayout.h"
#include "tests/runtime/Libraries.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>

using namespace colldsl;

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};

struct CorpusFile {
  std::string name;
  std::vector<Line> memory;
  std::span<const std::byte> bytes;
};

std::vector<CorpusFile> corpus() {
  std::vector<CorpusFile> files;
  for (const auto &entry : std::filesystem::directory_iterator(COLLDSL_LIBRARY_CORPUS)) {
    if (entry.path().extension() != ".cdag")
      continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    CorpusFile &file = files.emplace_back();
    file.name = entry.path().stem().string();
    file.memory.resize(bytes.size() / sizeof(Line) + 1);
    std::memcpy(file.memory.data(), bytes.data(), bytes.size());
    file.bytes = {file.memory.front().bytes, bytes.size()};
  }
  return files;
}

bool isBad(const CorpusFile &file) { return file.name.starts_with("bad-"); }

TEST(Corpus, FilesMatchTheirNames) {
  size_t bad = 0;
  std::vector<CorpusFile> files = corpus();
  for (const CorpusFile &file : files) {
    std::string problem = problemOf(file.bytes);
    bad += isBad(file);
    if (isBad(file))
      EXPECT_NE(problem, "") << file.name;
    else if (file.name == "newer-minor-version")
      EXPECT_EQ(problem, "library: rules: it is missing");
    else
      EXPECT_EQ(problem, "") << file.name;
  }
  EXPECT_GE(bad, 20u);
  EXPECT_GE(files.size() - bad, 8u);
}

/// Which values of some enums the programs use.
struct KindsUsed {
  std::set<ExprKind> exprs;
  std::set<StmtKind> stmts;
  std::set<EnsureKind> ensures;
  std::set<DimKind> dims;
  std::set<DeclKind> decls;
  std::set<ValueType> types;
  std::set<int64_t> builtins, aggregates;

  void add(const BufferType &type) {
    for (uint32_t d = 0; d < type.dims; ++d)
      dims.insert(type.dim[d].kind);
  }
  void add(const Expr &e) {
    exprs.insert(e.kind);
    types.insert(e.type);
    if (e.kind == ExprKind::CallBuiltin)
      builtins.insert(e.value);
    if (e.kind == ExprKind::Aggregation)
      aggregates.insert(e.value);
  }
  void add(const Program &program) {
    for (const Expr &e : program.exprs)
      if (e.owner != kNoDecl)
        add(e);
    for (const Stmt &s : program.stmts)
      stmts.insert(s.kind);
    for (const EnsureNode &e : program.ensures)
      ensures.insert(e.kind);
    for (const BufferType &type : program.temps)
      add(type);
    for (const Decl &decl : program.decls) {
      decls.insert(decl.kind);
      for (const Param &param : decl.params)
        if (param.isBuffer)
          add(param.buffer);
    }
  }
};

template <typename T> std::string missing(const std::set<T> &used, unsigned count) {
  std::string numbers;
  for (unsigned i = 0; i < count; ++i)
    if (!used.contains(static_cast<T>(i)))
      numbers += " " + std::to_string(i);
  return numbers;
}

TEST(Corpus, EveryKindOfThingOccurs) {
  KindsUsed used;
  for (const CorpusFile &file : corpus())
    if (!isBad(file))
      used.add(**(*Library::view(file.bytes))->program());
  EXPECT_EQ(missing(used.exprs, kExprKinds), "");
  EXPECT_EQ(missing(used.stmts, kStmtKinds), "");
  EXPECT_EQ(missing(used.ensures, kEnsureKinds), "");
  EXPECT_EQ(missing(used.dims, kDimKinds), "");
  EXPECT_EQ(missing(used.decls, kDeclKinds), "");
  EXPECT_EQ(missing(used.types, kValueTypes), "");
  EXPECT_EQ(missing(used.builtins, kBuiltinKinds), "");
  EXPECT_EQ(missing(used.aggregates, kAggregateKinds), "");
}

} // namespace
