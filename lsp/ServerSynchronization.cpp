// Notifications about documents.
#include "lsp/Server.h"
#include "lsp/Uri.h"

namespace colldsl::lsp {

Document *documentOf(Workspace &workspace, const json::Object &params, Failed &why) {
  const json::Object *identifier = params.getObject("textDocument");
  std::optional<llvm::StringRef> uri = identifier ? identifier->getString("uri") : std::nullopt;
  Document *document = uri ? workspace.find(*uri) : nullptr;
  if (!uri)
    why = {ErrorCode::InvalidParams, "there is no 'textDocument.uri'"};
  else if (!document)
    why = {ErrorCode::InvalidParams, "'" + uri->str() + "' is not open"};
  return document;
}

void Server::didOpen(const json::Object &params) {
  const json::Object *item = params.getObject("textDocument");
  std::optional<llvm::StringRef> uri = item ? item->getString("uri") : std::nullopt;
  std::optional<llvm::StringRef> text = item ? item->getString("text") : std::nullopt;
  if (uri && text)
    context_.workspace.open(uri->str(), text->str(), item->getInteger("version").value_or(0));
}

void Server::didChange(const json::Object &params) {
  Failed why;
  Document *document = documentOf(context_.workspace, params, why);
  const json::Array *changes = params.getArray("contentChanges");
  if (!document || !changes)
    return;
  int64_t version = params.getObject("textDocument")->getInteger("version").value_or(0);
  if (!context_.workspace.change(*document, *changes, version, context_.client.encoding))
    notify("window/logMessage",
           json::Object{{"type", 1},
                        {"message", "the changes of '" + json::fixUTF8(document->uri) +
                                        "' make no sense and were left out"}});
  else if (proofs_)
    proofs_->cancel(document->path);
}

void Server::didClose(const json::Object &params) {
  Failed why;
  Document *document = documentOf(context_.workspace, params, why);
  if (!document)
    return;
  std::string uri = document->uri, path = document->path;
  if (proofs_)
    proofs_->cancel(path);
  findings_.erase(path);
  context_.workspace.close(uri);
  notify("textDocument/publishDiagnostics",
         json::Object{{"uri", uri}, {"diagnostics", json::Array{}}});
}

void Server::didChangeWatchedFiles(const json::Object &params) {
  const json::Array *changes = params.getArray("changes");
  if (!changes)
    return;
  for (const json::Value &change : *changes) {
    const json::Object *object = change.getAsObject();
    std::optional<llvm::StringRef> uri = object ? object->getString("uri") : std::nullopt;
    if (uri && !context_.workspace.find(*uri))
      context_.workspace.touch(pathOf(*uri));
  }
}

} // namespace colldsl::lsp
