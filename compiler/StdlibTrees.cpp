// The trees are part of this object, as SerializeStdlib.cpp wrote them.
#include "compiler/StdlibTrees.h"

#include "compiler/SerializedAst.h"

#include "llvm/Support/Endian.h"

#include <map>
#include <mutex>

__asm__(".pushsection .rodata\n"
        ".hidden colldsl_stdlib_trees\n"
        ".global colldsl_stdlib_trees\n"
        "colldsl_stdlib_trees:\n"
        ".incbin \"" COLLDSL_STDLIB_TREES "\"\n"
        ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const char colldsl_stdlib_trees[];

namespace colldsl {
namespace {

/// Each tree has its size in front.
llvm::StringRef bytesOfTree(uint16_t i) {
  const char *at = colldsl_stdlib_trees;
  auto sizeAt = [](const char *p) { return llvm::support::endian::read32le(p); };
  for (; i > 0; --i)
    at += sizeof(uint32_t) + sizeAt(at);
  return {at + sizeof(uint32_t), sizeAt(at)};
}

} // namespace

std::shared_ptr<const Ast> stdlibTree(uint16_t i) {
  static std::mutex mutex;
  static std::map<uint16_t, std::shared_ptr<const Ast>> known;
  std::lock_guard lock(mutex);
  std::shared_ptr<const Ast> &tree = known[i];
  if (!tree)
    tree = deserializeAst(bytesOfTree(i), i);
  return tree;
}

} // namespace colldsl
