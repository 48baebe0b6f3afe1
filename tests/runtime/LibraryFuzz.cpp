// Libraries with anything changed and the checksums repaired: all that the loader accepts must
// be safe to look at and to instantiate, and programs and images must encode to the bytes
// that were read.

#include "tests/ir/Fuzz.h"
#include "tests/ir/Walk.h"

#include "instantiate/Instantiate.h"
#include "ir/Checksum.h"
#include "ir/ImageLayout.h"
#include "program/SerializedProgram.h"
#include "program/library/LibraryLayout.h"
#include "select/Chooser.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

// Without these two, all would end at the checksums.
void repairHead(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(LibraryHeader))
    return;
  auto &header = *reinterpret_cast<LibraryHeader *>(bytes.data());
  header.sizeBytes = bytes.size();
  if (header.sectionCount > (bytes.size() - sizeof header) / sizeof(LibrarySection))
    return;
  auto *sections = reinterpret_cast<LibrarySection *>(bytes.data() + sizeof header);
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    LibrarySection &s = sections[i];
    if (s.offset <= bytes.size() && s.bytes <= bytes.size() - s.offset &&
        s.kind != kImageBytesSection)
      s.checksum = xxh64(bytes.subspan(s.offset, s.bytes), 0);
  }
  header.checksum = libraryChecksum(bytes);
}

void repairImage(std::span<std::byte> image) {
  if (image.size() < sizeof(ImageHeader) + sizeof(ImageTrailer) ||
      image.size() % alignof(ImageTrailer) != 0)
    return;
  ImageTrailer trailer = trailerOf(image);
  trailer.sizeBytes = image.size();
  std::byte *at = image.data() + image.size() - sizeof trailer;
  std::memcpy(at, &trailer, sizeof trailer);
  trailer.checksum = imageChecksum(image);
  std::memcpy(at, &trailer, sizeof trailer);
}

/// The first section of a kind, of which something was accepted.
std::span<std::byte> sectionOf(std::span<std::byte> bytes, uint32_t kind) {
  auto &header = *reinterpret_cast<LibraryHeader *>(bytes.data());
  auto *sections = reinterpret_cast<LibrarySection *>(bytes.data() + sizeof header);
  for (uint32_t i = 0; i < header.sectionCount; ++i)
    if (sections[i].kind == kind)
      return bytes.subspan(sections[i].offset, sections[i].bytes);
  failFuzz("something was accepted that is not there");
}

/// Whether what costs most is done with what has this checksum: one in four.
bool isSampled(uint64_t checksum) { return checksum % 4 == 0; }

void lookAt(const Image &image, std::span<const std::byte> bytes) {
  if (std::string what = walk(image); !what.empty())
    failFuzz("an accepted image has " + what);
  if (!isSampled(trailerOf(bytes).checksum))
    return;
  std::vector<std::byte> again = encodeImage(image.decode());
  uint16_t minor;
  std::memcpy(&minor, bytes.data() + offsetof(ImageHeader, minor), sizeof minor);
  if (minor == kImageMinor && !std::ranges::equal(again, bytes))
    failFuzz("an accepted image encodes to other bytes");
}

void lookAtImages(Library &library, std::span<std::byte> bytes) {
  Result<const std::vector<LibraryImage> *> images = library.images();
  if (!images)
    return;
  for (const LibraryImage &entry : **images) {
    std::span<std::byte> own =
        sectionOf(bytes, kImageBytesSection).subspan(entry.offset, entry.bytes);
    repairImage(own);
    if (Result<Image> image = Image::load(own))
      lookAt(*image, own);
    (void)library.image(entry);
  }
}

void instantiate(const Program &program, uint32_t collective) {
  InstantiateRequest request;
  request.collective = DeclId{collective};
  request.ranks = 3;
  request.elements = 7;
  request.limits.maxSteps = 2'000;
  request.limits.maxOps = 2'000;
  request.limits.maxTotalOps = 4'000;
  request.limits.maxCallDepth = 20;
  for (uint32_t name : program.decl(request.collective).sizeNames)
    request.sizes.push_back({program.strings[name], 5});
  for (const GivenArgument &given : program.arguments)
    if (given.decl == request.collective) {
      request.arguments.assign(program.decl(given.decl).params.size(), kNoExpr);
      request.arguments[given.param] = given.value;
    }
  (void)instantiateAll(program, request);
}

} // namespace

std::vector<FuzzInput> fuzzCorpus() { return readCorpus(COLLDSL_LIBRARY_CORPUS); }

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace colldsl;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory(size / sizeof(Line) + 1);
  std::span<std::byte> bytes(memory.front().bytes, size);
  std::copy_n(reinterpret_cast<const std::byte *>(data), size, bytes.begin());
  repairHead(bytes);
  Result<std::unique_ptr<Library>> opened = Library::view(bytes);
  if (!opened)
    return 0;
  Library &library = **opened;
  (void)library.sources();
  if (Result<Chooser> chooser = Chooser::of(library))
    (void)chooser->choose({"bcast", 2, 10});
  (void)library.imported();
  lookAtImages(library, bytes);
  Result<const LibraryIdentity *> identity = library.identity();
  if (!identity)
    return 0;
  const Program &program = **library.program();
  if (isSampled(reinterpret_cast<const LibraryHeader *>(bytes.data())->checksum) &&
      !std::ranges::equal(serializeProgram(program), sectionOf(bytes, kProgramSection)))
    failFuzz("an accepted program encodes to other bytes");
  for (uint32_t collective : (*identity)->exports)
    instantiate(program, collective);
  return 0;
}
