/// The layout of a library file. Internal to this folder; docs/library.md has the table.
#pragma once

#include "program/Archive.h"
#include "program/library/Library.h"

namespace colldsl {

inline constexpr char kLibraryMagic[8] = {'c', 'o', 'l', 'l', 'l', 'i', 'b', '\0'};
inline constexpr uint64_t kLibraryAlignment = 64;
inline constexpr uint32_t kMaxLibrarySections = 1024;

/// Kinds of sections. Readers ignore kinds that they do not know.
enum LibrarySectionKind : uint32_t {
  kIdentitySection = 1,
  kProgramSection = 2,
  kSourcesSection = 3,
  kImagesSection = 4, ///< the list
  kRulesSection = 5,
  kImageBytesSection = 6, ///< images carry checksums of their own
  kImportedSection = 7,   ///< if something was imported
  kTextProofsSection = 8, ///< if something is proved about a text
};

struct LibraryHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t sectionCount;
  uint64_t checksum; ///< of the header with a zero here, and the section table
  uint64_t sizeBytes;
};
static_assert(sizeof(LibraryHeader) == 32);

/// Sections ascend, do not overlap, and begin at multiples of 64.
struct LibrarySection {
  uint32_t kind;
  uint32_t zero;
  uint64_t offset;
  uint64_t bytes;
  uint64_t checksum; ///< XXH64 of its bytes, seed 0; of images: 0
};
static_assert(sizeof(LibrarySection) == 32);

template <> inline constexpr unsigned numValues<ImageProof> = kImageProofs;

/// Computes the header's checksum. `bytes` hold the header and the table.
uint64_t libraryChecksum(std::span<const std::byte> bytes);

template <typename Visit, Is<LibraryIdentity> R> void eachField(Visit &visit, R &r) {
  visit(r.tool);
  visit(r.sourcesHash);
  visit(r.exports);
}

template <typename Visit, Is<LibrarySource> R> void eachField(Visit &visit, R &r) {
  visit(r.name);
  visit(r.text);
}

template <typename Visit, Is<LibraryArgument> R> void eachField(Visit &visit, R &r) {
  visit(r.name);
  visit(r.value);
}

template <typename Visit, Is<LibraryImage> R> void eachField(Visit &visit, R &r) {
  visit(r.collective);
  visit(r.ranks);
  visit(r.elements);
  visit(r.minElements);
  visit(r.maxElements);
  visit(r.type);
  visit(r.inPlace);
  visit(r.topologyHash);
  visit(r.topology);
  visit(r.arguments);
  visit(r.servesCalls);
  visit(r.parameters);
  visit(r.passes);
  visit(r.isTuned);
  visit(r.proof);
  visit(r.checksum);
  visit(r.offset);
  visit(r.bytes);
}

template <typename Visit, Is<ImportedCollective> R> void eachField(Visit &visit, R &r) {
  visit(r.collective);
  visit(r.unit);
}

template <typename Visit, Is<TextProof> R> void eachField(Visit &visit, R &r) {
  visit(r.collective);
  visit(r.digest);
  visit(r.allRanks);
  visit(r.needsCommutative);
  visit(r.leftOut);
  visit(r.structures);
  visit(r.mostRanks);
}

template <typename Visit, Is<SelectionRule> R> void eachField(Visit &visit, R &r) {
  visit(r.function);
  visit(r.minRanks);
  visit(r.maxRanks);
  visit(r.minBytes);
  visit(r.maxBytes);
  visit(r.minTotal);
  visit(r.maxTotal);
  visit(r.minNodes);
  visit(r.maxNodes);
  visit(r.minPerNode);
  visit(r.maxPerNode);
  visit(r.types);
  visit(r.needsCommutative);
  visit(r.needsOversubscribed);
  visit(r.needsMulticast);
  visit(r.needsTcp);
  visit(r.collective);
  visit(r.arguments);
}

} // namespace colldsl
