#include "lsp/ToJson.h"

namespace colldsl::lsp {
namespace {

std::optional<uint32_t> countFrom(const json::Object &object, llvm::StringRef key) {
  std::optional<int64_t> number = object.getInteger(key);
  if (!number || *number < 0)
    return std::nullopt;
  return static_cast<uint32_t>(std::min<int64_t>(*number, UINT32_MAX));
}

} // namespace

std::optional<Position> positionFrom(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  std::optional<uint32_t> line = countFrom(*object, "line");
  std::optional<uint32_t> character = countFrom(*object, "character");
  if (!line || !character)
    return std::nullopt;
  return Position{*line, *character};
}

std::optional<Range> rangeFrom(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  const json::Value *start = object ? object->get("start") : nullptr;
  const json::Value *end = object ? object->get("end") : nullptr;
  if (!start || !end)
    return std::nullopt;
  std::optional<Position> first = positionFrom(*start), last = positionFrom(*end);
  if (!first || !last)
    return std::nullopt;
  return Range{*first, *last};
}

json::Value toJson(const Position &position) {
  return json::Object{{"line", position.line}, {"character", position.character}};
}

json::Value toJson(const Range &range) {
  return json::Object{{"start", toJson(range.start)}, {"end", toJson(range.end)}};
}

json::Object textEdit(const Range &range, llvm::StringRef newText) {
  return json::Object{{"range", toJson(range)}, {"newText", json::fixUTF8(newText)}};
}

} // namespace colldsl::lsp
