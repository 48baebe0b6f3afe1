#include "topology/Spec.h"

#include "ir/Numbers.h"
#include "ir/OptionList.h"

#include <algorithm>

namespace colldsl {

namespace {

/// A level of a synthetic machine. Levels come in ascending order; package and numa, which have one
/// order, may contain each other.
struct LevelName {
  std::string_view name;
  unsigned order;
  uint32_t Place::*id; ///< the id that it gives a hardware thread
};

constexpr LevelName kSpecLevels[] = {
    {"switch", 0, &Place::leafSwitch}, {"node", 1, &Place::node},
    {"board", 2, &Place::board},       {"package", 3, &Place::socket},
    {"socket", 3, &Place::socket},     {"numa", 3, &Place::numa},
    {"l3", 4, &Place::cache},          {"l2", 5, &Place::cache},
    {"core", 6, &Place::core},         {"pu", 7, &Place::pu},
};
constexpr const char *kForms = "flat, local, FILE.xml, or levels like 'node:4 package:2 core:8'";

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

/// The threads of one node, and the number of nodes.
/// Example: "package:2 core:3 pu:2" has 12 threads, 6 to a package and 2 to a core, so
/// thread 7 has package 1, core 3.
Machine makeSynthetic(std::span<const CountedLevel> levels, uint32_t numThreads) {
  // Per field: how many threads an object of that level holds; 0: the level is not given.
  Place threadsPer = {0, 0, 0, 0, 0, 0, 0};
  uint32_t below = numThreads;
  for (const CountedLevel &level : levels) {
    below /= level.count;
    uint32_t &per = threadsPer.*level.level->id;
    if (per == 0) // l3, if there is one, is outside l2
      per = below;
  }
  auto orElse = [](uint32_t given, uint32_t otherwise) { return given ? given : otherwise; };
  bool hasPu = !levels.empty() && levels.back().level->id == &Place::pu;
  uint32_t leafSwitch = orElse(threadsPer.leafSwitch, numThreads);
  uint32_t node = orElse(threadsPer.node, leafSwitch);
  uint32_t board = orElse(threadsPer.board, node);
  uint32_t socket = orElse(threadsPer.socket, board);
  uint32_t numa = orElse(threadsPer.numa, socket);
  uint32_t core = orElse(threadsPer.core, hasPu ? levels.back().count : 1);
  uint32_t cache = orElse(threadsPer.cache, core);
  std::vector<Place> threads(node);
  for (uint32_t i = 0; i < node; ++i)
    threads[i] = {0, i / board, i / socket, i / numa, i / cache, i / core, i, i / numa};
  return Machine(numThreads / node, std::move(threads), leafSwitch / node);
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
  Status makeMachine();

  Spec spec_;
  std::vector<CountedLevel> levels_;
  uint64_t numThreads_ = 1; ///< of the levels so far
  std::string machineName_; ///< flat, local or a file; empty: the levels describe it
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
  if (word == "flat" || word == "local" || word.ends_with(".xml"))
    return machineName(word);
  if (size_t colon = word.find(':'); colon != word.npos)
    return level(word.substr(0, colon), word.substr(colon + 1));
  if (word != "oversubscribe")
    return error("cannot make sense of " + inQuotes(word), kForms);
  spec_.binding.oversubscribe = true;
  return {};
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
                 "the levels are switch, node, board, package, numa, l3, l2, core, pu");
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
  auto isOutside = [](const CountedLevel &level) {
    return level.level->id == &Place::leafSwitch || level.level->id == &Place::node;
  };
  bool hasNode = !levels_.empty() && isOutside(levels_.front());
  if (machineName_.empty()) {
    if (levels_.empty())
      return error("no machine is described", kForms);
    spec_.machine = makeSynthetic(levels_, static_cast<uint32_t>(numThreads_));
    return {};
  }
  if (!std::ranges::all_of(levels_, isOutside))
    return error("only levels 'switch' and 'node' go with " + inQuotes(machineName_));
  spec_.flat = machineName_ == "flat";
  if (spec_.flat)
    return hasNode || spec_.binding.order != RankBinding::Order::Core
               ? error("'flat' has neither nodes nor cores to bind to")
               : Status();
  bool local = machineName_ == "local";
  Result<std::vector<Place>> threads = discoverNode(local ? std::string() : machineName_);
  if (!threads)
    return threads.status();
  if (threads->size() * numThreads_ > kMaxPus)
    return tooManyThreads();
  bool hasSwitch = hasNode && levels_.front().level->id == &Place::leafSwitch;
  auto nodes = static_cast<uint32_t>(numThreads_);
  spec_.machine = Machine(nodes, threads.take(), hasSwitch ? nodes / levels_.front().count : nodes);
  spec_.binding.oversubscribe |= local;
  return {};
}

} // namespace

Result<Spec> parseSpec(std::string_view description) { return SpecParser().parse(description); }

Result<std::optional<uint64_t>> ranksThatFit(std::string_view description) {
  Result<Spec> spec = parseSpec(description);
  if (!spec)
    return spec.status();
  return spec->flat ? std::nullopt : std::optional<uint64_t>(room(spec->machine, spec->binding));
}

} // namespace colldsl
