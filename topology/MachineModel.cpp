#include "topology/MachineModel.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

namespace colldsl {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxTimeNs = uint64_t{1} << 40; ///< 18 minutes
constexpr size_t kMaxBytes = 1 << 20;

/// Reads the members of one object; each is named in what is said about it.
class Reader {
public:
  Reader(const Json &object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object())
      fail("", "is no object");
  }

  template <typename T> void number(const char *key, T &into, uint64_t max) {
    const Json *value = take(key);
    if (!value)
      return;
    if (!value->is_number_unsigned())
      return fail(key, "is no whole number from 0 on");
    if (value->get<uint64_t>() > max)
      return fail(key, concat("is more than ", max));
    into = value->get<T>();
  }
  void rate(const char *key, PerByte &into) {
    const Json *value = take(key);
    if (!value)
      return;
    if (!value->is_number() || value->get<double>() < 0)
      return fail(key, "is no number from 0 on");
    if (value->get<double>() > static_cast<double>(PerByte::kMaxNs))
      return fail(key, concat("is more than ", PerByte::kMaxNs));
    into = PerByte::fromNs(value->get<double>());
  }
  void text(const char *key, std::string &into) {
    if (const Json *value = take(key); value && value->is_string())
      into = value->get<std::string>();
    else if (value)
      fail(key, "is no text");
  }
  /// The member, or null, which is an error if it must be there.
  const Json *object(const char *key, bool mustExist) {
    const Json *value = take(key);
    if (!value && mustExist && status_)
      fail(key, "is missing");
    return value;
  }
  void absorb(Status status) {
    if (status_)
      status_ = std::move(status);
  }
  /// All that went wrong, what was not asked for included.
  Status finish() {
    if (status_)
      for (const auto &[key, value] : object_.items())
        if (std::find(taken_.begin(), taken_.end(), key) == taken_.end())
          fail(key, "is not known here");
    return status_;
  }

private:
  const Json *take(const char *key) {
    taken_.push_back(key);
    auto found = object_.is_object() ? object_.find(key) : object_.end();
    return found == object_.end() ? nullptr : &*found;
  }
  void fail(const std::string &key, const std::string &why) {
    std::string dot = path_.empty() || key.empty() ? "" : ".";
    std::string place = path_ + dot + key;
    absorb(Status::error(concat("machine model: ", place.empty() ? "the text" : place, " ", why)));
  }

  const Json &object_;
  std::string path_;
  std::vector<std::string> taken_;
  Status status_;
};

Status readLogGop(const Json &json, const std::string &path, LogGop &into) {
  Reader reader(json, path);
  reader.number("L", into.L, kMaxTimeNs);
  reader.number("o", into.o, kMaxTimeNs);
  reader.number("g", into.g, kMaxTimeNs);
  reader.rate("G", into.G);
  reader.rate("O", into.O);
  reader.number("S", into.S, UINT64_MAX);
  reader.number("notice", into.notice, kMaxTimeNs);
  return reader.finish();
}

Status readMemory(const Json *json, const std::string &path, MemoryRate &into) {
  if (!json)
    return {};
  Reader reader(*json, path);
  reader.number("latency", into.latencyNs, kMaxTimeNs);
  reader.rate("perByte", into.perByte);
  return reader.finish();
}

/// "3" or "1..4": from which class to which.
bool parseClasses(std::string_view text, unsigned &first, unsigned &last) {
  auto parse = [](std::string_view digits, unsigned &into) {
    std::optional<unsigned> given = parseWhole<unsigned>(digits);
    into = given.value_or(into);
    return given && into <= kMaxDistance;
  };
  size_t dots = text.find("..");
  if (dots == std::string_view::npos)
    return parse(text, first) && (last = first, true);
  return parse(text.substr(0, dots), first) && parse(text.substr(dots + 2), last) && first <= last;
}

