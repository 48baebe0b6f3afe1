#include "topology/MachineProfile.h"

#include "ir/Checksum.h"
#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/MachineModelJson.h"

#include <algorithm>
#include <cstdio>

namespace colldsl {
namespace {

constexpr const char *kProfile = "profile";
constexpr const char *kFormat = "colldsl machine profile";
constexpr uint64_t kVersion = 2;
constexpr size_t kMaxProfileBytes = 16 << 20;
constexpr double kMaxNs = 1e15, kMaxMargin = 1e9;

std::string hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

void readHash(JsonReader &reader, const char *key, uint64_t &into) {
  std::string text = hex(into);
  reader.text(key, text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
    reader.fail(key, "is no number of 16 hexadecimal digits");
}

/// Reads a day, "2026-11-27", or nothing.
void readDay(JsonReader &reader, const char *key, std::string &into) {
  reader.text(key, into);
  bool isDay = into.size() == 10;
  for (size_t i = 0; isDay && i < into.size(); ++i)
    isDay = i == 4 || i == 7 ? into[i] == '-' : into[i] >= '0' && into[i] <= '9';
  if (!into.empty() && !isDay)
    reader.fail(key, "is no day, YEAR-MONTH-DAY");
}

void readNeeded(JsonReader &reader, const char *key, std::string &into) {
  reader.text(key, into);
  if (into.empty())
    reader.fail(key, "is missing");
}

void readCount(JsonReader &reader, const char *key, uint32_t &into) {
  reader.number(key, into, UINT32_MAX);
  if (into == 0)
    reader.fail(key, "is missing, or 0");
}

void readCollective(JsonReader &reader, const char *key, TunedCollective &into) {
  std::string words;
  readNeeded(reader, key, words);
  Result<TunedCollective> parsed = TunedCollective::parse(words);
  if (parsed)
    into = parsed.take();
  else
    reader.fail(key, "is '" + words + "': " + parsed.message());
}

/// Reads `[from, to]`, or `[from]` without an upper end.
void readRange(JsonReader &reader, const char *key, uint64_t &min, uint64_t &max) {
  const Json *list = reader.list(key, true);
  if (!list)
    return;
  bool areNumbers = !list->empty() && list->size() <= 2 &&
                    std::all_of(list->begin(), list->end(),
                                [](const Json &bound) { return bound.is_number_unsigned(); });
  if (!areNumbers)
    return reader.fail(key, "is neither [FROM, TO] nor [FROM]");
  min = (*list)[0].get<uint64_t>();
  max = list->size() == 2 ? (*list)[1].get<uint64_t>() : UINT64_MAX;
  if (min > max)
    reader.fail(key, "holds nothing");
}

Status readMachine(const Json *json, const JsonPlace &place, MachineFingerprint &machine) {
  if (!json)
    return {};
  JsonReader reader(*json, place);
  reader.text("processor", machine.processor);
  reader.number("cores", machine.cores, UINT32_MAX);
  readHash(reader, "topology", machine.topologyHash);
  return reader.finish();
}

Status readCosts(const Json *json, const JsonPlace &place, MachineProfile &profile) {
  if (!json)
    return {};
  JsonReader reader(*json, place);
  reader.number("singleCopyFrom", profile.singleCopyFrom, UINT64_MAX);
  double ns = 0;
  reader.real("singleCopy", ns, static_cast<double>(PerByte::kMaxNs));
  profile.singleCopy = PerByte::fromNs(ns);
  reader.number("wakeup", profile.wakeupNs, uint64_t{1} << 40);
  return reader.finish();
}

Status readModelOf(const Json *json, const JsonPlace &place, MachineModel &model) {
  if (!json)
    return {};
  Result<MachineModel> read = readModel(*json, place);
  if (!read)
    return read.status();
  model = read.take();
  return {};
}

Status readDecision(const Json &json, const JsonPlace &place, Decision &decision) {
  JsonReader reader(json, place);
  readNeeded(reader, "function", decision.function);
  readCount(reader, "ranks", decision.ranks);
  readCount(reader, "nodes", decision.nodes);
  readRange(reader, "bytes", decision.minBytes, decision.maxBytes);
  readCollective(reader, "use", decision.use);
  reader.flag("commutative", decision.needsCommutative);
  reader.real("margin", decision.margin, kMaxMargin);
  reader.real("noise", decision.noise, kMaxMargin);
  reader.flag("verified", decision.isVerified);
  reader.flag("learned", decision.isLearned);
  return reader.finish();
}

Status readEntries(const Json *list, const JsonPlace &place, TuningPoint &point) {
  for (size_t i = 0; list && i < list->size(); ++i) {
    TuningPoint::Entry &entry = point.entries.emplace_back();
    JsonReader reader((*list)[i], place.element(i));
    readCollective(reader, "use", entry.what);
    reader.real("ns", entry.ns, kMaxNs);
    if (Status s = reader.finish(); !s)
      return s;
  }
  return {};
}

Status readPoint(const Json &json, const JsonPlace &place, TuningPoint &point) {
  JsonReader reader(json, place);
  readNeeded(reader, "function", point.function);
  readCount(reader, "ranks", point.ranks);
  readCount(reader, "nodes", point.nodes);
  reader.number("bytes", point.bytes, UINT64_MAX);
  readCollective(reader, "shipped", point.shipped);
  reader.real("ns", point.shippedNs, kMaxNs);
  reader.real("margin", point.margin, kMaxMargin);
  reader.real("least", point.least, kMaxMargin);
  reader.real("spread", point.spread, kMaxMargin);
  reader.real("drift", point.drift, kMaxMargin);
  reader.flag("verified", point.isVerified);
  reader.flag("learned", point.isLearned);
  reader.absorb(readEntries(reader.list("others", true), reader.placeOf("others"), point));
  return reader.finish();
}

template <typename T, typename Read>
void readAll(JsonReader &reader, const char *key, std::vector<T> &into, Read read) {
  const Json *list = reader.list(key, true);
  for (size_t i = 0; list && i < list->size(); ++i)
    reader.absorb(read((*list)[i], reader.placeOf(key).element(i), into.emplace_back()));
}

// Comes first, because all else may be different in another version.
Status checkFormat(JsonReader &reader) {
  std::string format;
  uint64_t version = 0;
  reader.text("format", format);
  reader.number("version", version, UINT64_MAX);
  if (format != kFormat)
    reader.fail("format", concat("is not \"", kFormat, "\""));
  else if (version != kVersion)
    reader.fail("version", concat("is ", version, ", this colldsl reads ", kVersion));
  return reader.status();
}

Json jsonOf(const Decision &d) {
  Json bytes = Json::array({d.minBytes});
  if (d.maxBytes != UINT64_MAX)
    bytes.push_back(d.maxBytes);
  Json json = {{"function", d.function},
               {"ranks", d.ranks},
               {"nodes", d.nodes},
               {"bytes", bytes},
               {"use", d.use.words()}};
  if (d.needsCommutative)
    json["commutative"] = true;
  json["margin"] = d.margin;
  if (d.noise > 0)
    json["noise"] = d.noise;
  json["verified"] = d.isVerified;
  if (d.isLearned)
    json["learned"] = true;
  return json;
}

Json jsonOf(const TuningPoint &p) {
  Json others = Json::array();
  for (const TuningPoint::Entry &entry : p.entries)
    others.push_back({{"use", entry.what.words()}, {"ns", entry.ns}});
  Json json = {{"function", p.function},
               {"ranks", p.ranks},
               {"nodes", p.nodes},
               {"bytes", p.bytes},
               {"shipped", p.shipped.words()},
               {"ns", p.shippedNs},
               {"margin", p.margin},
               {"least", p.least},
               {"spread", p.spread},
               {"drift", p.drift},
               {"verified", p.isVerified},
               {"others", std::move(others)}};
  if (p.isLearned)
    json["learned"] = true;
  return json;
}

std::string dumped(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Writes one record per line, so that people can compare them.
template <typename T> std::string lines(const std::vector<T> &records) {
  std::string text = "[";
  for (const T &record : records)
    text += concat(text.size() > 1 ? "," : "", "\n    ", dumped(jsonOf(record), -1));
  return text + (records.empty() ? "]" : "\n  ]");
}

} // namespace

std::string MachineFingerprint::words() const {
  return concat(processor.empty() ? "unknown processor" : processor, ", ", cores,
                cores == 1 ? " core" : " cores", ", topology ", hex(topologyHash));
}

std::string TunedCollective::words() const {
  std::string text = name;
  for (const Value &v : values)
    text += concat(" ", v.parameter, "=", v.value);
  return text;
}

Result<TunedCollective> TunedCollective::parse(std::string_view words) {
  TunedCollective tuned;
  tuned.name = takeWord(words);
  if (tuned.name.empty() || tuned.name.find('=') != std::string::npos)
    return Status::error("it does not begin with the name of a collective");
  for (std::string_view word = takeWord(words); !word.empty(); word = takeWord(words)) {
    size_t equals = word.find('=');
    auto value = equals == 0 || equals == std::string_view::npos
                     ? std::nullopt
                     : parseWhole<int64_t>(word.substr(equals + 1));
    if (!value)
      return Status::error(concat("'", word, "' is not NAME=NUMBER"));
    tuned.values.push_back({std::string(word.substr(0, equals)), *value});
  }
  return tuned;
}

Result<MachineProfile> MachineProfile::parse(std::string_view json) {
  Result<Json> root = parseJson(json, kProfile, kMaxProfileBytes);
  if (!root)
    return root.status();
  MachineProfile profile;
  JsonReader reader(*root, {kProfile, ""});
  if (Status s = checkFormat(reader); !s)
    return s;
  reader.text("tool", profile.tool);
  readDay(reader, "measured", profile.measured);
  reader.real("noiseLimit", profile.noiseLimit, kMaxMargin);
  readHash(reader, "library", profile.libraryHash);
  auto read = [&](const char *key, auto readPart, auto &part) {
    reader.absorb(readPart(reader.member(key, true), reader.placeOf(key), part));
  };
  read("machine", readMachine, profile.machine);
  read("model", readModelOf, profile.model);
  read("costs", readCosts, profile);
  readAll(reader, "decisions", profile.decisions, readDecision);
  readAll(reader, "points", profile.points, readPoint);
  for (size_t i = 0; i < profile.decisions.size(); ++i)
    if (profile.decisions[i].noise > profile.noiseLimit)
      reader.fail(concat("decisions[", i, "].noise"),
                  concat("is ", profile.decisions[i].noise, ", more than noiseLimit, ",
                         profile.noiseLimit));
  if (Status s = reader.finish(); !s)
    return s;
  return profile;
}

std::string MachineProfile::toJson() const {
  Json head = {{"format", kFormat},
               {"version", kVersion},
               {"tool", tool},
               {"measured", measured},
               {"noiseLimit", noiseLimit},
               {"library", hex(libraryHash)},
               {"machine",
                {{"processor", machine.processor},
                 {"cores", machine.cores},
                 {"topology", hex(machine.topologyHash)}}},
               {"model", jsonOf(model)},
               {"costs",
                {{"singleCopyFrom", singleCopyFrom},
                 {"singleCopy", singleCopy.ns()},
                 {"wakeup", wakeupNs}}}};
  std::string text = dumped(head, 2);
  text.resize(text.size() - 2); // without "\n}"
  return concat(text, ",\n  \"decisions\": ", lines(decisions), ",\n  \"points\": ", lines(points),
                "\n}\n");
}

uint64_t MachineProfile::hash() const {
  std::string text = lines(decisions) + model.toJson();
  return xxh64(std::as_bytes(std::span(text)), 0);
}

} // namespace colldsl
