#include "lsp/Server.h"

#include "lsp/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

#include <thread>

namespace colldsl::lsp {
namespace {

/// The time without messages after which the server analyses texts for diagnostics.
constexpr std::chrono::milliseconds kQuietTime{40};

/// The server reports verdicts within this time together.
constexpr std::chrono::milliseconds kReportTime{100};

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The shorter of `time`, if given, and the time until `at`.
milliseconds earlier(std::optional<milliseconds> time, Clock::time_point at) {
  auto left = std::max(std::chrono::ceil<milliseconds>(at - Clock::now()), milliseconds(0));
  return time ? std::min(*time, left) : left;
}

} // namespace

Server::Server(const ServerOptions &options, int input, int output, int interrupt)
    : options_(options), input_(input), interrupt_(interrupt),
      writer_(output), context_{{}, Workspace(options.proofs.schedule.compile), {}, {}} {}

bool Server::run() {
  TemporaryFolder::removeAbandoned();
  MessageReader reader(input_, interrupt_);
  std::thread reading([&] { readAll(reader, inbox_); }); // ends with the stream, or at `exit`
  while (!ends_) {
    bool hasStale = llvm::any_of(context_.workspace.documents(),
                                 [](const auto &entry) { return !entry.second.isPublished; });
    std::optional<milliseconds> time = hasStale ? std::optional(kQuietTime) : std::nullopt;
    if (reportAt_)
      time = earlier(time, *reportAt_);
    std::optional<Event> event = inbox_.pop(time);
    if (event)
      handle(std::move(*event));
    if (reportAt_ && Clock::now() >= *reportAt_)
      reportFindings();
    else if (!event)
      publishStale();
  }
  proofs_.reset();
  reading.join();
  return state_ == State::ShutDown;
}

void Server::handle(Event event) {
  if (Message *message = std::get_if<Message>(&event)) {
    handle(std::move(*message));
  } else if (BadMessage *bad = std::get_if<BadMessage>(&event)) {
    send(response(std::move(bad->id), std::move(bad->why)));
  } else if (Cancelled *cancelled = std::get_if<Cancelled>(&event)) {
    send(response(std::move(cancelled->id),
                  failed("the request was cancelled", ErrorCode::RequestCancelled)));
  } else if (ProofThread::Finding *finding = std::get_if<ProofThread::Finding>(&event)) {
    handle(std::move(*finding));
  } else {
    const std::string &why = std::get<StreamEnd>(event).why;
    if (!why.empty())
      send(response(nullptr, failed(why, ErrorCode::ParseError)));
    ends_ = true;
  }
}

void Server::handle(Message message) {
  if (message.method == "exit") {
    ends_ = true;
    return;
  }
  if (message.method.empty())
    return; // a response of the client, which needs no answer
  if (message.id) {
    json::Value id = *message.id;
    send(response(std::move(id), answer(message)));
    return;
  }
  const auto *known = llvm::find_if(
      notifications(), [&](const Notification &n) { return n.method == message.method; });
  if (state_ == State::Ready && known != notifications().end())
    (this->*known->listener)(message.params);
}

Answer Server::answer(const Message &message) {
  const auto *known =
      llvm::find_if(requests(), [&](const Request &r) { return r.method == message.method; });
  bool isInitialize = message.method == "initialize";
  if (state_ == State::New && !isInitialize)
    return failed("'initialize' comes first", ErrorCode::ServerNotInitialized);
  if (state_ != State::New && isInitialize)
    return failed("'initialize' came already", ErrorCode::InvalidRequest);
  if (state_ == State::ShutDown)
    return failed("'" + message.method + "' after 'shutdown'", ErrorCode::InvalidRequest);
  if (known == requests().end())
    return failed("there is no method '" + message.method + "'", ErrorCode::MethodNotFound);
  return (this->*known->handler)(message.params);
}

void Server::notify(llvm::StringRef method, json::Value params) {
  send(notification(method, std::move(params)));
}

void Server::sendRequest(llvm::StringRef method, json::Value params) {
  send(request(++requests_, method, std::move(params)));
}

/// Stores the finding, or drops it if the document's text has changed since.
void Server::handle(ProofThread::Finding finding) {
  auto known = findings_.find(finding.path);
  auto document = context_.workspace.documents().find(finding.path);
  bool isCurrent = known != findings_.end() && document != context_.workspace.documents().end() &&
                   known->second.generation == finding.generation &&
                   document->second.generation == finding.generation;
  if (!isCurrent)
    return;
  known->second.verdicts[finding.collective] = std::move(finding.verdict);
  known->second.proofs = std::move(finding.proofs);
  known->second.isReported = false;
  if (!reportAt_)
    reportAt_ = Clock::now() + kReportTime;
}

void Server::reportFindings() {
  reportAt_.reset();
  for (auto &[path, findings] : findings_) {
    if (std::exchange(findings.isReported, true))
      continue;
    auto document = context_.workspace.documents().find(path);
    if (document != context_.workspace.documents().end() &&
        document->second.generation == findings.generation)
      publish(document->second);
  }
  if (context_.client.refreshesLenses)
    sendRequest("workspace/codeLens/refresh", nullptr);
}

void Server::publishStale() {
  for (auto &[path, document] : context_.workspace.documents()) {
    if (document.isPublished)
      continue;
    const Analysis &analysis = context_.workspace.analyse(document);
    bool isOwn = !context_.folder.holds(path); // the standard library needs no proof
    if (proofs_ && isOwn) {
      findings_[path] = {document.generation,
                         options_.proofs.schedule.names,
                         document.analysis,
                         {},
                         nullptr,
                         true};
      if (analysis.compilation.ok())
        proofs_->start(path, document.generation, document.analysis);
      else
        proofs_->cancel(path);
    }
    publish(document);
  }
}

/// Publishes the document's diagnostics unless the client has them already.
void Server::publish(Document &document) {
  json::Array all = compilerDiagnostics(context_, context_.workspace.analyse(document));
  if (auto found = findings_.find(document.path);
      found != findings_.end() && found->second.analysis == document.analysis)
    for (json::Value &diagnostic : proofDiagnostics(context_, found->second))
      all.push_back(std::move(diagnostic));
  document.isPublished = true;
  json::Value params = json::Object{
      {"uri", document.uri}, {"version", document.version}, {"diagnostics", std::move(all)}};
  if (std::string text = toText(params); document.published != text) {
    document.published = std::move(text);
    notify("textDocument/publishDiagnostics", std::move(params));
  }
}

} // namespace colldsl::lsp
