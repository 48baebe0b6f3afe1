#include "topology/NodeTable.h"

#include "ir/Concat.h"
#include "topology/HostList.h"
#include "topology/Machine.h"

#include <algorithm>
#include <cctype>

namespace colldsl {
namespace {

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// The number of groups that have nodes.
size_t numGroups(const OuterLevel &level) {
  std::vector<bool> isUsed(level.groups.size());
  for (uint32_t group : level.groupOfNode)
    isUsed[group] = true;
  return static_cast<size_t>(std::ranges::count(isUsed, true));
}

/// Reads lines of keys and values; all lines have the same keys.
class NodeLines {
public:
  NodeLines(FileWords &file, NodeNames &names, NodeList &into)
      : file_(file), names_(names), into_(into) {}

  Status add(const std::vector<FileWord> &words);

private:
  Status addLevels(const std::vector<FileWord> &words);
  Status findLevels(const std::vector<FileWord> &words);

  FileWords &file_;
  NodeNames &names_;
  NodeList &into_;
  std::vector<std::string> keys_;
  std::vector<std::unordered_map<std::string_view, uint32_t>> groups_; ///< of each level
  std::vector<size_t> valueOf_; ///< of each level: the word of the line that has its group
};

/// Takes the keys of the first line.
Status NodeLines::addLevels(const std::vector<FileWord> &words) {
  for (size_t i = 2; i < words.size(); i += 2) {
    std::string key = lowerCase(words[i].text);
    if (key == "node" || std::ranges::count(keys_, key) > 0)
      return file_.error(words[i], concat("'", words[i].text, "' is given twice"));
    keys_.push_back(key);
    into_.levels.push_back({std::move(key), {}, {}});
  }
  groups_.resize(keys_.size());
  return {};
}

Status NodeLines::findLevels(const std::vector<FileWord> &words) {
  valueOf_.assign(keys_.size(), 0);
  for (size_t i = 2; i < words.size(); i += 2) {
    size_t level = i / 2 - 1; // as on the first line, mostly
    std::string key = lowerCase(words[i].text);
    if (level >= keys_.size() || keys_[level] != key)
      level = static_cast<size_t>(std::ranges::find(keys_, key) - keys_.begin());
    if (level == keys_.size())
      return file_.error(words[i], concat("the first line has no '", words[i].text, "'"));
    if (valueOf_[level] > 0)
      return file_.error(words[i], concat("'", words[i].text, "' is given twice"));
    valueOf_[level] = i + 1;
  }
  auto missing = std::ranges::find(valueOf_, size_t{0});
  if (missing != valueOf_.end())
    return file_.error(
        words.front(),
        concat("the line has no '", keys_[static_cast<size_t>(missing - valueOf_.begin())], "'"));
  return {};
}

Status NodeLines::add(const std::vector<FileWord> &words) {
  if (lowerCase(words.front().text) != "node")
    return file_.error(words.front(),
                       concat("a line begins with 'node', not '", words.front().text, "'"));
  if (words.size() % 2 != 0)
    return file_.error(words.back(), concat("'", words.back().text, "' has no value behind it"));
  if (into_.names.empty())
    if (Status s = addLevels(words); !s)
      return s;
  if (Status s = findLevels(words); !s)
    return s;
  if (Status s = names_.add(file_, words[1], 0); !s)
    return s;
  for (size_t level = 0; level < keys_.size(); ++level) {
    std::string_view name = words[valueOf_[level]].text;
    OuterLevel &into = into_.levels[level];
    auto [group, isNew] =
        groups_[level].try_emplace(name, static_cast<uint32_t>(into.groups.size()));
    if (isNew)
      into.groups.emplace_back(name);
    into.groupOfNode.resize(into_.names.size(), group->second);
  }
  return {};
}

} // namespace

Status NodeNames::add(const FileWords &file, const FileWord &word, size_t begin) {
  HostList hosts(kMaxPus - nodes_.names.size());
  if (Status s = hosts.expand(word.text.substr(begin)); !s)
    return file.error(word, s.message(), begin + hosts.column() - 1);
  for (const std::string &host : hosts.names()) {
    std::string name = prefix_ + host;
    auto [known, isNew] = lines_.try_emplace(name, word.line);
    if (!isNew)
      return file.error(
          word, concat("node '", name, "' is given twice, first on line ", known->second), begin);
    nodes_.names.push_back(std::move(name));
  }
  return {};
}

Status readNodeLines(FileWords &file, std::vector<FileWord> words, NodeNames &names,
                     NodeList &into) {
  NodeLines lines(file, names, into);
  do {
    if (Status s = lines.add(words); !s)
      return s;
  } while (file.next(words));
  return {};
}

Result<NodeTable> NodeTable::read(const std::string &path, const NodeOptions &options) {
  Result<std::string> text = readText(path);
  if (!text)
    return text.status();
  FileWords file(*text, path);
  std::vector<FileWord> words;
  if (!file.next(words))
    return Status::error(concat("topology: '", path, "' has no nodes"));
  NodeTable table;
  table.path_ = path;
  NodeNames names(table.nodes_, options.prefix);
  bool isSlurm = words.front().text.find('=') != std::string_view::npos;
  Status s = isSlurm ? readSlurmTopology(file, std::move(words), names, table.nodes_)
                     : readNodeLines(file, std::move(words), names, table.nodes_);
  if (s)
    s = table.choose(options.levels);
  if (!s)
    return s;
  table.numbers_.reserve(table.nodes_.names.size());
  for (uint32_t i = 0; i < table.nodes_.names.size(); ++i)
    table.numbers_.emplace(table.nodes_.names[i], i);
  return table;
}

std::optional<uint32_t> NodeTable::find(std::string_view host) const {
  auto found = numbers_.find(host);
  if (found == numbers_.end())
    found = numbers_.find(host.substr(0, host.find('.')));
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

/// Keeps the levels that are asked for, or sorts all of them by the number of their groups.
Status NodeTable::choose(const std::vector<std::string> &wanted) {
  std::vector<OuterLevel> &levels = nodes_.levels;
  if (wanted.empty()) {
    std::ranges::stable_sort(levels, {}, numGroups);
  } else {
    std::vector<OuterLevel> chosen;
    for (const std::string &name : wanted) {
      auto level = std::ranges::find(levels, lowerCase(name), &OuterLevel::name);
      if (level == levels.end())
        return Status::error(concat("topology: '", path_, "' has no level '", name, "'"));
      chosen.push_back(*level);
    }
    levels = std::move(chosen);
  }
  for (size_t i = 1; i < levels.size(); ++i)
    if (Status s = checkNesting(levels[i - 1], levels[i]); !s)
      return s;
  return {};
}

/// An error if nodes of one inner group are of two outer ones.
Status NodeTable::checkNesting(const OuterLevel &outer, const OuterLevel &inner) const {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> firstOf(inner.groups.size(), kNone); // by inner group: its first node
  for (uint32_t node = 0; node < nodes_.names.size(); ++node) {
    uint32_t group = inner.groupOfNode[node];
    uint32_t &first = firstOf[group];
    if (first == kNone)
      first = node;
    if (outer.groupOfNode[first] == outer.groupOfNode[node])
      continue;
    auto name = [&](uint32_t of) { return outer.groups[outer.groupOfNode[of]]; };
    return Diagnostic::error(
        {},
        concat("topology: ", path_, ": ", nodes_.names[first], " and ", nodes_.names[node],
               " are both of ", inner.name, " ", inner.groups[group], ", but of ", outer.name, " ",
               name(first), " and ", name(node)),
        "say which levels count, from the outermost on, each within the one before: "
        "levels=cell,switch");
  }
  return {};
}

} // namespace colldsl
