#include "driver/Lists.h"
#include "driver/files/ReadInput.h"
#include "driver/rules/Rules.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include "runtime/StoredImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace colldsl::tools {
namespace {

/// All parts of a library, each validated.
struct Contents {
  const LibraryIdentity *identity;
  const Program *program;
  const std::vector<LibrarySource> *sources;
  const std::vector<LibraryImage> *images;
  const std::vector<SelectionRule> *rules;
  const std::vector<ImportedCollective> *imported;
  const std::vector<TextProof> *textProofs;

  uint32_t unitOf(const LibraryImage &image) const {
    return colldsl::unitOf(*imported, image.collective).value_or(1);
  }
  /// "all P, but for 'deterministic'"; empty: the text has no stamp.
  std::string domainOf(uint32_t collective) const {
    auto stamp = llvm::find_if(
        *textProofs, [&](const TextProof &proof) { return proof.collective == collective; });
    return stamp == textProofs->end() ? "" : domainInWords(*stamp);
  }
};

Result<Contents> contentsOf(Library &library) {
  auto identity = library.identity();
  if (!identity)
    return identity.status();
  auto sources = library.sources();
  if (!sources)
    return sources.status();
  auto images = library.images();
  if (!images)
    return images.status();
  auto rules = library.rules();
  if (!rules)
    return rules.status();
  auto imported = library.imported();
  if (!imported)
    return imported.status();
  auto textProofs = library.textProofs();
  if (!textProofs)
    return textProofs.status();
  for (const LibraryImage &entry : **images)
    if (Result<const Image *> image = library.image(entry); !image)
      return Status::error("the image of '" + entry.collective + "' for " +
                           counted(entry.ranks, "rank") + ": " + image.message());
  return Contents{*identity, *library.program(), *sources, *images, *rules, *imported, *textProofs};
}

/// "x: in T[n], root: rank = ...": the parameters' names and kinds.
std::string signatureOf(const Program &program, const Decl &decl) {
  std::string text;
  for (const Param &param : decl.params) {
    text += text.empty() ? "" : ", ";
    if (param.isBuffer)
      text += std::string(spelling(param.role)) + " ";
    text += program.nameOf(param);
  }
  return "(" + text + ")";
}

std::string briefOf(llvm::StringRef doc) { return doc.split('\n').first.trim().str(); }

/// The values of parameters and of sizes other than n; empty: all are at their defaults.
std::string argumentsWord(const LibraryImage &image) {
  std::string words = image.parameters;
  for (const LibraryArgument &argument : image.arguments)
    if (image.parameters.find(argument.name + "=") == std::string::npos)
      words += (words.empty() ? "" : ", ") + argument.name + "=" + std::to_string(argument.value);
  return words;
}

void print(const std::string &name, const Library &library, const Contents &c) {
  resultStream() << name << ": " << c.identity->tool << ", " << bytesWord(library.sizeBytes())
                 << ", sources " << llvm::format_hex_no_prefix(c.identity->sourcesHash, 16) << "\n";
  resultStream() << "\n" << counted(c.identity->exports.size(), "collective") << "\n";
  for (uint32_t id : c.identity->exports) {
    const Decl &decl = c.program->decl(DeclId{id});
    resultStream() << "  " << c.program->nameOf(decl) << signatureOf(*c.program, decl) << "\n";
    if (std::string line = briefOf(c.program->strings[decl.doc]); !line.empty())
      resultStream() << "      " << line << "\n";
    if (std::string domain = c.domainOf(id); !domain.empty())
      resultStream() << "      proved for " << domain << "\n";
  }
  if (!c.images->empty())
    resultStream() << "\n" << counted(c.images->size(), "image") << "\n";
  for (const LibraryImage &image : *c.images)
    resultStream() << "  " << image.collective << ", " << counted(image.ranks, "rank") << ", n "
                   << sizesInWords(image, c.unitOf(image)) << ", " << spelling(image.type) << ", "
                   << image.topology << (image.inPlace ? ", in place" : "")
                   << (argumentsWord(image).empty() ? "" : ", " + argumentsWord(image))
                   << (image.passes.empty() ? "" : ", passes " + image.passes) << ", "
                   << spelling(image.proof) << ", " << bytesWord(image.bytes) << "\n";
  if (!c.rules->empty())
    resultStream() << "\n"
                   << counted(c.rules->size(), "rule")
                   << ", of which the first that fits is taken\n";
  for (const SelectionRule &rule : *c.rules)
    resultStream() << "  " << printRule(rule, *c.program, *c.sources) << "\n";
}

void printAsJson(const std::string &name, const Library &library, const Contents &c) {
  llvm::json::Array collectives, images, rules;
  for (uint32_t id : c.identity->exports) {
    const Decl &decl = c.program->decl(DeclId{id});
    llvm::json::Array params;
    for (const Param &param : decl.params)
      params.push_back(jsonText(c.program->nameOf(param)));
    collectives.push_back(llvm::json::Object{{"name", jsonText(c.program->nameOf(decl))},
                                             {"doc", jsonText(c.program->strings[decl.doc])},
                                             {"provedFor", jsonText(c.domainOf(id))},
                                             {"parameters", std::move(params)}});
  }
  for (const LibraryImage &image : *c.images) {
    uint32_t unit = c.unitOf(image);
    SizeClass sizes = inUnits({image.elements, image.minElements, image.maxElements}, unit);
    images.push_back(llvm::json::Object{{"collective", jsonText(image.collective)},
                                        {"ranks", image.ranks},
                                        {"minElements", sizes.min},
                                        {"maxElements", sizes.max},
                                        {"multipleOf", unit},
                                        {"type", jsonText(std::string(spelling(image.type)))},
                                        {"inPlace", image.inPlace},
                                        {"topology", jsonText(image.topology)},
                                        {"parameters", jsonText(argumentsWord(image))},
                                        {"passes", jsonText(image.passes)},
                                        {"proved", image.proof == ImageProof::Full},
                                        {"proof", jsonText(std::string(spelling(image.proof)))},
                                        {"bytes", image.bytes}});
  }
  for (const SelectionRule &rule : *c.rules)
    rules.push_back(jsonText(printRule(rule, *c.program, *c.sources)));
  printJson(llvm::json::Object{{"library", jsonText(name)},
                               {"tool", jsonText(c.identity->tool)},
                               {"bytes", library.sizeBytes()},
                               {"collectives", std::move(collectives)},
                               {"images", std::move(images)},
                               {"rules", std::move(rules)}});
}

} // namespace

Exit libCommand(Arguments arguments) {
  bool json = false;
  Options options("lib", "LIB [OPTION...]",
                  "Checks a schedule library and shows what it holds: its collectives, ready\n"
                  "images, and the rules that choose among collectives. Proofs are claims of the\n"
                  "file; that the texts are those that were proved is checked.");
  options.completeOperands(completionOfFiles({".cdag"}));
  options.addFlag("--json", "print one JSON object", json);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() != 1)
    return options.refuse("name one library");
  const std::string &operand = options.operands().front();
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(operand);
  if (!input) {
    printError(input.status().diagnostic());
    return Exit::Failure;
  }
  std::string name = shownName(operand);
  llvm::StringRef bytes = (*input)->getBuffer();
  Result<std::unique_ptr<Library>> library =
      Library::view(std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!library) {
    printError("'" + name + "': " + library.message());
    return Exit::Failure;
  }
  Result<Contents> contents = contentsOf(**library);
  if (!contents) {
    printError("'" + name + "': " + contents.message());
    return Exit::Failure;
  }
  if (json)
    printAsJson(name, **library, *contents);
  else
    print(name, **library, *contents);
  return Exit::Success;
}

} // namespace colldsl::tools
