#include "topology/Spec.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "ir/OptionList.h"
#include "topology/JobHosts.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace colldsl {

namespace {

/// A level of a synthetic machine. Levels come in ascending order; package and numa, which have one
/// order, may contain each other.
struct LevelName {
  std::string_view name;
  unsigned order;
  uint32_t Place::*id; ///< the id that it gives a hardware thread; null: of a level above the node
};

constexpr unsigned kNodeOrder = 2; ///< levels above the node have lower ones
constexpr LevelName kSpecLevels[] = {
    {"group", 0, nullptr},       {"switch", 1, nullptr},         {"node", 2, &Place::node},
    {"board", 3, &Place::board}, {"package", 4, &Place::socket}, {"socket", 4, &Place::socket},
    {"numa", 4, &Place::numa},   {"l3", 5, &Place::cache},       {"l2", 6, &Place::cache},
    {"core", 7, &Place::core},   {"pu", 8, &Place::pu},
};
constexpr const char *kForms =
    "flat, local, FILE.xml, levels like 'node:4 package:2 core:8', or nodes=FILE hosts=LIST";

struct CountedLevel {
  const LevelName *level;
  uint32_t count;
};

std::string inQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

Status error(std::string message, std::string hint = {}) {
  return Diagnostic::error({}, "topology: " + message, std::move(hint));
}

Status tooManyThreads() {
  return error("more than " + std::to_string(kMaxPus) + " hardware threads");
}

/// A core each.
std::vector<Place> coresOfNode(uint32_t count) {
  std::vector<Place> threads(count);
  for (uint32_t i = 0; i < count; ++i)
    threads[i] = {0, 0, 0, 0, i, i, i, 0};
  return threads;
}

/// The threads of one node.
/// Example: "package:2 core:3 pu:2" has 12 threads, 6 to a package and 2 to a core, so
/// thread 7 has package 1, core 3.
std::vector<Place> threadsOfNode(std::span<const CountedLevel> levels) {
  uint32_t node = 1;
  for (const CountedLevel &level : levels)
    node *= level.level->order > kNodeOrder ? level.count : 1;
  // Per field: how many threads an object of that level holds; 0: the level is not given.
  Place threadsPer = {0, 0, 0, 0, 0, 0, 0};
  uint32_t below = node;
  for (const CountedLevel &level : levels) {
    if (level.level->order <= kNodeOrder)
      continue;
    below /= level.count;
    uint32_t &per = threadsPer.*level.level->id;
    if (per == 0) // l3, if there is one, is outside l2
      per = below;
  }
  auto orElse = [](uint32_t given, uint32_t otherwise) { return given ? given : otherwise; };
  bool hasPu = !levels.empty() && levels.back().level->id == &Place::pu;
  uint32_t board = orElse(threadsPer.board, node);
  uint32_t socket = orElse(threadsPer.socket, board);
  uint32_t numa = orElse(threadsPer.numa, socket);
  uint32_t core = orElse(threadsPer.core, hasPu ? levels.back().count : 1);
  uint32_t cache = orElse(threadsPer.cache, core);
  std::vector<Place> threads(node);
  for (uint32_t i = 0; i < node; ++i)
    threads[i] = {0, i / board, i / socket, i / numa, i / cache, i / core, i, i / numa};
  return threads;
}

/// The nodes and the levels above them, with these threads on each node.
Machine makeSynthetic(std::span<const CountedLevel> levels, std::vector<Place> threads) {
  uint32_t nodes = 1;
  for (const CountedLevel &level : levels)
    nodes *= level.level->order <= kNodeOrder ? level.count : 1;
  std::vector<OuterLevel> outer;
  uint32_t below = nodes;
  for (const CountedLevel &level : levels) {
    if (level.level->order >= kNodeOrder)
      continue;
    below /= level.count;
    OuterLevel &made = outer.emplace_back();
    made.name = level.level->name;
    for (uint32_t node = 0; node < nodes; ++node)
      made.groupOfNode.push_back(node / below);
  }
  return Machine(nodes, std::move(threads), std::move(outer));
}

/// Makes the machine of a job's nodes, and the binding if nodes are listed several times. `nodes`:
/// of each entry of the list, from 0 in the order of first entries; `rows`: of each of these nodes,
/// its number in the table, if there is one.
Status makeNamed(Spec &spec, std::vector<uint32_t> nodes, std::span<const uint32_t> rows) {
  std::vector<uint32_t> ranksOn(rows.size());
  for (uint32_t node : nodes)
    ++ranksOn[node];
  uint32_t most = *std::ranges::max_element(ranksOn);
  std::vector<OuterLevel> outer;
  if (spec.nodes)
    for (const OuterLevel &level : spec.nodes->levels()) {
      OuterLevel &made = outer.emplace_back(OuterLevel{level.name, {}, level.groups});
      for (uint32_t row : rows)
        made.groupOfNode.push_back(level.groupOfNode[row]);
    }
  std::vector<Place> threads = spec.threads.empty() ? coresOfNode(most) : spec.threads;
  if (threads.size() * rows.size() > kMaxPus)
    return tooManyThreads();
  spec.machine = Machine(static_cast<uint32_t>(rows.size()), std::move(threads), std::move(outer));
  if (most == 1)
    return {};
  if (spec.binding.order != RankBinding::Order::Core)
    return error("hosts that are listed several times bind the ranks; 'bind=' binds them, too");
  spec.binding.order = RankBinding::Order::Nodes;
  spec.binding.nodes = std::move(nodes);
  return {};
}

class SpecParser {
public:
  Result<Spec> parse(std::string_view text);

private:
  Status word(std::string_view word);
  Status machineName(std::string_view name);
  Status level(std::string_view name, std::string_view count);
  Status binding(std::string_view value);
  Status coreRange(std::string_view range);
  Result<bool> named(std::string_view word);
  Status makeMachine();
  Status makeNamedNodes();

