// usage: colldsl-serialize-stdlib FILE
// Parses the standard library and writes its syntax trees, each behind its size in 32 bits: a part
// of the build.
#include "compiler/Parser.h"
#include "compiler/SerializedAst.h"
#include "ir/Index32.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace colldsl;

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: colldsl-serialize-stdlib FILE\n";
    return 2;
  }
  std::string bytes;
  for (const StdlibFile &file : stdlibFiles()) {
    ParseResult parsed = parseFile(file.text, 0);
    for (const Diagnostic &error : parsed.errors)
      llvm::errs() << llvm::StringRef(file.name) << ':' << error.loc.line << ':' << error.loc.column
                   << ": error: " << error.message << '\n';
    if (!parsed.ast)
      return 1;
    std::string tree = serializeAst(*parsed.ast);
    uint32_t size = index32(tree.size());
    bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
    bytes += tree;
  }
  std::error_code error;
  llvm::raw_fd_ostream out(argv[1], error);
  out << bytes;
  out.close();
  if (!error)
    error = out.error();
  if (error)
    llvm::errs() << "cannot write '" << argv[1] << "': " << error.message() << '\n';
  out.clear_error();
  return error ? 1 : 0;
}
