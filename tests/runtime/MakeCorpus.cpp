// Writes the corpus of fuzz-library: a library of each source in FOLDER/Inputs, one of hand
// made images, and damaged ones. scripts/make-library-corpus calls it.
//   make-library-corpus FOLDER

#include "tests/ir/Schedules.h"
#include "tests/runtime/Libraries.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "program/library/LibraryLayout.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace colldsl {
namespace {

using Bytes = std::vector<std::byte>;

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

/// An image of two ranks, if the collective makes one without arguments.
void addImage(LibraryContent &content, DeclId collective) {
  InstantiateRequest request;
  request.collective = collective;
  request.ranks = 2;
  request.elements = 7;
  for (uint32_t name : content.program.decl(collective).sizeNames)
    request.sizes.push_back({content.program.strings[name], 5});
  Result<Schedule> schedule = instantiateAll(content.program, request);
  if (!schedule)
    fail(schedule.message());
  LibraryImage image;
  image.collective = schedule->name;
  image.ranks = request.ranks;
  image.elements = schedule->sizeClass.elements;
  image.minElements = schedule->sizeClass.min;
  image.maxElements = schedule->sizeClass.max;
  image.topology = "flat";
  content.images.push_back(image);
  content.imageBytes.push_back(encodeImage(*schedule));
}

/// Everything the source declares; an image and a rule for its last collective.
LibraryContent libraryOf(const std::filesystem::path &source) {
  CompileOptions options;
  options.withStdlib = false;
  Compilation compilation = compileFiles({source.string()}, options);
  for (const Diagnostic &d : compilation.diagnostics())
    fail(compilation.render(d));
  LibraryContent content;
  content.program = compilation.program();
  content.program.files = {source.filename().string()};
  content.sources = {{source.filename().string(), std::string(compilation.sourceText(0))}};
  content.identity = {"colldsl corpus", 1, {}};
  for (DeclId id : compilation.mainDecls())
    if (content.program.decl(id).kind == DeclKind::Collective)
      content.identity.exports.push_back(index(id));
  SelectionRule rule;
  rule.function = "bcast";
  rule.maxBytes = 4096;
  rule.collective = content.identity.exports.back();
  content.rules = {rule};
  addImage(content, DeclId{rule.collective});
  return content;
}

/// Every kind of op, buffer and slice.
LibraryContent handMade() {
  LibraryContent content;
  content.identity.tool = "colldsl corpus";
  for (const Schedule &schedule : {everythingSchedule(), ringSchedule(2), randomSchedule(3)}) {
    LibraryImage image;
    image.collective = schedule.name;
    image.ranks = static_cast<uint32_t>(schedule.ranks.size());
    image.elements = schedule.sizeClass.elements;
    image.minElements = schedule.sizeClass.min;
    image.maxElements = schedule.sizeClass.max;
    content.images.push_back(image);
    content.imageBytes.push_back(encodeImage(schedule));
  }
  return content;
}

LibraryHeader &headerOf(Bytes &bytes) { return *reinterpret_cast<LibraryHeader *>(bytes.data()); }
LibrarySection &sectionOf(Bytes &bytes, uint32_t kind) {
  return reinterpret_cast<LibrarySection *>(bytes.data() + sizeof(LibraryHeader))[kind - 1];
}

/// What is wrong with a file, in its bytes. The head is then given its checksum.
struct Damage {
  const char *name;
  void (*make)(Bytes &);
};

const Damage kDamages[] = {
    {"major-version-of-the-future", [](Bytes &b) { headerOf(b).major = kLibraryMajor + 1; }},
    {"longer-than-its-header-says", [](Bytes &b) { b.resize(b.size() + 64); }},
    {"cut-off", [](Bytes &b) { b.resize(b.size() / 2); }},
    {"cut-off-and-says-so",
     [](Bytes &b) {
       b.resize(b.size() / 2);
       headerOf(b).sizeBytes = b.size();
     }},
    {"too-many-sections", [](Bytes &b) { headerOf(b).sectionCount = 1'000'000; }},
    {"overlapping-sections",
     [](Bytes &b) { sectionOf(b, kSourcesSection).offset = sectionOf(b, kProgramSection).offset; }},
    {"section-behind-the-end",
     [](Bytes &b) { sectionOf(b, kImageBytesSection).bytes = UINT64_MAX - 63; }},
    {"program-missing", [](Bytes &b) { sectionOf(b, kProgramSection).kind = 99; }},
    {"images-missing", [](Bytes &b) { sectionOf(b, kImageBytesSection).kind = 99; }},
    {"flipped-bit-in-the-program",
     [](Bytes &b) { b[sectionOf(b, kProgramSection).offset + 9] ^= std::byte{1}; }},
    {"flipped-bit-in-an-image",
     [](Bytes &b) { b[sectionOf(b, kImageBytesSection).offset + 300] ^= std::byte{1}; }},
    {"flipped-bit-in-the-imports",
     [](Bytes &b) { b[sectionOf(b, kImportedSection).offset] ^= std::byte{1}; }},
};

/// What is wrong with a file, in what it says.
struct Mistake {
  const char *name;
  void (*make)(LibraryContent &);
};

Expr &firstOf(Program &program, ExprKind kind) {
  auto it = std::find_if(program.exprs.begin(), program.exprs.end(),
                         [&](const Expr &e) { return e.kind == kind && e.owner != kNoDecl; });
  return it == program.exprs.end() ? (fail("no such expression"), *it) : *it;
}

const Mistake kMistakes[] = {
    {"expression-in-itself",
     [](LibraryContent &c) {
       Expr &e = firstOf(c.program, ExprKind::Add);
       e.a = ExprId{static_cast<uint32_t>(&e - c.program.exprs.data())};
     }},
    {"slot-without-a-value",
     [](LibraryContent &c) { firstOf(c.program, ExprKind::LocalInt).slot = 0xffff; }},
    {"huge-frame", [](LibraryContent &c) { c.program.decls[0].intSlots = 1u << 30; }},
    {"unknown-callee",
     [](LibraryContent &c) { firstOf(c.program, ExprKind::CallFunction).value = INT64_MIN; }},
    {"exports-a-function", [](LibraryContent &c) { c.identity.exports = {0}; }},
    {"rule-of-a-function", [](LibraryContent &c) { c.rules[0].collective = 0; }},
    {"rule-with-an-unknown-argument", [](LibraryContent &c) { c.rules[0].arguments = {1}; }},
    {"imports-what-it-has-not", [](LibraryContent &c) { c.imported[0].collective = "nobody"; }},
    {"imports-in-units-of-0", [](LibraryContent &c) { c.imported[0].unit = 0; }},
    {"image-of-other-ranks", [](LibraryContent &c) { c.images[0].ranks = 3; }},
    {"image-cut-off", [](LibraryContent &c) { c.imageBytes[0].resize(100); }},
};

class Writer {
public:
  explicit Writer(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void write(const std::string &name, const Bytes &bytes) const {
    std::ofstream file(folder_ / (name + ".cdag"), std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush())
      fail("cannot write '" + name + "'");
  }

private:
  std::filesystem::path folder_;
};

void writeDamaged(const Writer &writer, const LibraryContent &sound) {
  for (const Damage &damage : kDamages) {
    Bytes bytes = encodeLibrary(sound);
    damage.make(bytes);
    if (headerOf(bytes).sectionCount <= kMaxLibrarySections)
      headerOf(bytes).checksum = libraryChecksum(bytes);
    writer.write(std::string("bad-") + damage.name, bytes);
  }
  for (const Mistake &mistake : kMistakes) {
    LibraryContent content = sound;
    mistake.make(content);
    writer.write(std::string("bad-") + mistake.name, encodeLibrary(content));
  }
  Bytes bytes = encodeLibrary(sound);
  headerOf(bytes).checksum ^= 1;
  writer.write("bad-checksum-of-the-head", bytes);
  bytes.resize(20);
  writer.write("bad-half-a-header", bytes);
  constexpr std::string_view kText = "num_ranks 2, and so on, long enough for a header";
  auto text = std::as_bytes(std::span(kText));
  writer.write("bad-other-kind-of-file", Bytes(text.begin(), text.end()));
}

void writeAll(const std::filesystem::path &folder) {
  Writer writer(folder);
  for (const auto &entry : std::filesystem::directory_iterator(folder / "Inputs"))
    writer.write(entry.path().stem().string(), encodeLibrary(libraryOf(entry.path())));
  writer.write("images", encodeLibrary(handMade()));
  writer.write("arguments", encodeLibrary(smallLibrary()));
  writer.write("nothing-in-it", encodeLibrary({}));
  LibraryContent tiny = libraryOf(folder / "Inputs" / "tiny.coll");
  Bytes older = encodeLibrary(tiny);
  headerOf(older).minor = 0;
  headerOf(older).checksum = libraryChecksum(older);
  writer.write("older-minor-version", older);
  Bytes newer = encodeLibrary(tiny);
  headerOf(newer).minor = kLibraryMinor + 1;
  sectionOf(newer, kRulesSection).kind = 99;
  headerOf(newer).checksum = libraryChecksum(newer);
  writer.write("newer-minor-version", newer);
  tiny.imported = {{tiny.images[0].collective, 2}};
  writer.write("imports", encodeLibrary(tiny));
  writeDamaged(writer, tiny);
}

} // namespace
} // namespace colldsl

int main(int argc, char **argv) {
  if (argc != 2)
    colldsl::fail("usage: make-library-corpus FOLDER");
  colldsl::writeAll(argv[1]);
  return 0;
}
