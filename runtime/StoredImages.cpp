#include "runtime/StoredImages.h"

#include "ir/Concat.h"
#include "ir/Ranges.h"
#include "program/Operands.h"
#include "topology/LevelSet.h"

#include <algorithm>

namespace colldsl {
namespace {

/// Collects the arguments of a request.
class ArgumentReader {
public:
  ArgumentReader(const Program &program, const InstantiateRequest &request)
      : program_(program), request_(request), decl_(program.decl(request.collective)),
        isInContract_(contractParams(program, decl_)) {}

  /// Empty: an argument is not a number. `keepsTuning`: includes the request's values for
  /// parameters outside the contract, which come from a caller and match no image.
  LibraryArguments read(bool keepsTuning) const {
    std::vector<LibraryArgument> arguments;
    for (size_t p = 0; p < decl_.params.size(); ++p) {
      const Param &param = decl_.params[p];
      bool isKept = isInContract_[p] ? isGiven(p) || isWritten(p) : keepsTuning && isGiven(p);
      if (param.isBuffer || !isKept)
        continue;
      std::optional<int64_t> value = numberOf(program_, request_, p);
      if (!value)
        return std::nullopt;
      if (!isInContract_[p] || literalOf(program_, param.defaultValue) != value)
        arguments.push_back({program_.nameOf(param), *value});
    }
    auto sizes = request_.sizes;
    std::sort(sizes.begin(), sizes.end());
    for (const auto &[name, size] : sizes)
      arguments.push_back({name, static_cast<int64_t>(size)});
    return arguments;
  }

  /// True if an expression gives a parameter outside the contract: for an image that of a person,
  /// for a call that of a rule.
  bool tunes() const {
    for (size_t p = 0; p < decl_.params.size(); ++p)
      if (isWritten(p) && !isInContract_[p])
        return true;
    return false;
  }

private:
  bool isGiven(size_t p) const {
    return p < request_.values.size() &&
           !std::holds_alternative<std::monostate>(request_.values[p]);
  }
  bool isWritten(size_t p) const {
    return p < request_.arguments.size() && request_.arguments[p] != kNoExpr;
  }

  const Program &program_;
  const InstantiateRequest &request_;
  const Decl &decl_;
  std::vector<bool> isInContract_;
};

/// True if a caller's operator can only apply to buffers of T.
bool isOfOneType(const Program &program, DeclId collective) {
  const std::vector<Param> &params = program.decl(collective).params;
  return std::all_of(params.begin(), params.end(),
                     [](const Param &p) { return !p.isBuffer || p.buffer.generic; }) &&
         std::all_of(program.temps.begin(), program.temps.end(),
                     [](const BufferType &temp) { return temp.generic; });
}

/// Elements of a caller's operator have a length and no type.
bool hasElementsOf(const LibraryImage &image, const InstantiateRequest &request) {
  return request.elementBytes == 0 ? image.type == request.type
                                   : sizeBytes(image.type) == request.elementBytes;
}

bool serves(const LibraryImage &image, const std::string &collective,
            const InstantiateRequest &request, uint64_t unit, const Topology &topology,
            const std::vector<LibraryArgument> &arguments) {
  uint64_t n = request.elements / unit;
  return image.servesCalls && image.collective == collective && image.ranks == request.ranks &&
         hasElementsOf(image, request) && image.inPlace == request.inPlace &&
         request.elements % unit == 0 && image.minElements <= n && n <= image.maxElements &&
         image.arguments == arguments &&
         image.topologyHash == signatureOf(topology, levelsOfSignature(image.topologyHash));
}

} // namespace

std::optional<int64_t> numberOf(const Program &program, const InstantiateRequest &request,
                                size_t p) {
  if (p < request.values.size() && request.values[p].index() != 0) {
    const int64_t *number = std::get_if<int64_t>(&request.values[p]);
    return number ? std::optional(*number) : std::nullopt;
  }
  return p < request.arguments.size() ? literalOf(program, request.arguments[p]) : std::nullopt;
}

LibraryArguments argumentsOfImage(const Program &program, const InstantiateRequest &request) {
  return ArgumentReader(program, request).read(false);
}

bool tunes(const Program &program, const InstantiateRequest &request) {
  return ArgumentReader(program, request).tunes();
}

Result<const LibraryImage *> findImage(Library &library, const InstantiateRequest &request,
                                       uint64_t unit) {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  Result<const std::vector<LibraryImage> *> images = library.images();
  if (!images)
    return images.status();
  if ((*images)->empty() ||
      (request.elementBytes > 0 && !isOfOneType(**program, request.collective)))
    return nullptr;
  ArgumentReader reader(**program, request);
  LibraryArguments arguments = reader.read(true);
  if (!arguments)
    return nullptr;
  bool isTunedByRule = reader.tunes();
  const std::string &name = (*program)->nameOf((*program)->decl(request.collective));
  Topology flat = Topology::flat(request.topology ? 1 : request.ranks);
  const Topology &topology = request.topology ? *request.topology : flat;
  auto it = std::find_if((*images)->begin(), (*images)->end(), [&](const LibraryImage &image) {
    return (image.isTuned || !isTunedByRule) &&
           serves(image, name, request, unit, topology, *arguments);
  });
  return it == (*images)->end() ? nullptr : &*it;
}

SizeClass inUnits(const SizeClass &sizes, uint64_t unit) {
  auto times = [&](uint64_t n) { return n > UINT64_MAX / unit ? UINT64_MAX : n * unit; };
  return {times(sizes.elements), times(sizes.min), times(sizes.max)};
}

std::optional<uint32_t> unitOf(const std::vector<ImportedCollective> &imported,
                               std::string_view collective) {
  for (const ImportedCollective &one : imported)
    if (one.collective == collective)
      return one.unit;
  return std::nullopt;
}

Result<std::optional<uint32_t>> unitOf(Library &library, const InstantiateRequest &request) {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  Result<const std::vector<ImportedCollective> *> imported = library.imported();
  if (!imported)
    return imported.status();
  return unitOf(**imported, (*program)->nameOf((*program)->decl(request.collective)));
}

std::string sizesInWords(const LibraryImage &image, uint32_t unit) {
  SizeClass sizes = inUnits({image.elements, image.minElements, image.maxElements}, unit);
  std::string multiples = unit > 1 ? concat(" in multiples of ", unit) : std::string();
  return rangeWord(sizes.min, sizes.max) + multiples;
}

} // namespace colldsl
