/// JSON-RPC 2.0, as the protocol uses it.
#pragma once

#include "lsp/Framing.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <variant>

namespace colldsl::lsp {

namespace json = llvm::json;

enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ServerNotInitialized = -32002,
  RequestFailed = -32803,
  RequestCancelled = -32800,
};

/// The reason that a request fails.
struct Failed {
  ErrorCode code = ErrorCode::RequestFailed;
  std::string message;
};

/// The result of a request, or its failure.
using Answer = std::variant<json::Value, Failed>;
inline Answer failed(std::string message, ErrorCode code = ErrorCode::RequestFailed) {
  return Failed{code, std::move(message)};
}

/// A request has an id and a method, a notification a method alone, a response an id alone.
struct Message {
  std::optional<json::Value> id;
  std::string method;
  json::Object params;               ///< empty where there are none
  std::optional<json::Value> result; ///< of a response without an error
};

/// A malformed message: the answer to send, and its id.
struct BadMessage {
  json::Value id = nullptr;
  Failed why;
};
std::variant<Message, BadMessage> parseMessage(llvm::StringRef content);

json::Value response(json::Value id, Answer answer);
json::Value request(int64_t id, llvm::StringRef method, json::Value params);
json::Value notification(llvm::StringRef method, json::Value params);

/// The text of a value for the wire.
std::string toText(const json::Value &value);

} // namespace colldsl::lsp
