/// The language server: LSP 3.17 over two descriptors.
///
/// It has three threads: one reads messages, so that waiting requests can be cancelled; one proves
/// (ProofThread.h); the caller of run() does all else, in the order of the messages. The last one
/// analyses a text when a request needs it, or when the client is quiet.
#pragma once

#include "lsp/Inbox.h"
#include "lsp/Lenses.h"

namespace colldsl::lsp {

struct ServerOptions {
  driver::ProofRequest proofs;
  bool proves = true;
  uint32_t seconds = 10; ///< for the proofs of a collective
};

class Server {
public:
  /// `options` outlive this object. The server ends when `interrupt` becomes readable.
  Server(const ServerOptions &options, int input, int output, int interrupt);

  /// Runs until `exit` or the end of the stream. True if `shutdown` came before.
  bool run();

private:
  using Handler = Answer (Server::*)(const json::Object &params);
  struct Request {
    llvm::StringRef method;
    Handler handler;
  };
  using Listener = void (Server::*)(const json::Object &params);
  struct Notification {
    llvm::StringRef method;
    Listener listener;
  };
  static llvm::ArrayRef<Request> requests();
  static llvm::ArrayRef<Notification> notifications();

  // Server.cpp: the loop
  void handle(Event event);
  void handle(Message message);
  Answer answer(const Message &message);
  void handle(ProofThread::Finding finding);
  void send(const json::Value &message) { writer_.write(toText(message)); }
  void notify(llvm::StringRef method, json::Value params);
  void sendRequest(llvm::StringRef method, json::Value params);
  void publishStale();
  void reportFindings();
  void publish(Document &document);

  // ServerLifecycle.cpp
  Answer initialize(const json::Object &params);
  Answer shutdown(const json::Object &params);
  void takeAbilities(const json::Object &params);
  void takeRoots(const json::Object &params);

  // ServerSynchronization.cpp
  void didOpen(const json::Object &params);
  void didChange(const json::Object &params);
  void didClose(const json::Object &params);
  void didChangeWatchedFiles(const json::Object &params);

  // ServerRequests.cpp
  Answer onHover(const json::Object &params);
  Answer onDefinition(const json::Object &params);
  Answer onReferences(const json::Object &params);
  Answer onPrepareRename(const json::Object &params);
  Answer onRename(const json::Object &params);
  Answer onCompletion(const json::Object &params);
  Answer onSignatureHelp(const json::Object &params);
  Answer onFormatting(const json::Object &params);
  Answer onDocumentSymbol(const json::Object &params);
  Answer onCodeAction(const json::Object &params);
  Answer onCodeLens(const json::Object &params);
  Answer onExecuteCommand(const json::Object &params);
  Answer showCounterexample(const json::Array &arguments);

  const ServerOptions &options_;
  int input_, interrupt_;
  MessageWriter writer_;
  Inbox inbox_;
  Context context_;
  std::map<std::string, Findings> findings_; ///< by path
  std::unique_ptr<ProofThread> proofs_; ///< null: before `initialize`, or proofs are turned off
  enum class State : uint8_t { New, Ready, ShutDown } state_ = State::New;
  bool ends_ = false;
  /// The time at which the client gets the verdicts since the last report; nothing: there are none.
  std::optional<std::chrono::steady_clock::time_point> reportAt_;
  int64_t requests_ = 0; ///< requests to the client
};

/// The document of `textDocument.uri`; null: `why` has the reason.
Document *documentOf(Workspace &workspace, const json::Object &params, Failed &why);

} // namespace colldsl::lsp
