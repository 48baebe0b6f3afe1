#include "driver/library/StandardProofs.h"

#include "program/TextDigest.h"
#include "stdlib/StdlibFiles.h"

#include <cassert>
#include <map>

namespace colldsl::driver {

// A test reads the table, which is built in.
std::vector<TextProof> standardProofs(const Program &program) {
  static const std::map<std::string, TextProof, std::less<>> byName = [] {
    std::map<std::string, TextProof, std::less<>> all;
    Result<std::vector<NamedTextProof>> table = readTextProofs(stdlibProofs());
    assert(table);
    for (NamedTextProof &named : *table)
      all[named.name] = std::move(named.proof);
    return all;
  }();
  std::vector<TextProof> stamps;
  for (uint32_t i = 0; i < program.decls.size(); ++i) {
    const Decl &decl = program.decls[i];
    auto known = byName.find(program.nameOf(decl));
    if (decl.kind != DeclKind::Collective || known == byName.end() ||
        known->second.digest != textDigest(program, DeclId{i}))
      continue;
    stamps.push_back(known->second);
    stamps.back().collective = i;
  }
  return stamps;
}

} // namespace colldsl::driver
