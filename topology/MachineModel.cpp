#include "topology/MachineModel.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/MachineModelJson.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr const char *kModel = "machine model";
constexpr uint64_t kMaxTimeNs = uint64_t{1} << 40; ///< 18 minutes
constexpr std::array<std::string_view, 3> kMovedBy = {"processors", "reader", "interfaces"};
constexpr std::array<std::string_view, 2> kSpread = {"ranks", "messages"};
constexpr uint32_t kMaxInterfaces = 1024;
constexpr size_t kMaxModelBytes = 1 << 20;

void readRate(JsonReader &reader, const char *key, PerByte &into) {
  double ns = into.ns();
  reader.real(key, ns, static_cast<double>(PerByte::kMaxNs));
  into = PerByte::fromNs(ns);
}

/// Reads a word that stands for the value of its number.
template <typename Value, size_t kWords>
void readWord(JsonReader &reader, const char *key,
              const std::array<std::string_view, kWords> &words, Value &into, const char *mistake) {
  std::string word(words[static_cast<size_t>(into)]);
  reader.text(key, word);
  auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    return reader.fail(key, mistake);
  into = static_cast<Value>(found - words.begin());
}

/// Reads the members of one set of parameters; what is left out keeps its value in `into`.
void readLogGop(JsonReader &reader, LogGop &into) {
  reader.number("L", into.L, kMaxTimeNs);
  reader.number("o", into.o, kMaxTimeNs);
  reader.number("g", into.g, kMaxTimeNs);
  readRate(reader, "G", into.G);
  readRate(reader, "O", into.O);
  reader.number("S", into.S, UINT64_MAX);
  reader.number("notice", into.notice, kMaxTimeNs);
  readWord(reader, "movedBy", kMovedBy, into.movedBy,
           "is none of \"processors\", \"reader\" and \"interfaces\"");
}

void readRateMembers(JsonReader &reader, MemoryRate &into) {
  reader.number("latency", into.latencyNs, kMaxTimeNs);
  readRate(reader, "perByte", into.perByte);
}

/// Reads costs that differ by size. Each entry of the list "longer" has what the one before it has,
/// unless it says otherwise.
template <typename Costs, typename ReadMembers>
Status readBySize(const Json &json, const JsonPlace &place, ReadMembers readMembers,
                  Costs &shortest, std::vector<FromBytes<Costs>> &longer) {
  JsonReader reader(json, place);
  readMembers(reader, shortest);
  const Json *list = reader.list("longer", false);
  JsonPlace here = reader.placeOf("longer");
  FromBytes<Costs> next{0, shortest};
  for (size_t i = 0; list && i < list->size(); ++i) {
    uint64_t before = next.bytes;
    JsonReader members((*list)[i], here.element(i));
    members.member("from", true);
    members.number("from", next.bytes, UINT64_MAX);
    readMembers(members, next.costs);
    if (members.status() && next.bytes <= before)
      members.fail("from", concat("is not more than ", before, " bytes"));
    reader.absorb(members.finish());
    longer.push_back(next);
  }
  return reader.finish();
}

Status readMemory(const Json *json, const JsonPlace &place, MemoryCosts &into) {
  return json ? readBySize(*json, place, readRateMembers, into.shortest, into.longer) : Status();
}

Status readNode(const Json *json, const JsonPlace &place, NodeCosts &into) {
  if (!json)
    return {};
  JsonReader reader(*json, place);
  reader.number("interfaces", into.interfaces, kMaxInterfaces);
  reader.number("g", into.g, kMaxTimeNs);
  readRate(reader, "G", into.G);
  reader.flag("fair", into.isFair);
  reader.number("copiers", into.copiers, UINT32_MAX);
  readWord(reader, "spread", kSpread, into.spread, "is neither \"ranks\" nor \"messages\"");
  return reader.finish();
}

