/// Proofs of collectives for every number of ranks, from their texts.
#pragma once

#include "compiler/Compile.h"
#include "parameterized/AllRanksProofs.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

namespace colldsl::parameterized {

/// The proof of the collective `name` of a text, or of the standard library. A text that does not
/// compile fails the test.
inline AllRanksProof proofOf(const std::string &name, const std::string &text = "") {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, "test.coll"));
  Compilation compilation = compileTexts(std::move(files), CompileOptions());
  if (!compilation.ok()) {
    std::string why;
    for (const Diagnostic &d : compilation.diagnostics())
      why += compilation.render(d);
    ADD_FAILURE() << why;
    return {};
  }
  const Program &program = compilation.program();
  DeclId id = program.find(name, DeclKind::Collective);
  if (id == kNoDecl) {
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  return AllRanksProofs(program, std::chrono::seconds(600)).of(id);
}

/// A text with a mistake, whose collective `c` is not proved, and the words of the reason.
struct WrongText {
  const char *name, *text, *reason;
};

} // namespace colldsl::parameterized
