#include "topology/MachineModel.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/MachineModelJson.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr const char *kModel = "machine model";
constexpr uint64_t kMaxTimeNs = uint64_t{1} << 40; ///< 18 minutes
constexpr size_t kMaxModelBytes = 1 << 20;

void readRate(JsonReader &reader, const char *key, PerByte &into) {
  double ns = into.ns();
  reader.real(key, ns, static_cast<double>(PerByte::kMaxNs));
  into = PerByte::fromNs(ns);
}

Status readLogGop(const Json &json, const JsonPlace &place, LogGop &into) {
  JsonReader reader(json, place);
  reader.number("L", into.L, kMaxTimeNs);
  reader.number("o", into.o, kMaxTimeNs);
  reader.number("g", into.g, kMaxTimeNs);
  readRate(reader, "G", into.G);
  readRate(reader, "O", into.O);
  reader.number("S", into.S, UINT64_MAX);
  reader.number("notice", into.notice, kMaxTimeNs);
  return reader.finish();
}

Status readMemory(const Json *json, const JsonPlace &place, MemoryRate &into) {
  if (!json)
    return {};
  JsonReader reader(*json, place);
  reader.number("latency", into.latencyNs, kMaxTimeNs);
  readRate(reader, "perByte", into.perByte);
  return reader.finish();
}

/// "3" or "1..4": the first and the last class.
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

Status readDistances(const Json *json, const JsonPlace &place, MachineModel &model) {
  if (!json)
    return {};
  if (!json->is_object())
    return place.error("is no object");
  std::array<bool, kMaxDistance + 1> known = {};
  for (const auto &[key, value] : json->items()) {
    JsonPlace here = place.member(key);
    unsigned first = 0, last = 0;
    if (!parseClasses(key, first, last))
      return here.error(
          concat("names no classes: they are 0 to ", kMaxDistance, ", as in \"7\" or \"1..4\""));
    LogGop parameters;
    if (Status s = readLogGop(value, here, parameters); !s)
      return s;
    for (unsigned d = first; d <= last; ++d) {
      if (known[d])
        return Status::error(
            concat(place.what, ": distance ", d, " is given twice, again in ", here.path));
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
        concat(place.what, ": distance ", missing - known.begin(), " is missing in ", place.path));
  return {};
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

Result<MachineModel> readModel(const Json &json, const JsonPlace &place) {
  MachineModel model;
  std::string description;
  JsonReader reader(json, place);
  reader.text("name", model.name);
  reader.text("description", description);
  auto read = [&](const char *key, bool mustExist, auto readPart, auto &part) {
    reader.absorb(readPart(reader.member(key, mustExist), reader.placeOf(key), part));
  };
  read("distances", true, readDistances, model);
  read("copy", false, readMemory, model.copy);
  read("combine", false, readMemory, model.combine);
  if (Status s = reader.finish(); !s)
    return s;
  return model;
}

Json jsonOf(const MachineModel &model) {
  Json classes = Json::object();
  const auto &distances = model.distances;
  for (unsigned first = 0, last = 0; first <= kMaxDistance; first = last + 1) {
    last = first;
    while (last < kMaxDistance && distances[last + 1] == distances[first])
      ++last;
    classes[first == last ? concat(first) : concat(first, "..", last)] = toJson(distances[first]);
  }
  return {{"name", model.name},
          {"distances", std::move(classes)},
          {"copy", toJson(model.copy)},
          {"combine", toJson(model.combine)}};
}

Result<MachineModel> MachineModel::parse(std::string_view json) {
  Result<Json> root = parseJson(json, kModel, kMaxModelBytes);
  if (!root)
    return root.status();
  return readModel(*root, {kModel, ""});
}

std::string MachineModel::toJson() const {
  return jsonOf(*this).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace colldsl
