// Libraries with any byte changed and the checksums repaired: whatever is let through
// must be safe to look at and to instantiate.

#include "tests/ir/Fuzz.h"
#include "tests/runtime/Libraries.h"

#include "ir/Checksum.h"
#include "program/Instantiate.h"
#include "runtime/LibraryLayout.h"

#include <algorithm>

namespace colldsl {
namespace {

// Without this, all would end at the checksums.
void repair(std::span<std::byte> bytes) {
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

void instantiate(const Program &program, uint32_t collective) {
  InstantiateRequest request;
  request.collective = DeclId{collective};
  request.ranks = 3;
  request.elements = 7;
  request.limits.maxSteps = 2'000;
  request.limits.maxOps = 2'000;
  request.limits.maxTotalOps = 4'000;
  request.limits.maxCallDepth = 20;
  for (const GivenArgument &given : program.arguments)
    if (given.decl == request.collective) {
      request.arguments.assign(program.decl(given.decl).params.size(), kNoExpr);
      request.arguments[given.param] = given.value;
    }
  (void)instantiateAll(program, request);
}

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<std::byte> bytes = encodeLibrary(smallLibrary());
  auto begin = reinterpret_cast<const uint8_t *>(bytes.data());
  return {FuzzInput(begin, begin + bytes.size())};
}

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace colldsl;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory(size / sizeof(Line) + 1);
  std::span<std::byte> bytes(memory.front().bytes, size);
  std::copy_n(reinterpret_cast<const std::byte *>(data), size, bytes.begin());
  repair(bytes);
  Result<std::unique_ptr<Library>> opened = Library::view(bytes);
  if (!opened)
    return 0;
  Library &library = **opened;
  (void)library.sources();
  (void)library.select({"bcast", 2, 10});
  if (Result<const std::vector<LibraryImage> *> images = library.images())
    for (const LibraryImage &entry : **images)
      if (Result<Image> image = library.image(entry))
        (void)encodeImage(image->decode());
  if (Result<const LibraryIdentity *> identity = library.identity())
    for (uint32_t collective : (*identity)->exports)
      instantiate(**library.program(), collective);
  return 0;
}
