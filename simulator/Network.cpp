#include "simulator/Network.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "ir/OptionList.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <tuple>

namespace colldsl::sim {
namespace {

constexpr uint64_t kMaxNodes = uint64_t{1} << 24;
constexpr uint64_t kMaxLinks = uint64_t{1} << 28; ///< 2 GiB of state
constexpr uint64_t kUsualHopNs = 100;

Status parseDims(std::string_view text, NetworkOptions &into) {
  while (!text.empty()) {
    std::string_view word = takePiece(text, 'x');
    uint32_t dim = parseWhole<uint32_t>(word).value_or(0);
    if (dim == 0)
      return Status::error(concat("network: '", word, "' is no size; sizes are like 8x8x4"));
    into.dims.push_back(dim);
    if (into.numNodes() > kMaxNodes)
      return Status::error(concat("network: it has more nodes than the limit of ", kMaxNodes));
    if (into.numNodes() * into.dims.size() * 2 > kMaxLinks)
      return Status::error(concat("network: it has more links than the limit of ", kMaxLinks));
  }
  return into.dims.empty() ? Status::error("network: it has no sizes, as in torus:8x8") : Status();
}

struct Setting {
  std::string_view name;
  double least, most;
  bool isWhole;
};
constexpr Setting kHop = {"hop", 0, 0x1p40, true};
constexpr Setting kG = {"G", 0, static_cast<double>(PerByte::kMaxNs), false};
constexpr Setting kTaper = {"taper", 1, 1024, true};

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
  std::string_view name = given.name;
  bool isTree = into.kind == NetworkOptions::Kind::FatTree;
  const Setting *setting = name == "hop"               ? &kHop
                           : name == "G"               ? &kG
                           : name == "taper" && isTree ? &kTaper
                                                       : nullptr;
  if (!setting)
    return Status::error(concat("network: '", given.text, "' is no setting of it; there are hop=NS",
                                isTree ? ", G=NS and taper=N" : " and G=NS"));
  if (given.isRepeated)
    return Status::error(
        concat("network: ", name, " is given twice, again as '", given.value, "'"));
  Result<double> number = parseValue(*setting, given.value);
  if (!number)
    return number.status();
  if (setting == &kHop)
    into.hopNs = static_cast<uint64_t>(*number);
  else if (setting == &kG)
    into.G = PerByte::fromNs(*number);
  else
    into.taper = static_cast<uint32_t>(*number);
  return {};
}

} // namespace

uint64_t NetworkOptions::numNodes() const {
  uint64_t nodes = kind == Kind::None ? 0 : 1;
  for (uint32_t dim : dims)
    nodes = std::min(nodes * dim, kMaxNodes + 1); // dim < 2^32: no overflow
  return nodes;
}

Result<NetworkOptions> parseNetwork(std::string_view text, PerByte usualG) {
  NetworkOptions options;
  options.hopNs = kUsualHopNs;
  options.G = usualG;
  std::string_view whole = text, shape = takePiece(text, ',');
  std::string_view kind = takePiece(shape, ':');
  if (kind == "torus")
    options.kind = NetworkOptions::Kind::Torus;
  else if (kind == "fattree")
    options.kind = NetworkOptions::Kind::FatTree;
  else
    return Status::error(concat("network: '", whole, "' is neither torus:SIZES nor fattree:SIZES"));
  if (Status s = parseDims(shape, options); !s)
    return s;
  for (const OptionEntry &setting : parseOptions(text, ','))
    if (Status s = parseSetting(setting, options); !s)
      return s;
  return options;
}

Network::Network(const NetworkOptions &options, bool isRecorded) : options_(options) {
  uint64_t nodes = options.numNodes(), below = 1;
  if (options.kind == NetworkOptions::Kind::Torus) {
    for (uint32_t dim : options.dims) {
      stride_.push_back(below);
      below *= dim;
    }
    freeAt_.resize(nodes * 2 * options.dims.size());
    loads_.resize(isRecorded ? freeAt_.size() : 0);
    return;
  }
  // Level l of a fat tree: nodes / stride_[l] subtrees with ways_[l] links up and as many down.
  uint64_t positions = 0, links = 0, thinner = 1;
  for (size_t level = 0; level <= options.dims.size(); ++level) {
    stride_.push_back(below);
    ways_.push_back(std::max<uint64_t>(1, below / thinner));
    positionBegin_.push_back(positions);
    linkBegin_.push_back(links);
    positions += nodes / below;
    links += nodes / below * ways_.back();
    if (level < options.dims.size())
      below *= options.dims[level];
    thinner *= options.taper;
    thinner = std::min<uint64_t>(thinner, kMaxNodes);
  }
  freeAt_.resize(2 * links);
  loads_.resize(isRecorded ? freeAt_.size() : 0);
}

Network::Link Network::torusLink(uint32_t at, uint32_t to) const {
  for (size_t d = 0; d < options_.dims.size(); ++d) {
    uint64_t size = options_.dims[d];
    uint64_t from = at / stride_[d] % size, want = to / stride_[d] % size;
    if (from == want)
      continue;
    bool isUp = (want + size - from) % size <= size / 2;
    uint64_t next = isUp ? (from + 1) % size : (from + size - 1) % size;
    return {static_cast<uint32_t>(at - from * stride_[d] + next * stride_[d]),
            (uint64_t{at} * options_.dims.size() + d) * 2 + isUp};
  }
  return {at, 0};
}

/// The next link leads up until the destination lies below, then down. Among parallel links it is
/// the destination's number modulo theirs, up and down: one path per destination.
Network::Link Network::treeLink(uint32_t at, uint32_t to) const {
  size_t level = 0;
  while (level + 1 < positionBegin_.size() && at >= positionBegin_[level + 1])
    ++level;
  uint64_t subtree = at - positionBegin_[level];
  bool isUp = to / stride_[level] != subtree;
  size_t lower = isUp ? level : level - 1; // of the link's ends
  uint64_t child = isUp ? subtree : to / stride_[lower];
  uint64_t link = linkBegin_[lower] + child * ways_[lower] + to % ways_[lower];
  uint64_t next = isUp ? positionBegin_[level + 1] + subtree / options_.dims[level]
                       : positionBegin_[lower] + child;
  return {static_cast<uint32_t>(next), 2 * link + isUp};
}

Network::Step Network::forward(uint32_t at, uint32_t to, uint64_t now, uint64_t bytes) {
  Link link = options_.kind == NetworkOptions::Kind::Torus ? torusLink(at, to) : treeLink(at, to);
  uint64_t begin = std::max(now, freeAt_[link.index]);
  uint64_t takes = options_.G.times(bytes);
  freeAt_[link.index] = begin + takes;
  if (!loads_.empty()) {
    LinkLoad &load = loads_[link.index];
    load = {at, link.next, load.messages + 1, load.bytes + bytes, load.busyNs + takes};
  }
  return {link.next, begin + options_.hopNs};
}

std::vector<LinkLoad> Network::loads() const {
  std::vector<LinkLoad> used;
  std::copy_if(loads_.begin(), loads_.end(), std::back_inserter(used),
               [](const LinkLoad &load) { return load.messages > 0; });
  std::sort(used.begin(), used.end(), [](const LinkLoad &a, const LinkLoad &b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return used;
}

} // namespace colldsl::sim
