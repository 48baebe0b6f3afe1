// The words of networks.
#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "ir/OptionList.h"
#include "simulator/Network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace colldsl::sim {
namespace {

using Kind = NetworkOptions::Kind;

constexpr uint64_t kMaxNodes = uint64_t{1} << 24;
constexpr uint64_t kMaxLinks = uint64_t{1} << 28; ///< 2 GiB of state
constexpr uint64_t kUsualHopNs = 100;

struct KindWords {
  std::string_view name;
  std::string_view settings; ///< for people
};
constexpr std::array<KindWords, 4> kKinds = {{
    {"", ""},
    {"torus", "hop=NS and G=NS"},
    {"fattree", "hop=NS, G=NS, taper=N and adaptive"},
    {"dragonfly", "hop=NS, G=NS, taper=N, global=N and adaptive"},
}};

Status parseDims(std::string_view text, NetworkOptions &into) {
  while (!text.empty()) {
    std::string_view word = takePiece(text, 'x');
    uint32_t dim = parseWhole<uint32_t>(word).value_or(0);
    if (dim == 0)
      return Status::error(concat("network: '", word, "' is no size; sizes are like 8x8x4"));
    into.dims.push_back(dim);
    if (into.numNodes() > kMaxNodes)
      return Status::error(concat("network: it has more nodes than the limit of ", kMaxNodes));
  }
  if (into.dims.empty())
    return Status::error("network: it has no sizes, as in torus:8x8");
  if (into.kind == Kind::Dragonfly && into.dims.size() != 3)
    return Status::error(concat("network: a dragonfly has 3 sizes, nodes per switch, switches per "
                                "group and groups, as in dragonfly:4x8x16, not ",
                                into.dims.size()));
  return {};
}

constexpr unsigned bitOf(Kind kind) { return 1u << static_cast<unsigned>(kind); }
constexpr unsigned kBranched = bitOf(Kind::FatTree) | bitOf(Kind::Dragonfly);
constexpr unsigned kAnyKind = kBranched | bitOf(Kind::Torus);

struct Setting {
  std::string_view name;
  unsigned kinds; ///< of networks that have it
  double least, most;
  bool isWhole;
};
constexpr Setting kHop = {"hop", kAnyKind, 0, 0x1p40, true};
constexpr Setting kG = {"G", kAnyKind, 0, static_cast<double>(PerByte::kMaxNs), false};
constexpr Setting kTaper = {"taper", kBranched, 1, 1024, true};
constexpr Setting kGlobal = {"global", bitOf(Kind::Dragonfly), 1, 1024, true};
constexpr Setting kAdaptive = {"adaptive", kBranched, 0, 0, true}; ///< without a value

/// Null: the network has no setting of this name.
const Setting *settingOf(std::string_view name, Kind kind) {
  for (const Setting *setting : {&kHop, &kG, &kTaper, &kGlobal, &kAdaptive})
    if (setting->name == name && (setting->kinds & bitOf(kind)))
      return setting;
  return nullptr;
}

Result<double> parseValue(const Setting &setting, std::string_view value) {
  std::string digits(value);
  char *end = nullptr;
  double number = std::strtod(digits.c_str(), &end);
  bool isNumber = !digits.empty() && *end == 0 && std::isfinite(number);
  if (!isNumber || number < setting.least || number > setting.most ||
      (setting.isWhole && number != std::floor(number)))
    return Status::error(concat("network: ", setting.name, " is '", value, "', not a ",
                                setting.isWhole ? "whole " : "", "number from ",
                                static_cast<uint64_t>(setting.least), " to ",
                                static_cast<uint64_t>(setting.most)));
  return number;
}

Status parseSetting(const OptionEntry &given, NetworkOptions &into) {
  const Setting *setting = settingOf(given.name, into.kind);
  if (!setting)
    return Status::error(concat("network: '", given.text, "' is no setting of it; there are ",
                                kKinds[static_cast<size_t>(into.kind)].settings));
  if (given.isRepeated)
    return Status::error(
        concat("network: ", given.name, " is given twice, again as '", given.value, "'"));
  if (setting == &kAdaptive) {
    into.isAdaptive = true;
    return given.hasValue ? Status::error(concat("network: adaptive takes no value, such as '",
                                                 given.value, "'"))
                          : Status();
  }
  Result<double> number = parseValue(*setting, given.value);
  if (!number)
    return number.status();
  if (setting == &kHop)
    into.hopNs = static_cast<uint64_t>(*number);
  else if (setting == &kG)
    into.G = PerByte::fromNs(*number);
  else if (setting == &kTaper)
    into.taper = static_cast<uint32_t>(*number);
  else
    into.globalLinks = static_cast<uint32_t>(*number);
  return {};
}

Status checkSize(const NetworkOptions &options) {
  if (options.numLinks() > kMaxLinks)
    return Status::error(concat("network: it has more links than the limit of ", kMaxLinks));
  if (options.kind == Kind::Dragonfly &&
      options.G.ns() * options.taper > static_cast<double>(PerByte::kMaxNs))
    return Status::error(concat("network: G on a global link, ", options.taper,
                                " times that of others, is more than ", PerByte::kMaxNs));
  return {};
}

} // namespace

std::string_view kindName(Kind kind) { return kKinds[static_cast<size_t>(kind)].name; }

uint64_t NetworkOptions::numNodes() const {
  uint64_t nodes = kind == Kind::None ? 0 : 1;
  for (uint32_t dim : dims)
    nodes = std::min(nodes * dim, kMaxNodes + 1); // dim < 2^32: no overflow
  return nodes;
}

uint64_t NetworkOptions::numLinks() const {
  switch (kind) {
  case Kind::None:
    return 0;
  case Kind::Torus:
  case Kind::FatTree: // the most that it may have
    return numNodes() * dims.size() * 2;
  case Kind::Dragonfly:
    break;
  }
  uint64_t switches = uint64_t{dims[1]} * dims[2], groups = dims[2];
  return 2 * numNodes() + switches * (dims[1] - 1) + groups * (groups - 1) * globalLinks;
}

PerByte NetworkOptions::slowestG() const {
  return kind == Kind::Dragonfly ? PerByte::fromNs(G.ns() * taper) : G;
}

Result<NetworkOptions> parseNetwork(std::string_view text, PerByte usualG, NetworkSizes sizes) {
  NetworkOptions options;
  options.hopNs = kUsualHopNs;
  options.G = usualG;
  std::string_view whole = text, shape = takePiece(text, ',');
  std::string_view kind = takePiece(shape, ':');
  auto known = std::find_if(kKinds.begin() + 1, kKinds.end(),
                            [&](const KindWords &words) { return words.name == kind; });
  if (known == kKinds.end())
    return Status::error(
        concat("network: '", whole, "' is none of torus:SIZES, fattree:SIZES and dragonfly:SIZES"));
  options.kind = static_cast<Kind>(known - kKinds.begin());
  bool hasSizes = !shape.empty() || sizes == NetworkSizes::Given || options.kind != Kind::Torus;
  if (Status s = hasSizes ? parseDims(shape, options) : Status(); !s)
    return s;
  for (const OptionEntry &setting : parseOptions(text, ','))
    if (Status s = parseSetting(setting, options); !s)
      return s;
  if (Status s = checkSize(options); !s)
    return s;
  return options;
}

} // namespace colldsl::sim
