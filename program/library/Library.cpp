#include "program/library/Library.h"

#include "ir/Checksum.h"
#include "ir/Concat.h"
#include "ir/ForeignFormat.h"
#include "program/SerializedProgram.h"
#include "program/TextDigest.h"
#include "program/library/LibraryLayout.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl {
namespace {

const LibraryHeader &headerOf(std::span<const std::byte> bytes) {
  return *reinterpret_cast<const LibraryHeader *>(bytes.data());
}

std::span<const LibrarySection> tableOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const LibrarySection *>(bytes.data() + sizeof(LibraryHeader)),
          headerOf(bytes).sectionCount};
}

class OpenFile {
public:
  explicit OpenFile(const std::string &path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd >= 0)
      close(fd);
  }
  const int fd;
};

Status refuseMagic(std::span<const std::byte> bytes) {
  std::string format =
      foreignFormat({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, Readable::Text);
  return Status::error("library: it does not begin like one" +
                       (format.empty() ? "" : ": it is " + format));
}

Status cannot(const char *what, const std::string &path) {
  return Status::error(concat("cannot ", what, " '", path, "': ", std::strerror(errno)));
}

} // namespace

Result<std::unique_ptr<Library>> Library::open(const std::string &path) {
  OpenFile file(path);
  struct stat info {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0)
    return cannot("read", path);
  if (!S_ISREG(info.st_mode))
    return Status::error(concat("'", path, "' is not an ordinary file"));
  auto size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return Status::error(concat("'", path, "': library: it is empty"));
  void *memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (memory == MAP_FAILED)
    return cannot("map", path);
  std::unique_ptr<Library> library(new Library({static_cast<const std::byte *>(memory), size}));
  library->mapped_ = true;
  if (Status s = library->checkHead(); !s)
    return Status::error(concat("'", path, "': ", s.message()));
  return library;
}

Result<std::unique_ptr<Library>> Library::view(std::span<const std::byte> bytes, Trust trust) {
  std::unique_ptr<Library> library(new Library(bytes));
  library->trust_ = trust;
  if (Status s = library->checkHead(); !s)
    return s;
  return library;
}

