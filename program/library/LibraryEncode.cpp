#include "ir/Checksum.h"
#include "program/SerializedProgram.h"
#include "program/library/LibraryLayout.h"

namespace colldsl {
namespace {

uint64_t alignUp(uint64_t offset) {
  return (offset + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment;
}

template <typename T> std::vector<std::byte> encode(const T &value) {
  RecordWriter writer;
  writer(value);
  return std::move(writer.bytes);
}

template <typename T> void store(std::vector<std::byte> &bytes, uint64_t at, const T &value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

} // namespace

uint64_t libraryChecksum(std::span<const std::byte> bytes) {
  LibraryHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = 0;
  uint64_t seed = xxh64(std::as_bytes(std::span(&header, 1)), 0);
  return xxh64(bytes.subspan(sizeof header, header.sectionCount * sizeof(LibrarySection)), seed);
}

std::vector<std::byte> encodeLibrary(const LibraryContent &content) {
  std::vector<LibraryImage> images = content.images;
  std::vector<std::byte> imageBytes;
  for (size_t i = 0; i < images.size(); ++i) {
    imageBytes.resize(alignUp(imageBytes.size()));
    images[i].offset = imageBytes.size();
    images[i].bytes = content.imageBytes[i].size();
    images[i].checksum = xxh64(content.imageBytes[i], 0);
    imageBytes.insert(imageBytes.end(), content.imageBytes[i].begin(), content.imageBytes[i].end());
  }
  struct Section {
    LibrarySectionKind kind;
    std::vector<std::byte> bytes;
  };
  std::vector<Section> sections = {{kIdentitySection, encode(content.identity)},
                                   {kProgramSection, serializeProgram(content.program)},
                                   {kSourcesSection, encode(content.sources)},
                                   {kImagesSection, encode(images)},
                                   {kRulesSection, encode(content.rules)},
                                   {kImageBytesSection, std::move(imageBytes)}};
  if (!content.imported.empty())
    sections.push_back({kImportedSection, encode(content.imported)});
  if (!content.textProofs.empty())
    sections.push_back({kTextProofsSection, encode(content.textProofs)});
  LibraryHeader header{};
  std::memcpy(header.magic, kLibraryMagic, sizeof header.magic);
  header.major = kLibraryMajor;
  header.minor = kLibraryMinor;
  header.sectionCount = static_cast<uint32_t>(std::size(sections));
  std::vector<std::byte> bytes(sizeof header + std::size(sections) * sizeof(LibrarySection));
  uint64_t entryAt = sizeof header;
  for (const Section &section : sections) {
    bytes.resize(alignUp(bytes.size()));
    bool isImages = section.kind == kImageBytesSection;
    store(bytes, entryAt,
          LibrarySection{section.kind, 0, bytes.size(), section.bytes.size(),
                         isImages ? 0 : xxh64(section.bytes, 0)});
    entryAt += sizeof(LibrarySection);
    bytes.insert(bytes.end(), section.bytes.begin(), section.bytes.end());
  }
  header.sizeBytes = bytes.size();
  store(bytes, 0, header);
  header.checksum = libraryChecksum(bytes);
  store(bytes, 0, header);
  return bytes;
}

} // namespace colldsl
