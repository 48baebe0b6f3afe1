#include "tests/runtime/Libraries.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "program/TextDigest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace colldsl {
namespace {

constexpr const char *kText = R"(
/// Everybody to the next one.
collective shift(in x: T[n], out y: T[n], by: int = 1 in 1..8)
  ensures y == x@((rank - by) % ranks)
{
  send x to (rank + by) % ranks;
  recv y from (rank - by) % ranks;
}

collective star(inout buf: T[n], root: rank = 0)
  ensures buf == buf@root
{
  if rank == root { for r in 0..ranks { if r != root { send buf to r; } } }
  else { recv buf from root; }
}
)";

Compilation compile() {
  std::string path = std::filesystem::temp_directory_path() /
                     ("colldsl-library-" + std::to_string(getpid()) + ".coll");
  std::ofstream(path) << kText;
  CompileOptions options;
  options.withStdlib = false;
  Compilation compilation = compileFiles({path}, options);
  std::filesystem::remove(path);
  if (!compilation.ok())
    std::abort();
  return compilation;
}

void addImage(LibraryContent &content, DeclId collective, uint32_t ranks) {
  InstantiateRequest request;
  request.collective = collective;
  request.ranks = ranks;
  request.elements = 100;
  Result<Schedule> schedule = instantiateAll(content.program, request);
  if (!schedule)
    std::abort();
  LibraryImage image;
  image.collective = schedule->name;
  image.ranks = ranks;
  image.elements = schedule->sizeClass.elements;
  image.minElements = schedule->sizeClass.min;
  image.maxElements = schedule->sizeClass.max;
  image.topology = "flat";
  content.images.push_back(image);
  content.imageBytes.push_back(encodeImage(*schedule));
}

} // namespace

LibraryContent smallLibrary() {
  Compilation compilation = compile();
  DeclId shift = compilation.program().find("shift", DeclKind::Collective);
  DeclId star = compilation.program().find("star", DeclKind::Collective);
  if (!compilation.addArgument(shift, "by", "max(for i in 0..3: i)"))
    std::abort();
  LibraryContent content;
  content.identity = {"colldsl test", 7, {index(shift), index(star)}};
  content.program = compilation.program();
  content.program.files = {"shift.coll", "argument 'by'"};
  content.sources = {{"shift.coll", kText}, {"argument 'by'", "max(for i in 0..3: i)"}};
  for (uint32_t ranks : {2, 5})
    addImage(content, shift, ranks);
  addImage(content, star, 3);
  SelectionRule small;
  small.function = "bcast";
  small.maxBytes = 4096;
  small.needsCommutative = true;
  small.collective = index(star);
  SelectionRule far;
  far.function = "shift";
  far.minRanks = 4;
  far.maxNodes = 1;
  far.types = 1u << static_cast<unsigned>(ElementType::F32);
  far.collective = index(shift);
  far.arguments = {0};
  SelectionRule crowded;
  crowded.function = "crowd";
  crowded.needsOversubscribed = true;
  crowded.collective = index(star);
  SelectionRule together;
  together.function = "together";
  together.needsMulticast = true;
  together.collective = index(star);
  SelectionRule wired;
  wired.function = "wired";
  wired.needsTcp = true;
  wired.collective = index(star);
  content.rules = {small, far, crowded, together, wired};
  content.imported = {{"star", 2}};
  TextProof stamp;
  stamp.collective = index(shift);
  stamp.digest = textDigest(content.program, shift);
  stamp.allRanks = stamp.needsCommutative = true;
  stamp.leftOut = {"'deterministic'"};
  stamp.structures = {"kary"};
  stamp.mostRanks = 5;
  content.textProofs = {stamp};
  return content;
}

std::string problemOf(std::span<const std::byte> bytes) {
  Result<std::unique_ptr<Library>> library = Library::view(bytes);
  if (!library)
    return library.message();
  Library &l = **library;
  Result<const std::vector<LibraryImage> *> images = l.images();
  for (const Status &s :
       {l.identity().ok() ? Status() : l.identity().status(),
        l.program().ok() ? Status() : l.program().status(),
        l.sources().ok() ? Status() : l.sources().status(),
        images.ok() ? Status() : images.status(), l.rules().ok() ? Status() : l.rules().status(),
        l.imported().ok() ? Status() : l.imported().status(),
        l.textProofs().ok() ? Status() : l.textProofs().status()})
    if (!s)
      return s.message();
  for (const LibraryImage &entry : **images)
    if (Result<const Image *> image = l.image(entry); !image)
      return image.message();
  return "";
}

} // namespace colldsl
