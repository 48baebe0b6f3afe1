#include "topology/JsonReader.h"

#include "ir/Concat.h"
#include "ir/ForeignFormat.h"

#include <algorithm>
#include <functional>
#include <set>

namespace colldsl {
namespace {

/// The members of an object at most: each is compared with all before it, as they keep their order.
constexpr size_t kMostMembers = 10000;

struct TooManyMembers {};

/// Finds members that are given twice; a parsed object has only the last of them.
class DuplicateFinder {
public:
  /// Throws TooManyMembers.
  bool operator()(int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      open_.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open_.pop_back();
    else if (event == Json::parse_event_t::key)
      see(parsed.get<std::string>());
    return true;
  }
  /// The path of the first such member, with the names of the objects around it; empty if there is
  /// none.
  const std::string &found() const { return found_; }

private:
  void see(const std::string &key) {
    Object &object = open_.back();
    bool isNew = object.keys.insert(key).second;
    object.last = key;
    if (object.keys.size() > kMostMembers)
      throw TooManyMembers();
    if (!isNew && found_.empty())
      for (const Object &outer : open_)
        found_ += (found_.empty() ? "" : ".") + outer.last;
  }

  struct Object {
    std::set<std::string> keys;
    std::string last; ///< the next object is its value
  };
  std::vector<Object> open_;
  std::string found_;
};

} // namespace

Status JsonPlace::error(const std::string &why) const {
  return Status::error(concat(what, ": ", path.empty() ? "the text" : path, " ", why));
}

Result<Json> parseJson(std::string_view text, const std::string &what, size_t maxBytes) {
  if (std::string format = foreignFormat(text, Readable::Json); !format.empty())
    return Status::error(concat(what, ": the text is ", format));
  return parseAnyJson(text, what, maxBytes);
}

// No exception of the library leaves this function.
Result<Json> parseAnyJson(std::string_view text, const std::string &what, size_t maxBytes) {
  if (text.size() > maxBytes)
    return Status::error(
        concat(what, ": the text has ", text.size(), " bytes, the limit is ", maxBytes));
  try {
    DuplicateFinder duplicates;
    Json json = Json::parse(text, std::ref(duplicates));
    if (!duplicates.found().empty())
      return Status::error(concat(what, ": ", duplicates.found(), " is given twice"));
    return json;
  } catch (const TooManyMembers &) {
    return Status::error(
        concat(what, ": an object has more than ", kMostMembers, " members, which is the limit"));
  } catch (const Json::exception &error) {
    std::string_view why = error.what(); // "[json.exception.parse_error.101] parse error at ..."
    size_t end = why.find("] ");
    return Status::error(
        concat(what, ": ", why.substr(end == std::string_view::npos ? 0 : end + 2)));
  }
}

JsonReader::JsonReader(const Json &object, JsonPlace place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object())
    fail("", "is no object");
}

const Json *JsonReader::take(const char *key) {
  taken_.push_back(key);
  if (!object_.is_object())
    return nullptr;
  auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonReader::real(const char *key, double &into, double max) {
  const Json *value = take(key);
  if (!value)
    return;
  if (!value->is_number() || value->get<double>() < 0)
    return fail(key, "is no number from 0 on");
  if (value->get<double>() > max)
    return fail(key, concat("is more than ", static_cast<uint64_t>(max)));
  into = value->get<double>();
}

void JsonReader::text(const char *key, std::string &into) {
  if (const Json *value = take(key); value && value->is_string())
    into = value->get<std::string>();
  else if (value)
    fail(key, "is no text");
}

void JsonReader::flag(const char *key, bool &into) {
  if (const Json *value = take(key); value && value->is_boolean())
    into = value->get<bool>();
  else if (value)
    fail(key, "is neither true nor false");
}

const Json *JsonReader::member(const char *key, bool mustExist) {
  const Json *value = take(key);
  if (!value && mustExist && status_)
    fail(key, "is missing");
  return value;
}

const Json *JsonReader::list(const char *key, bool mustExist) {
  const Json *value = member(key, mustExist);
  if (value && !value->is_array()) {
    fail(key, "is no list");
    return nullptr;
  }
  return value;
}

Status JsonReader::finish() {
  if (status_ && object_.is_object())
    for (const auto &[key, value] : object_.items())
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end())
        fail(key, "is not known here");
  return status_;
}

} // namespace colldsl