Status readDistances(const Json *json, MachineModel &model) {
  if (!json)
    return {};
  if (!json->is_object())
    return Status::error("machine model: distances is no object");
  std::array<bool, kMaxDistance + 1> known = {};
  for (const auto &[key, value] : json->items()) {
    std::string path = "distances." + key;
    unsigned first = 0, last = 0;
    if (!parseClasses(key, first, last))
      return Status::error(concat("machine model: ", path, " names no classes: they are 0 to ",
                                  kMaxDistance, ", as in \"7\" or \"1..4\""));
    LogGop parameters;
    if (Status s = readLogGop(value, path, parameters); !s)
      return s;
    for (unsigned d = first; d <= last; ++d) {
      if (known[d])
        return Status::error(
            concat("machine model: distance ", d, " is given twice, again in ", path));
      known[d] = true;
      model.distances[d] = parameters;
    }
  }
  if (!known[kMaxDistance] && known[kOtherNode]) {
    known[kMaxDistance] = true;
    model.distances[kMaxDistance] = model.distances[kOtherNode];
  }
  auto missing = std::find(known.begin(), known.end(), false);
  if (missing != known.end())
    return Status::error(
        concat("machine model: distance ", missing - known.begin(), " is missing in distances"));
  return {};
}

/// Finds members that are given twice; a parsed object has the last of them only.
class DuplicateFinder {
public:
  bool operator()(int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      open_.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open_.pop_back();
    else if (event == Json::parse_event_t::key)
      see(parsed.get<std::string>());
    return true;
  }
  /// The first one, with the names of those that it is in; empty: none.
  const std::string &found() const { return found_; }

private:
  void see(const std::string &key) {
    std::vector<std::string> &keys = open_.back();
    bool isNew = std::find(keys.begin(), keys.end(), key) == keys.end();
    keys.push_back(key); // the last one is what the next object belongs to
    if (!isNew && found_.empty())
      for (const std::vector<std::string> &object : open_)
        found_ += (found_.empty() ? "" : ".") + object.back();
  }

  std::vector<std::vector<std::string>> open_;
  std::string found_;
};

/// Exceptions of the library end here.
Result<Json> parseJson(std::string_view text) {
  try {
    DuplicateFinder duplicates;
    Json json = Json::parse(text, std::ref(duplicates));
    if (!duplicates.found().empty())
      return Status::error(concat("machine model: ", duplicates.found(), " is given twice"));
    return json;
  } catch (const Json::exception &error) {
    std::string_view what = error.what(); // "[json.exception.parse_error.101] parse error at ..."
    size_t end = what.find("] ");
    return Status::error(
        concat("machine model: ", what.substr(end == std::string_view::npos ? 0 : end + 2)));
  }
}

Json toJson(const LogGop &p) {
  return {{"L", p.L},      {"o", p.o}, {"g", p.g},          {"G", p.G.ns()},
          {"O", p.O.ns()}, {"S", p.S}, {"notice", p.notice}};
}

Json toJson(const MemoryRate &rate) {
  return {{"latency", rate.latencyNs}, {"perByte", rate.perByte.ns()}};
}

} // namespace

MachineModel MachineModel::flat(const LogGop &parameters) {
  MachineModel model;
  model.distances.fill(parameters);
  return model;
}

bool MachineModel::isFlat() const {
  return std::all_of(distances.begin(), distances.end(),
                     [&](const LogGop &p) { return p == distances.front(); });
}

Result<MachineModel> MachineModel::parse(std::string_view json) {
  if (json.size() > kMaxBytes)
    return Status::error(
        concat("machine model: the text has ", json.size(), " bytes, the limit is ", kMaxBytes));
  Result<Json> root = parseJson(json);
  if (!root)
    return root.status();
  MachineModel model;
  std::string description;
  Reader reader(*root, "");
  reader.text("name", model.name);
  reader.text("description", description);
  reader.absorb(readDistances(reader.object("distances", true), model));
  reader.absorb(readMemory(reader.object("copy", false), "copy", model.copy));
  reader.absorb(readMemory(reader.object("combine", false), "combine", model.combine));
  if (Status s = reader.finish(); !s)
    return s;
  return model;
}

std::string MachineModel::toJson() const {
  Json classes = Json::object();
  for (unsigned first = 0, last = 0; first <= kMaxDistance; first = last + 1) {
    last = first;
    while (last < kMaxDistance && distances[last + 1] == distances[first])
      ++last;
    classes[first == last ? concat(first) : concat(first, "..", last)] =
        colldsl::toJson(distances[first]);
  }
  Json root = {{"name", name},
               {"distances", std::move(classes)},
               {"copy", colldsl::toJson(copy)},
               {"combine", colldsl::toJson(combine)}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace colldsl
