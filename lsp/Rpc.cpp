#include "lsp/Rpc.h"

#include "driver/files/ReadJson.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::lsp {
namespace {

bool isId(const json::Value &value) {
  return value.kind() == json::Value::Number || value.kind() == json::Value::String;
}

BadMessage invalid(const json::Object &object, std::string why) {
  const json::Value *id = object.get("id");
  return {id && isId(*id) ? *id : json::Value(nullptr),
          {ErrorCode::InvalidRequest, std::move(why)}};
}

} // namespace

std::variant<Message, BadMessage> parseMessage(llvm::StringRef content) {
  Result<json::Value> parsed = driver::readJson(content);
  if (!parsed)
    return BadMessage{nullptr, {ErrorCode::ParseError, parsed.message()}};
  json::Object *object = parsed->getAsObject();
  if (!object)
    return BadMessage{nullptr, {ErrorCode::InvalidRequest, "a message is a JSON object"}};
  if (object->getString("jsonrpc") != llvm::StringRef("2.0"))
    return invalid(*object, "'jsonrpc' is not \"2.0\"");
  Message message;
  if (const json::Value *id = object->get("id")) {
    if (!isId(*id) && object->get("method"))
      return invalid(*object, "'id' is neither a number nor a string");
    message.id = *id;
  }
  if (const json::Value *method = object->get("method")) {
    if (!method->getAsString())
      return invalid(*object, "'method' is no string");
    message.method = method->getAsString()->str();
  } else if (!message.id) {
    return invalid(*object, "there is no 'method'");
  }
  if (json::Object *params = object->getObject("params"))
    message.params = std::move(*params);
  if (const json::Value *result = object->get("result"))
    message.result = *result;
  return message;
}

json::Value response(json::Value id, Answer answer) {
  json::Object object{{"jsonrpc", "2.0"}, {"id", std::move(id)}};
  if (Failed *why = std::get_if<Failed>(&answer))
    object["error"] = json::Object{{"code", static_cast<int>(why->code)},
                                   {"message", json::fixUTF8(why->message)}};
  else
    object["result"] = std::move(std::get<json::Value>(answer));
  return object;
}

json::Value request(int64_t id, llvm::StringRef method, json::Value params) {
  return json::Object{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

json::Value notification(llvm::StringRef method, json::Value params) {
  return json::Object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string toText(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

} // namespace colldsl::lsp