  Spec spec_;
  std::vector<CountedLevel> levels_;
  uint64_t numThreads_ = 1; ///< of the levels so far
  std::string machineName_; ///< flat, local or a file; empty: the levels describe it
  std::string nodesFile_, prefix_, outerLevels_, hosts_; ///< of named nodes
};

Result<Spec> SpecParser::parse(std::string_view text) {
  for (size_t begin = 0; (begin = text.find_first_not_of(' ', begin)) != text.npos;) {
    size_t end = std::min(text.find(' ', begin), text.size());
    if (Status status = word(text.substr(begin, end - begin)); !status)
      return status;
    begin = end;
  }
  if (Status status = makeMachine(); !status)
    return status;
  return std::move(spec_);
}

Status SpecParser::word(std::string_view word) {
  if (word.starts_with("bind="))
    return binding(word.substr(5));
  if (Result<bool> isNamed = named(word); !isNamed || *isNamed)
    return isNamed.status();
  if (word == "flat" || word == "local" || word.ends_with(".xml"))
    return machineName(word);
  if (size_t colon = word.find(':'); colon != word.npos)
    return level(word.substr(0, colon), word.substr(colon + 1));
  if (word != "oversubscribe")
    return error("cannot make sense of " + inQuotes(word), kForms);
  spec_.binding.oversubscribe = true;
  return {};
}

/// Takes a word about named nodes. False: it is none.
Result<bool> SpecParser::named(std::string_view word) {
  const std::pair<std::string_view, std::string *> words[] = {{"nodes=", &nodesFile_},
                                                              {"prefix=", &prefix_},
                                                              {"levels=", &outerLevels_},
                                                              {"hosts=", &hosts_}};
  for (const auto &[name, value] : words) {
    if (!word.starts_with(name))
      continue;
    if (!value->empty())
      return error(inQuotes(name) + " is given twice");
    *value = word.substr(name.size());
    if (value->empty())
      return error(inQuotes(name) + " has no value");
    return true;
  }
  return false;
}

Status SpecParser::machineName(std::string_view name) {
  if (!machineName_.empty())
    return error("both " + inQuotes(machineName_) + " and " + inQuotes(name) + " name a machine");
  machineName_ = name;
  return {};
}

Status SpecParser::level(std::string_view name, std::string_view count) {
  const LevelName *known = std::ranges::find(kSpecLevels, name, &LevelName::name);
  if (known == std::end(kSpecLevels))
    return error("no level is called " + inQuotes(name),
                 "the levels are group, switch, node, board, package, numa, l3, l2, core, pu");
  for (const CountedLevel &earlier : levels_) {
    if (earlier.level->id == known->id && earlier.level->order == known->order)
      return error("level " + inQuotes(name) + " is given twice");
    if (earlier.level->order > known->order)
      return error("level " + inQuotes(name) + " contains level " + inQuotes(earlier.level->name) +
                   " and must come before it");
  }
  std::optional<uint64_t> number = parseWhole<uint64_t>(count);
  if (!number || *number == 0)
    return error("level " + inQuotes(name) + " needs a count of at least 1, not " +
                 inQuotes(count));
  if (*number > kMaxPus || numThreads_ * *number > kMaxPus)
    return tooManyThreads();
  numThreads_ *= *number;
  levels_.push_back({known, static_cast<uint32_t>(*number)});
  return {};
}

Status SpecParser::binding(std::string_view value) {
  if (value == "core" || value == "scatter") {
    spec_.binding.order = value == "core" ? RankBinding::Order::Core : RankBinding::Order::Scatter;
    return {};
  }
  spec_.binding.order = RankBinding::Order::List;
  for (std::string_view range : splitList(value, ','))
    if (Status status = coreRange(range); !status)
      return status;
  return {};
}

/// An entry of a list of cores: `6` or `8-11`.
Status SpecParser::coreRange(std::string_view range) {
  size_t dash = range.find('-');
  std::optional<uint64_t> first = parseWhole<uint64_t>(range.substr(0, dash));
  std::optional<uint64_t> last =
      dash == range.npos ? first : parseWhole<uint64_t>(range.substr(dash + 1));
  if (!first || !last || *first > *last)
    return error("cannot make sense of " + inQuotes(range) + " in a binding",
                 "bind=core, bind=scatter, or a list of cores like bind=0,6,8-11");
  std::vector<uint32_t> &cores = spec_.binding.cores;
  if (*last >= kMaxPus || cores.size() + (*last - *first) >= kMaxPus)
    return error("a binding takes fewer than " + std::to_string(kMaxPus) + " cores");
  for (uint64_t core = *first; core <= *last; ++core)
    cores.push_back(static_cast<uint32_t>(core));
  return {};
}

Status SpecParser::makeMachine() {
  auto isInside = [](const CountedLevel &level) { return level.level->order > kNodeOrder; };
  bool isNamed = !nodesFile_.empty() || !hosts_.empty();
  if (!isNamed && (!prefix_.empty() || !outerLevels_.empty()))
    return error("'prefix=' and 'levels=' go with 'nodes=FILE'");
  if (machineName_.empty() && !isNamed) {
    if (levels_.empty())
      return error("no machine is described", kForms);
    spec_.machine = makeSynthetic(levels_, threadsOfNode(levels_));
    return {};
  }
  if (!machineName_.empty() && std::ranges::any_of(levels_, isInside))
    return error("only levels 'group', 'switch' and 'node' go with " + inQuotes(machineName_));
  spec_.flat = machineName_ == "flat";
  if (spec_.flat)
    return isNamed || !levels_.empty() || spec_.binding.order != RankBinding::Order::Core
               ? error("'flat' has neither nodes nor cores to bind to")
               : Status();
  if (!machineName_.empty()) {
    bool local = machineName_ == "local";
    Result<std::vector<Place>> threads = discoverNode(local ? std::string() : machineName_);
    if (!threads)
      return threads.status();
    if (threads->size() * numThreads_ > kMaxPus)
      return tooManyThreads();
    spec_.threads = threads.take();
    spec_.binding.oversubscribe |= local;
  }
  if (isNamed)
    return makeNamedNodes();
  spec_.machine = makeSynthetic(levels_, std::move(spec_.threads));
  return {};
}

Status SpecParser::makeNamedNodes() {
  for (const CountedLevel &level : levels_)
    if (level.level->order <= kNodeOrder)
      return error("level " + inQuotes(level.level->name) + " does not go with named nodes");
  if (!levels_.empty())
    spec_.threads = threadsOfNode(levels_);
  if (!nodesFile_.empty()) {
    NodeOptions options{prefix_, {}};
    if (!outerLevels_.empty())
      for (std::string_view level : splitList(outerLevels_, ','))
        options.levels.emplace_back(level);
    Result<NodeTable> table = NodeTable::read(nodesFile_, options);
    if (!table)
      return table.status();
    spec_.nodes = std::make_shared<NodeTable>(table.take());
  }
  if (!hosts_.empty()) {
    Result<Spec> with = withHosts(spec_, hosts_);
    if (!with)
      return with.status();
    spec_ = with.take();
    return {};
  }
  std::vector<uint32_t> all(spec_.nodes->names().size());
  std::iota(all.begin(), all.end(), 0);
  return makeNamed(spec_, all, all);
}

} // namespace