Status readImplementations(const Json *json, const JsonPlace &place,
                           std::map<std::string, ImplementationFactors> &into) {
  if (!json)
    return {};
  if (!json->is_object())
    return place.error("is no object");
  for (const auto &[name, list] : json->items()) {
    JsonPlace here = place.member(name);
    auto isPair = [](const Json &pair) {
      return pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
             pair[1].is_number() && pair[1].get<double>() > 0;
    };
    if (!list.is_array() || list.empty() || !std::all_of(list.begin(), list.end(), isPair))
      return here.error("is no list of pairs of bytes and a factor above 0");
    for (const Json &pair : list)
      into[name].emplace_back(pair[0].get<uint64_t>(), pair[1].get<double>());
    if (!std::is_sorted(into[name].begin(), into[name].end()))
      return here.error("has sizes that do not ascend");
  }
  return {};
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
    std::vector<FromBytes<LogGop>> longer;
    if (Status s = readBySize(value, here, readLogGop, parameters, longer); !s)
      return s;
    for (unsigned d = first; d <= last; ++d) {
      if (known[d])
        return Status::error(
            concat(place.what, ": distance ", d, " is given twice, again in ", here.path));
      known[d] = true;
      model.distances[d] = parameters;
      model.longer[d] = longer;
    }
  }
  if (!known[kMaxDistance] && known[kOtherNode]) {
    known[kMaxDistance] = true;
    model.distances[kMaxDistance] = model.distances[kOtherNode];
    model.longer[kMaxDistance] = model.longer[kOtherNode];
  }
  auto missing = std::find(known.begin(), known.end(), false);
  if (missing != known.end())
    return Status::error(
        concat(place.what, ": distance ", missing - known.begin(), " is missing in ", place.path));
  return {};
}

Json toJson(const LogGop &p) {
  Json json = {{"L", p.L},      {"o", p.o}, {"g", p.g},          {"G", p.G.ns()},
               {"O", p.O.ns()}, {"S", p.S}, {"notice", p.notice}};
  if (p.movedBy != MovedBy::Processors)
    json["movedBy"] = kMovedBy[static_cast<size_t>(p.movedBy)];
  return json;
}

Json toJson(const MemoryRate &rate) {
  return {{"latency", rate.latencyNs}, {"perByte", rate.perByte.ns()}};
}

template <typename Costs>
Json toJson(const Costs &shortest, const std::vector<FromBytes<Costs>> &longer) {
  Json json = toJson(shortest);
  for (const FromBytes<Costs> &next : longer) {
    Json entry = toJson(next.costs);
    entry["from"] = next.bytes;
    json["longer"].push_back(std::move(entry));
  }
  return json;
}

Json toJson(const NodeCosts &node) {
  Json json = {{"interfaces", node.interfaces},
               {"g", node.g},
               {"G", node.G.ns()},
               {"fair", node.isFair},
               {"copiers", node.copiers}};
  if (node.spread != Spread::Ranks)
    json["spread"] = kSpread[static_cast<size_t>(node.spread)];
  return json;
}

} // namespace

MachineModel MachineModel::flat(const LogGop &parameters) {
  MachineModel model;
  model.distances.fill(parameters);
  return model;
}

bool MachineModel::isFlat() const {
  return std::all_of(distances.begin(), distances.end(),
                     [&](const LogGop &p) { return p == distances.front(); }) &&
         std::all_of(longer.begin(), longer.end(), [](const auto &list) { return list.empty(); });
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
  read("node", false, readNode, model.node);
  read("implementations", false, readImplementations, model.implementations);
  if (Status s = reader.finish(); !s)
    return s;
  return model;
}

Json jsonOf(const MachineModel &model) {
  Json classes = Json::object();
  const auto &distances = model.distances;
  const auto &longer = model.longer;
  for (unsigned first = 0, last = 0; first <= kMaxDistance; first = last + 1) {
    last = first;
    while (last < kMaxDistance && distances[last + 1] == distances[first] &&
           longer[last + 1] == longer[first])
      ++last;
    classes[first == last ? concat(first) : concat(first, "..", last)] =
        toJson(distances[first], longer[first]);
  }
  Json json = {{"name", model.name},
               {"distances", std::move(classes)},
               {"copy", toJson(model.copy.shortest, model.copy.longer)},
               {"combine", toJson(model.combine.shortest, model.combine.longer)}};
  if (model.node != NodeCosts())
    json["node"] = toJson(model.node);
  for (const auto &[name, factors] : model.implementations)
    for (auto [bytes, factor] : factors)
      json["implementations"][name].push_back({bytes, factor});
  return json;
}

Result<MachineModel> MachineModel::parse(std::string_view json) {
  Result<Json> root = parseJson(json, kModel, kMaxModelBytes);
  if (!root)
    return root.status();
  return readModel(*root, {kModel, ""});
}

std::string MachineModel::toJson(std::string_view description) const {
  Json json = jsonOf(*this);
  if (!description.empty())
    json["description"] = description;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace colldsl