Library::~Library() {
  if (mapped_)
    munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

// The header's checksum covers those of all sections, and the list of images covers those of the
// images.
uint64_t Library::checksum() const { return headerOf(bytes_).checksum ^ precedingHash_; }

uint64_t Library::programHash() const {
  uint64_t hash = 0;
  for (const LibrarySection &section : tableOf(bytes_))
    if (section.kind == kProgramSection || section.kind == kRulesSection)
      hash = hash * 31 + section.checksum;
  return hash;
}

Status Library::checkHead() {
  if (bytes_.size() < sizeof(LibraryHeader))
    return Status::error(concat("library: ", bytes_.size(), " bytes are too few"));
  const LibraryHeader &header = headerOf(bytes_);
  if (std::memcmp(header.magic, kLibraryMagic, sizeof header.magic) != 0)
    return refuseMagic(bytes_);
  if (header.major != kLibraryMajor)
    return Status::error(concat("library: its format has version ", header.major, ".", header.minor,
                                ", this colldsl reads ", kLibraryMajor, ".x"));
  if (header.sizeBytes != bytes_.size())
    return Status::error(
        concat("library: it should have ", header.sizeBytes, " bytes and has ", bytes_.size()));
  if (header.sectionCount > kMaxLibrarySections ||
      sizeof header + header.sectionCount * sizeof(LibrarySection) > bytes_.size())
    return Status::error(concat("library: it cannot have ", header.sectionCount, " sections"));
  if (libraryChecksum(bytes_) != header.checksum)
    return Status::error("library: its head is corrupt: the checksum differs");
  uint64_t end = sizeof header + header.sectionCount * sizeof(LibrarySection);
  for (const LibrarySection &section : tableOf(bytes_)) {
    bool fits = section.offset % kLibraryAlignment == 0 && section.offset >= end &&
                section.offset <= bytes_.size() && section.bytes <= bytes_.size() - section.offset;
    if (!fits)
      return Status::error(concat("library: section ", section.kind, " of ", section.bytes,
                                  " bytes cannot lie at ", section.offset));
    end = section.offset + section.bytes;
  }
  return {};
}

/// The section's bytes, checked against its checksum if it has one.
Result<std::span<const std::byte>> Library::section(uint32_t kind) const {
  for (const LibrarySection &section : tableOf(bytes_)) {
    if (section.kind != kind)
      continue;
    auto bytes = bytes_.subspan(section.offset, section.bytes);
    if (kind != kImageBytesSection && xxh64(bytes, 0) != section.checksum)
      return Status::error("it is corrupt: the checksum differs");
    return bytes;
  }
  return Status::error("it is missing");
}

template <typename T> Status Library::decode(uint32_t kind, const char *name, T &value) {
  auto fail = [&](const std::string &what) {
    return Status::error(concat("library: ", name, ": ", what));
  };
  Result<std::span<const std::byte>> bytes = section(kind);
  if (!bytes)
    return fail(bytes.message());
  if constexpr (std::is_same_v<T, Program>) {
    Result<Program> decoded =
        trust_ == Trust::AsCode ? deserializeTrustedProgram(*bytes) : deserializeProgram(*bytes);
    if (!decoded)
      return Status::error("library: " + decoded.message());
    value = decoded.take();
  } else {
    RecordReader reader(*bytes);
    reader(value);
    if (reader.failed())
      return fail(reader.error());
    if (reader.left() != 0)
      return fail(concat(reader.left(), " bytes behind its end"));
  }
  if (Status s = check(value); !s)
    return fail(s.message());
  return {};
}

template <typename T>
Result<const T *> Library::part(Part<T> &part, uint32_t kind, const char *name) {
  std::call_once(part.once, [&] {
    T value;
    part.error = decode(kind, name, value);
    if (part.error.ok())
      part.value = std::move(value);
  });
  if (!part.value)
    return part.error;
  return &*part.value;
}

Result<const LibraryIdentity *> Library::identity() {
  return part(identity_, kIdentitySection, "identity");
}
Result<const Program *> Library::program() { return part(program_, kProgramSection, "program"); }
Result<const std::vector<LibrarySource> *> Library::sources() {
  return part(sources_, kSourcesSection, "sources");
}
Result<const std::vector<LibraryImage> *> Library::images() {
  return part(images_, kImagesSection, "images");
}
Result<const std::vector<SelectionRule> *> Library::rules() {
  return part(rules_, kRulesSection, "rules");
}

bool Library::has(uint32_t kind) const {
  auto table = tableOf(bytes_);
  return std::any_of(table.begin(), table.end(),
                     [&](const LibrarySection &section) { return section.kind == kind; });
}

Result<const std::vector<ImportedCollective> *> Library::imported() {
  static const std::vector<ImportedCollective> none;
  return has(kImportedSection) ? part(imported_, kImportedSection, "imports") : &none;
}

Result<const std::vector<TextProof> *> Library::textProofs() {
  static const std::vector<TextProof> none;
  return has(kTextProofsSection) ? part(textProofs_, kTextProofsSection, "proofs") : &none;
}

Result<const TextProof *> Library::textProof(DeclId collective) {
  Result<const std::vector<TextProof> *> all = textProofs();
  if (!all)
    return all.status();
  auto found =
      std::lower_bound((*all)->begin(), (*all)->end(), index(collective),
                       [](const TextProof &proof, uint32_t id) { return proof.collective < id; });
  bool isThere = found != (*all)->end() && found->collective == index(collective);
  return isThere ? &*found : nullptr;
}

Status Library::check(const std::vector<TextProof> &proofs) {
  Result<const Program *> program = this->program();
  if (!program)
    return program.status();
  for (size_t i = 0; i < proofs.size(); ++i) {
    uint32_t id = proofs[i].collective;
    if (id >= (*program)->decls.size() || (*program)->decls[id].kind != DeclKind::Collective)
      return Status::error(concat("declaration ", id, " is not a collective"));
    if (i > 0 && proofs[i - 1].collective >= id)
      return Status::error(
          concat("declaration ", id, " does not come after ", proofs[i - 1].collective));
    if (trust_ == Trust::AsCode)
      continue;
    uint64_t digest = textDigest(**program, DeclId{id});
    if (digest != proofs[i].digest)
      return Status::error(concat("the text of '", (*program)->nameOf((*program)->decls[id]),
                                  "' is not the one that was proved: its digest is ",
                                  digestWord(digest), ", not ", digestWord(proofs[i].digest)));
  }
  return {};
}

Status Library::check(const std::vector<ImportedCollective> &imported) {
  Result<const Program *> program = this->program();
  if (!program)
    return program.status();
  for (const ImportedCollective &one : imported) {
    if ((*program)->find(one.collective, DeclKind::Collective) == kNoDecl)
      return Status::error(concat("there is no collective '", one.collective, "'"));
    if (one.unit == 0)
      return Status::error(concat("the unit of '", one.collective, "' is 0"));
  }
  return {};
}

Status Library::check(const LibraryIdentity &identity) {
  Result<const Program *> program = this->program();
  if (!program)
    return program.status();
  for (uint32_t id : identity.exports)
    if (id >= (*program)->decls.size() || (*program)->decls[id].kind != DeclKind::Collective)
      return Status::error(concat("declaration ", id, " is not a collective"));
  return {};
}

Status Library::check(const std::vector<LibraryImage> &images) {
  Result<std::span<const std::byte>> bytes = section(kImageBytesSection);
  if (!bytes)
    return Status::error("their bytes: " + bytes.message());
  for (const LibraryImage &image : images)
    if (image.offset % kLibraryAlignment != 0 || image.offset > bytes->size() ||
        image.bytes > bytes->size() - image.offset)
      return Status::error(concat(image.bytes, " bytes of '", image.collective, "' cannot lie at ",
                                  image.offset, " of ", bytes->size()));
  for (size_t i = 0; i < images.size(); ++i)
    loaded_.emplace_back();
  return {};
}

Status Library::check(const std::vector<SelectionRule> &rules) {
  Result<const Program *> program = this->program();
  if (!program)
    return program.status();
  for (const SelectionRule &rule : rules) {
    if (rule.collective >= (*program)->decls.size() ||
        (*program)->decls[rule.collective].kind != DeclKind::Collective)
      return Status::error(concat("declaration ", rule.collective, " is not a collective"));
    for (uint32_t argument : rule.arguments)
      if (argument >= (*program)->arguments.size() ||
          index((*program)->arguments[argument].decl) != rule.collective)
        return Status::error(
            concat("argument ", argument, " is not one of declaration ", rule.collective));
  }
  return {};
}

Result<const Image *> Library::image(const LibraryImage &entry) {
  Part<Image> &part = loaded_[static_cast<size_t>(&entry - images_.value->data())];
  std::call_once(part.once, [&] {
    Result<Image> image = load(entry);
    if (image)
      part.value = image.take();
    else
      part.error = image.status();
  });
  if (!part.value)
    return part.error;
  return &*part.value;
}

std::string_view spelling(ImageProof proof) {
  switch (proof) {
  case ImageProof::None:
    return "not proved";
  case ImageProof::SomeLengths:
    return "proved for these ranks at some lengths of blocks only";
  case ImageProof::Full:
    return "proved for these ranks and n";
  }
  return "";
}

Result<Image> Library::load(const LibraryImage &entry) const {
  Result<std::span<const std::byte>> section = this->section(kImageBytesSection);
  if (!section)
    return Status::error("library: images: " + section.message());
  auto fail = [&](auto... what) {
    return Status::error(concat("library: the image of '", entry.collective, "' ", what...));
  };
  std::span<const std::byte> bytes = section->subspan(entry.offset, entry.bytes);
  if (xxh64(bytes, 0) != entry.checksum)
    return fail("is not the one that its entry names: the checksum differs");
  Result<Image> image = Image::load(bytes);
  if (!image)
    return image;
  if (image->numRanks() != entry.ranks)
    return fail("has ", image->numRanks(), " ranks, its entry says ", entry.ranks);
  const SizeClass sizes = image->sizeClass();
  if (sizes.min != entry.minElements || sizes.max != entry.maxElements)
    return fail("holds for ", sizes.min, "..", sizes.max, " elements, its entry says ",
                entry.minElements, "..", entry.maxElements);
  return image;
}

Status Library::precede(const MakeRules &make) {
  Result<const std::vector<SelectionRule> *> known = rules();
  if (!known)
    return known.status();
  Result<FirstRules> first = make(*program_.value, **known);
  if (!first)
    return first.status();
  std::vector<SelectionRule> &all = *rules_.value;
  all.insert(all.begin(), first->rules.begin(), first->rules.end());
  numPreceding_ = first->rules.size();
  precedingHash_ = first->hash;
  costs_ = first->costs;
  return {};
}

} // namespace colldsl
