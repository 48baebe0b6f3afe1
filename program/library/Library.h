/// A schedule library: one file with collectives as a serialised program, ready images,
/// rules that choose among collectives, and their sources. Opening one maps the file and
/// checks its head; every other part is checked, by its own checksum and in every index,
/// when it is first asked for. So a large library costs the pages that are touched.
///
///   Result<std::unique_ptr<Library>> library = Library::open("mine.cdag");
///   Result<const Program *> program = (*library)->program();
///
/// docs/library.md has the layout. A newer minor version is read, and its unknown parts are
/// ignored; another major version is refused.
#pragma once

#include "ir/Image.h"
#include "program/Program.h"
#include "program/library/TextProof.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace colldsl {

struct MachineModel;

inline constexpr uint16_t kLibraryMajor = 4;
inline constexpr uint16_t kLibraryMinor = 1;

/// The origin of the library.
struct LibraryIdentity {
  std::string tool;              ///< "colldsl 0.1.0"
  uint64_t sourcesHash = 0;      ///< XXH64 of all sources, names included
  std::vector<uint32_t> exports; ///< DeclIds of the collectives that it is for
};

/// One file's text, in the order of Program::files: for messages.
struct LibrarySource {
  std::string name;
  std::string text;
};

/// A parameter, or a further size symbol, and its value. Numbers as in ArgumentValue.
struct LibraryArgument {
  std::string name;
  int64_t value = 0;
  bool operator==(const LibraryArgument &) const = default;
};

/// The proof of an image when its library was made, for its ranks and arguments.
enum class ImageProof : uint8_t {
  None,
  SomeLengths, ///< at n == elements and some lengths of blocks that are known at call time only
  Full,        ///< for all n of its validity range and all lengths of such blocks
};
inline constexpr unsigned kImageProofs = static_cast<unsigned>(ImageProof::Full) + 1;
std::string_view spelling(ImageProof proof); ///< "not proved", "proved for these ranks and n"

/// A schedule that is ready to run, and the calls that it was made for.
struct LibraryImage {
  std::string collective;
  uint32_t ranks = 0;
  uint64_t elements = 0, minElements = 0, maxElements = 0; ///< its validity range
  ElementType type = ElementType::I32;                     ///< of the type variable
  bool inPlace = false;
  /// signatureOf() the machine that it is for (LevelSet.h); 0: it serves ranks wherever they sit.
  uint64_t topologyHash = 0;
  std::string topology; ///< for people: as described to --topology
  /// The arguments that a call must give for this image to serve it, in the order of the
  /// declaration: parameters in the contract, except those at a default that is a number.
  std::vector<LibraryArgument> arguments;
  /// False: made with an argument that no call can give, such as an expression.
  bool servesCalls = true;
  std::string parameters; ///< for people: "root=3, op=max"; of what is not at its default
  std::string passes;     ///< that made it, as to --passes; empty: none
  bool isTuned = false;   ///< by passes, or by a person: it replaces a rule's tuning
  ImageProof proof = ImageProof::None;
  uint64_t checksum = 0; ///< XXH64 of its bytes
  uint64_t offset = 0;   ///< in the section of images, in bytes
  uint64_t bytes = 0;
};

/// A collective that was imported: a schedule of another tool, which has no program. It consists of
/// images alone; its declaration defines how it is called.
struct ImportedCollective {
  std::string collective;
  /// Elements of a call per element of an image's n; calls of other than multiples are not served.
  uint32_t unit = 1;
};

/// A rule that chooses the collective for a function ("allreduce") in a situation: the first rule
/// that fits serves. All bounds are inclusive.
struct SelectionRule {
  std::string function;
  uint32_t minRanks = 1, maxRanks = UINT32_MAX;
  uint64_t minBytes = 0, maxBytes = UINT64_MAX;
  uint64_t minTotal = 0, maxTotal = UINT64_MAX; ///< bytes times ranks
  uint32_t minNodes = 1, maxNodes = UINT32_MAX;
  uint32_t minPerNode = 1, maxPerNode = UINT32_MAX; ///< ranks of the node that has most
  uint32_t types = UINT32_MAX;                      ///< bit t: serves ElementType t
  static_assert(kElementTypes <= 32);
  bool needsCommutative = false;
  bool needsOversubscribed = false;
  bool needsMulticast = false;
  bool needsTcp = false;
  uint32_t collective = 0;         ///< DeclId
  std::vector<uint32_t> arguments; ///< indices into Program::arguments
  uint32_t line = 0;               ///< of the file that it was read from; libraries do not store it
};

