#include "driver/library/ProgramContent.h"

#include "driver/library/StandardProofs.h"
#include "ir/Checksum.h"

#include <set>

namespace colldsl::driver {
namespace {

/// Adds the sources. A file without declarations in the program gets an empty text.
void addSources(const Source &source, LibraryContent &content) {
  uint64_t hash = 0;
  auto mix = [&](std::string_view text) { hash = xxh64(std::as_bytes(std::span(text)), hash); };
  std::set<uint16_t> used;
  for (const Decl &decl : content.program.decls)
    used.insert(decl.loc.file);
  for (const GivenArgument &argument : content.program.arguments)
    used.insert(content.program.expr(argument.value).loc.file);
  for (uint16_t i = 0; i < content.program.files.size(); ++i) {
    const std::string &name = content.program.files[i];
    std::string_view text = used.contains(i) ? source.compilation().sourceText(i) : "";
    content.sources.push_back({name, std::string(text)});
    mix(name);
    mix(text);
  }
  content.identity.tool = "colldsl " COLLDSL_VERSION;
  content.identity.sourcesHash = hash;
}

} // namespace

void addProgram(const Source &source, const std::vector<Source::Target> &targets,
                LibraryContent &content) {
  content.program = source.program();
  for (const Source::Target &target : targets)
    content.identity.exports.push_back(index(target.collective));
  addSources(source, content);
  content.textProofs = standardProofs(content.program);
}

} // namespace colldsl::driver