Result<Spec> parseSpec(std::string_view description) { return SpecParser().parse(description); }

Result<Spec> withHosts(const Spec &spec, std::string_view given) {
  Result<std::vector<JobHost>> hosts = readHosts(given);
  if (!hosts)
    return hosts.status();
  std::unordered_map<std::string_view, uint32_t> numbers;
  std::vector<uint32_t> nodes, rows;
  for (const JobHost &host : *hosts) {
    auto [number, isNew] = numbers.try_emplace(host.name, static_cast<uint32_t>(rows.size()));
    nodes.push_back(number->second);
    if (!isNew)
      continue;
    std::optional<uint32_t> row = spec.nodes ? spec.nodes->find(host.name) : number->second;
    if (!row)
      return error(
          concat(host.place, ": there is no node '", host.name, "' in '", spec.nodes->path(), "'"));
    rows.push_back(*row);
  }
  Spec with;
  with.binding = spec.binding;
  with.nodes = spec.nodes;
  with.threads = spec.threads;
  if (Status s = makeNamed(with, std::move(nodes), rows); !s)
    return s;
  return with;
}

Result<Topology> placeRanks(const Spec &spec, uint32_t numRanks) {
  constexpr uint32_t maxRanks = 1u << 24;
  if (numRanks > maxRanks)
    return Status::error(std::to_string(numRanks) + " ranks; a topology holds at most " +
                         std::to_string(maxRanks));
  if (numRanks == 0)
    return Status::error("a topology needs at least one rank");
  if (spec.flat)
    return Topology::flat(numRanks);
  Result<std::vector<Place>> places = bindRanks(spec.machine, spec.binding, numRanks);
  if (!places)
    return places.status();
  return Topology::fromPlaces(places.take(), spec.machine.outerLevels());
}

std::optional<uint64_t> ranksThatFit(const Spec &spec) {
  return spec.flat ? std::nullopt : std::optional<uint64_t>(room(spec.machine, spec.binding));
}

Result<std::optional<uint64_t>> ranksThatFit(std::string_view description) {
  Result<Spec> spec = parseSpec(description);
  if (!spec)
    return spec.status();
  return ranksThatFit(*spec);
}

} // namespace colldsl
