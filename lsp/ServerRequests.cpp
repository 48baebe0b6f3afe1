// Requests: the handlers check the parameters, the features compute the answers.
#include "lsp/Diagnostics.h"
#include "lsp/Features.h"
#include "lsp/Server.h"
#include "lsp/Uri.h"

namespace colldsl::lsp {
namespace {

/// Calls `use` with a view of the document that the parameters name.
template <typename Use> Answer withView(Context &context, const json::Object &params, Use use) {
  Failed why;
  Document *document = documentOf(context.workspace, params, why);
  return document ? use(View(context, *document)) : Answer(why);
}

/// Calls `use` with the view and the position that the parameters name.
template <typename Use> Answer withPosition(Context &context, const json::Object &params, Use use) {
  const json::Value *value = params.get("position");
  std::optional<Position> position = value ? positionFrom(*value) : std::nullopt;
  if (!position)
    return failed("there is no 'position'", ErrorCode::InvalidParams);
  return withView(context, params, [&](const View &view) { return use(view, *position); });
}

} // namespace

llvm::ArrayRef<Server::Request> Server::requests() {
  static constexpr Request kRequests[] = {
      {"initialize", &Server::initialize},
      {"shutdown", &Server::shutdown},
      {"textDocument/hover", &Server::onHover},
      {"textDocument/definition", &Server::onDefinition},
      {"textDocument/references", &Server::onReferences},
      {"textDocument/prepareRename", &Server::onPrepareRename},
      {"textDocument/rename", &Server::onRename},
      {"textDocument/completion", &Server::onCompletion},
      {"textDocument/signatureHelp", &Server::onSignatureHelp},
      {"textDocument/formatting", &Server::onFormatting},
      {"textDocument/documentSymbol", &Server::onDocumentSymbol},
      {"textDocument/codeAction", &Server::onCodeAction},
      {"textDocument/codeLens", &Server::onCodeLens},
      {"workspace/executeCommand", &Server::onExecuteCommand},
  };
  return kRequests;
}

llvm::ArrayRef<Server::Notification> Server::notifications() {
  static constexpr Notification kNotifications[] = {
      {"textDocument/didOpen", &Server::didOpen},
      {"textDocument/didChange", &Server::didChange},
      {"textDocument/didClose", &Server::didClose},
      {"workspace/didChangeWatchedFiles", &Server::didChangeWatchedFiles},
  };
  return kNotifications;
}

Answer Server::onHover(const json::Object &params) { return withPosition(context_, params, hover); }

Answer Server::onDefinition(const json::Object &params) {
  return withPosition(context_, params, definition);
}

Answer Server::onReferences(const json::Object &params) {
  const json::Object *context = params.getObject("context");
  bool withDeclaration = context && context->getBoolean("includeDeclaration").value_or(false);
  return withPosition(context_, params, [&](const View &view, Position position) {
    return references(view, position, withDeclaration);
  });
}

Answer Server::onPrepareRename(const json::Object &params) {
  return withPosition(context_, params, prepareRename);
}

Answer Server::onRename(const json::Object &params) {
  std::optional<llvm::StringRef> newName = params.getString("newName");
  if (!newName)
    return failed("there is no 'newName'", ErrorCode::InvalidParams);
  return withPosition(context_, params, [&](const View &view, Position position) {
    return rename(view, position, newName->str());
  });
}

Answer Server::onCompletion(const json::Object &params) {
  return withPosition(context_, params, completion);
}

Answer Server::onSignatureHelp(const json::Object &params) {
  return withPosition(context_, params, signatureHelp);
}

Answer Server::onFormatting(const json::Object &params) {
  Failed why;
  Document *document = documentOf(context_.workspace, params, why);
  return document ? formatting(*document, context_.client.encoding,
                               options_.proofs.schedule.compile.limits)
                  : Answer(why);
}

Answer Server::onDocumentSymbol(const json::Object &params) {
  return withView(context_, params, documentSymbols);
}

Answer Server::onCodeAction(const json::Object &params) {
  const json::Value *value = params.get("range");
  std::optional<Range> range = value ? rangeFrom(*value) : std::nullopt;
  if (!range)
    return failed("there is no 'range'", ErrorCode::InvalidParams);
  return withView(context_, params, [&](const View &view) {
    const Document &document = view.document();
    return json::Value(quickFixes(context_, document, *document.analysis, *range));
  });
}

Answer Server::onCodeLens(const json::Object &params) {
  return withView(context_, params, [&](const View &view) {
    auto found = findings_.find(view.document().path);
    return json::Value(codeLenses(view, found == findings_.end() ? nullptr : &found->second));
  });
}

Answer Server::onExecuteCommand(const json::Object &params) {
  std::optional<llvm::StringRef> command = params.getString("command");
  const json::Array *arguments = params.getArray("arguments");
  if (command != std::optional<llvm::StringRef>(kShowCommand))
    return failed("there is no command '" + command.value_or("").str() + "'",
                  ErrorCode::InvalidParams);
  return showCounterexample(arguments ? *arguments : json::Array{});
}

/// Writes the page and asks the client, if it is able, to open it. Returns its URI.
Answer Server::showCounterexample(const json::Array &arguments) {
  std::optional<llvm::StringRef> uri, name;
  if (arguments.size() == 2) {
    uri = arguments[0].getAsString();
    name = arguments[1].getAsString();
  }
  if (!uri || !name)
    return failed("the arguments are the URI of a document and the name of a collective",
                  ErrorCode::InvalidParams);
  Document *document = context_.workspace.find(*uri);
  auto findings = document ? findings_.find(document->path) : findings_.end();
  if (findings == findings_.end() || findings->second.verdicts.count(name->str()) == 0)
    return failed("no proof of '" + name->str() + "' in '" + uri->str() + "' is known");
  const Findings &found = findings->second;
  Result<std::string> file =
      context_.folder.page(name->str() + "-" + std::to_string(found.generation));
  if (!file)
    return failed(file.message());
  Status written = found.proofs->writePage(*file, *name, found.verdicts.at(name->str()));
  if (!written)
    return failed(written.message());
  std::string page = uriOf(*file);
  if (context_.client.showsDocuments && !context_.client.opensPages)
    sendRequest("window/showDocument", json::Object{{"uri", page}, {"external", true}});
  return json::Value(json::Object{{"uri", page}, {"path", json::fixUTF8(*file)}});
}

} // namespace colldsl::lsp
