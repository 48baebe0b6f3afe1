// From `initialize` to `shutdown`.
#include "lsp/Server.h"
#include "lsp/Uri.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::lsp {
namespace {

/// The value at a path of keys; null: there is none.
const json::Value *at(const json::Object &object, std::initializer_list<llvm::StringRef> keys) {
  const json::Value *value = nullptr;
  const json::Object *next = &object;
  for (llvm::StringRef key : keys) {
    value = next ? next->get(key) : nullptr;
    next = value ? value->getAsObject() : nullptr;
  }
  return value;
}

bool isTrue(const json::Object &object, std::initializer_list<llvm::StringRef> keys) {
  const json::Value *value = at(object, keys);
  return value && value->getAsBoolean().value_or(false);
}

bool lists(const json::Object &object, std::initializer_list<llvm::StringRef> keys,
           llvm::StringRef wanted) {
  const json::Value *value = at(object, keys);
  const json::Array *array = value ? value->getAsArray() : nullptr;
  return array && llvm::any_of(*array, [&](const json::Value &v) {
           return v.getAsString() == std::optional(wanted);
         });
}

json::Object capabilities(Encoding encoding) {
  return json::Object{
      {"positionEncoding", encoding == Encoding::Utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", json::Object{{"openClose", true}, {"change", 2}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"completionProvider", json::Object{{"triggerCharacters", json::Array{"."}}}},
      {"signatureHelpProvider", json::Object{{"triggerCharacters", json::Array{"(", ","}}}},
      {"documentFormattingProvider", true},
      {"documentSymbolProvider", true},
      {"codeActionProvider", json::Object{{"codeActionKinds", json::Array{"quickfix"}}}},
      {"codeLensProvider", json::Object{{"resolveProvider", false}}},
      {"executeCommandProvider", json::Object{{"commands", json::Array{kShowCommand}}}},
  };
}

} // namespace

void Server::takeAbilities(const json::Object &params) {
  ClientAbilities &client = context_.client;
  client.encoding = lists(params, {"capabilities", "general", "positionEncodings"}, "utf-8")
                        ? Encoding::Utf8
                        : Encoding::Utf16;
  client.hoverMarkdown =
      lists(params, {"capabilities", "textDocument", "hover", "contentFormat"}, "markdown");
  client.completionMarkdown =
      lists(params,
            {"capabilities", "textDocument", "completion", "completionItem", "documentationFormat"},
            "markdown");
  client.signatureMarkdown = lists(params,
                                   {"capabilities", "textDocument", "signatureHelp",
                                    "signatureInformation", "documentationFormat"},
                                   "markdown");
  client.signatureOffsets =
      isTrue(params, {"capabilities", "textDocument", "signatureHelp", "signatureInformation",
                      "parameterInformation", "labelOffsetSupport"});
  client.nestedSymbols = isTrue(params, {"capabilities", "textDocument", "documentSymbol",
                                         "hierarchicalDocumentSymbolSupport"});
  client.relatedInformation =
      isTrue(params, {"capabilities", "textDocument", "publishDiagnostics", "relatedInformation"});
  client.refreshesLenses =
      isTrue(params, {"capabilities", "workspace", "codeLens", "refreshSupport"});
  client.showsDocuments = isTrue(params, {"capabilities", "window", "showDocument", "support"});
  client.opensPages = isTrue(params, {"initializationOptions", "opensPages"});
}

void Server::takeRoots(const json::Object &params) {
  std::vector<std::string> uris;
  if (const json::Array *folders = params.getArray("workspaceFolders")) {
    for (const json::Value &folder : *folders)
      if (const json::Object *object = folder.getAsObject())
        if (std::optional<llvm::StringRef> uri = object->getString("uri"))
          uris.push_back(uri->str());
  } else if (std::optional<llvm::StringRef> root = params.getString("rootUri")) {
    uris.push_back(root->str());
  }
  for (const std::string &uri : uris)
    if (std::string path = pathOf(uri); path != uri)
      context_.roots.push_back(path);
}

Answer Server::initialize(const json::Object &params) {
  takeAbilities(params);
  takeRoots(params);
  if (options_.proves)
    proofs_ = std::make_unique<ProofThread>(
        options_.proofs, options_.seconds,
        [this](ProofThread::Finding finding) { inbox_.push(std::move(finding)); });
  state_ = State::Ready;
  return json::Value(json::Object{
      {"capabilities", capabilities(context_.client.encoding)},
      {"serverInfo", json::Object{{"name", "colldsl"}, {"version", COLLDSL_VERSION}}}});
}

Answer Server::shutdown(const json::Object & /*params*/) {
  proofs_.reset();
  state_ = State::ShutDown;
  return json::Value(nullptr);
}

} // namespace colldsl::lsp
