/// Reads JSON of files that anybody may have written: every member is known and has its type.
/// nlohmann-json stays in topology/: the other folders see values.
#pragma once

#include "ir/Result.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

using Json = nlohmann::ordered_json;

/// The position of a value, for messages: "profile: decisions[3].bytes".
struct JsonPlace {
  std::string what; ///< the sort of file
  std::string path; ///< of members; empty: all of the text

  JsonPlace member(const std::string &key) const {
    return {what, path + (path.empty() || key.empty() ? "" : ".") + key};
  }
  JsonPlace element(size_t i) const { return {what, path + "[" + std::to_string(i) + "]"}; }
  /// "profile: decisions[3].bytes is no list"
  Status error(const std::string &why) const;
};

/// Parses a text of at most so many bytes. Members that are given twice are an error, and so is
/// JSON of another tool.
Result<Json> parseJson(std::string_view text, const std::string &what, size_t maxBytes);
/// Variant of parseJson() for the JSON of any tool.
Result<Json> parseAnyJson(std::string_view text, const std::string &what, size_t maxBytes);

/// Reads the members of one object, and keeps the first error.
class JsonReader {
public:
  JsonReader(const Json &object, JsonPlace place);

  template <typename T> void number(const char *key, T &into, uint64_t max) {
    const Json *value = take(key);
    if (!value)
      return;
    if (!value->is_number_unsigned())
      return fail(key, "is no whole number from 0 on");
    if (value->get<uint64_t>() > max)
      return fail(key, "is more than " + std::to_string(max));
    into = value->get<T>();
  }
  /// From 0 on.
  void real(const char *key, double &into, double max);
  void text(const char *key, std::string &into);
  void flag(const char *key, bool &into);
  /// The member, or null. A missing member is an error if it must exist.
  const Json *member(const char *key, bool mustExist);
  /// Variant of member() for a list. Null, with an error, also if the member is no list.
  const Json *list(const char *key, bool mustExist);
  void absorb(Status status) {
    if (status_)
      status_ = std::move(status);
  }
  void fail(const std::string &key, const std::string &why) {
    absorb(place_.member(key).error(why));
  }
  const Status &status() const { return status_; }
  JsonPlace placeOf(const std::string &key) const { return place_.member(key); }
  /// The first error; members that no caller requests are one.
  Status finish();

private:
  const Json *take(const char *key);

  const Json &object_;
  JsonPlace place_;
  std::vector<std::string> taken_;
  Status status_;
};

} // namespace colldsl