/// Everything that a library holds, for writing.
struct LibraryContent {
  LibraryIdentity identity;
  Program program;
  std::vector<LibrarySource> sources;
  std::vector<LibraryImage> images; ///< checksum, offset and bytes are filled in
  std::vector<std::vector<std::byte>> imageBytes;
  std::vector<SelectionRule> rules;
  std::vector<ImportedCollective> imported;
  std::vector<TextProof> textProofs; ///< ascending by collective, each once
};

/// Deterministic.
std::vector<std::byte> encodeLibrary(const LibraryContent &content);

/// Thread safe. Owns the mapping, or views bytes that outlive it, aligned to 64.
class Library {
public:
  static Result<std::unique_ptr<Library>> open(const std::string &path);
  enum class Trust : uint8_t {
    None,   ///< the bytes may hold anything
    AsCode, ///< they came with the code: programs and stamps are not checked again
  };
  static Result<std::unique_ptr<Library>> view(std::span<const std::byte> bytes,
                                               Trust trust = Trust::None);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  uint64_t sizeBytes() const { return bytes_.size(); }
  /// Differs if anything in the libraries differs.
  uint64_t checksum() const;
  /// Variant of checksum() of the collectives and the rules alone, without decisions: independent
  /// of the place where the library was made.
  uint64_t programHash() const;

  // Each checks its part at the first call; then the answer stays the same.
  Result<const LibraryIdentity *> identity();
  Result<const Program *> program();
  Result<const std::vector<LibrarySource> *> sources();
  Result<const std::vector<LibraryImage> *> images();
  Result<const std::vector<SelectionRule> *> rules();
  Result<const std::vector<ImportedCollective> *> imported(); ///< none in most libraries
  /// Stamps that the library's program bears: their digests are those of its texts. They are claims
  /// of the library, as its images are.
  Result<const std::vector<TextProof> *> textProofs();
  /// The stamp of a collective; null: it has none.
  Result<const TextProof *> textProof(DeclId collective);

  /// A view of the library's bytes, of one of images().
  Result<const Image *> image(const LibraryImage &image);

  /// Rules that a caller has made for this library, with their arguments in its program.
  struct FirstRules {
    std::vector<SelectionRule> rules;
    uint64_t hash = 0; ///< of what they say
    /// The costs of the machine that they are for; null: not known.
    std::shared_ptr<const MachineModel> costs;
  };
  using MakeRules =
      std::function<Result<FirstRules>(Program &program, std::span<const SelectionRule> rules)>;

  /// From now on the rules that `make` returns precede the others, and count in checksum(). `make`
  /// may append to the program. Called at most once, before any part is asked for. An error is that
  /// of `make`, which then has not changed the program.
  Status precede(const MakeRules &make);
  size_t numPreceding() const { return numPreceding_; } ///< the number of the first of rules()
  /// FirstRules::costs.
  const MachineModel *costs() const { return costs_.get(); }

private:
  template <typename T> struct Part {
    std::once_flag once;
    std::optional<T> value;
    Status error;
  };

  explicit Library(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<Image> load(const LibraryImage &entry) const;
  Status checkHead();
  Result<std::span<const std::byte>> section(uint32_t kind) const;
  bool has(uint32_t kind) const;
  template <typename T> Result<const T *> part(Part<T> &part, uint32_t kind, const char *name);
  template <typename T> Status decode(uint32_t kind, const char *name, T &value);
  Status check(const LibraryIdentity &identity);
  Status check(const Program &) { return {}; }
  Status check(const std::vector<LibrarySource> &) { return {}; }
  Status check(const std::vector<LibraryImage> &images);
  Status check(const std::vector<SelectionRule> &rules);
  Status check(const std::vector<ImportedCollective> &imported);
  Status check(const std::vector<TextProof> &proofs);

  std::span<const std::byte> bytes_;
  bool mapped_ = false;
  Trust trust_ = Trust::None;
  Part<LibraryIdentity> identity_;
  Part<Program> program_;
  Part<std::vector<LibrarySource>> sources_;
  Part<std::vector<LibraryImage>> images_;
  Part<std::vector<SelectionRule>> rules_;
  Part<std::vector<ImportedCollective>> imported_;
  Part<std::vector<TextProof>> textProofs_;
  size_t numPreceding_ = 0;
  uint64_t precedingHash_ = 0;
  std::shared_ptr<const MachineModel> costs_;
  std::deque<Part<Image>> loaded_; ///< per image of images_
};

} // namespace colldsl
