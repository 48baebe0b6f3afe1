// Records of `scontrol show topology`, and of topology.conf, of the plugins tree and block.
#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/HostList.h"
#include "topology/Machine.h"
#include "topology/NodeTable.h"

#include <algorithm>
#include <map>

namespace colldsl {
namespace {

/// One field of a record: its word, and where its value begins in it.
struct Field {
  FileWord word;
  size_t begin = 0;

  std::string_view value() const { return word.text.substr(begin); }
  bool isEmpty() const { return value().empty() || value() == "(null)"; }
};

/// A switch, a block, or several blocks that are counted as one.
struct Element {
  Field name, nodes, below, level; ///< below: its switches; level: of a switch, or size of a block
  std::optional<uint32_t> parent;
  uint32_t height = 0;
};

enum class Kind : uint8_t { Switch, Block, Aggregate };

class SlurmReader {
public:
  SlurmReader(FileWords &file, NodeNames &names, NodeList &into)
      : file_(file), names_(names), into_(into) {}

  Status read(std::vector<FileWord> words);

private:
  Status addRecord(const std::vector<FileWord> &words);
  Status readSwitches();
  Status joinSwitches();
  Status findHeights();
  Status readBlocks();
  Status joinBlocks(const Element &aggregate, std::vector<uint32_t> &groupOfBlock,
                    uint32_t group) const;
  Status addNodes(std::span<const uint32_t> leaves);
  Status number(const Field &field, uint32_t &into) const;
  Status eachName(const Field &field, const std::map<std::string, uint32_t, std::less<>> &known,
                  std::string_view what, auto visit) const;
  void addLevel(std::string name, const std::vector<uint32_t> &groupOfLeaf,
                std::vector<std::string> groups);

  FileWords &file_;
  NodeNames &names_;
  NodeList &into_;
  std::vector<Element> elements_;                        ///< switches, or blocks
  std::vector<Element> aggregates_;                      ///< of blocks
  std::map<std::string, uint32_t, std::less<>> numbers_; ///< of elements_, by name
  std::vector<uint32_t> leafOfNode_;
  bool hasSwitches_ = false;
};

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Status SlurmReader::addRecord(const std::vector<FileWord> &words) {
  Element element;
  std::optional<Kind> kind;
  for (const FileWord &word : words) {
    size_t equals = word.text.find('=');
    if (equals == word.text.npos)
      return file_.error(word, concat("'", word.text, "' is no field with a value"));
    std::string_view key = word.text.substr(0, equals);
    Field field{word, equals + 1};
    auto isNamed = [&](std::string_view name) { return equalsIgnoringCase(key, name); };
    if (isNamed("SwitchName") || isNamed("BlockName") || isNamed("AggregatedBlock")) {
      kind = isNamed("SwitchName")  ? Kind::Switch
             : isNamed("BlockName") ? Kind::Block
                                    : Kind::Aggregate;
      element.name = field;
    } else if (isNamed("Nodes")) {
      element.nodes = field;
    } else if (isNamed("Switches")) {
      element.below = field;
    } else if (isNamed("Level") || isNamed("BlockSize")) {
      element.level = field;
    }
  }
  if (!kind)
    return file_.error(words.front(), "a record has SwitchName=, BlockName= or AggregatedBlock=");
  if (element.name.isEmpty())
    return file_.error(element.name.word, "the name is empty", element.name.begin);
  if (elements_.empty() && aggregates_.empty())
    hasSwitches_ = kind == Kind::Switch;
  if (hasSwitches_ != (kind == Kind::Switch))
    return file_.error(element.name.word, "switches and blocks in one file");
  if (kind == Kind::Aggregate) {
    aggregates_.push_back(element);
    return {};
  }
  auto [known, isNew] = numbers_.try_emplace(std::string(element.name.value()),
                                             static_cast<uint32_t>(elements_.size()));
  if (!isNew)
    return file_.error(element.name.word,
                       concat("'", element.name.value(), "' is given twice, first on line ",
                              elements_[known->second].name.word.line),
                       element.name.begin);
  elements_.push_back(element);
  return {};
}

Status SlurmReader::read(std::vector<FileWord> words) {
  do {
    if (Status s = addRecord(words); !s)
      return s;
  } while (file_.next(words));
  return hasSwitches_ ? readSwitches() : readBlocks();
}

Status SlurmReader::number(const Field &field, uint32_t &into) const {
  std::optional<uint32_t> given = parseWhole<uint32_t>(field.value());
  if (!given)
    return file_.error(field.word, concat("'", field.value(), "' is no number"), field.begin);
  into = *given;
  return {};
}

/// Visits the elements of a list of names.
Status SlurmReader::eachName(const Field &field,
                             const std::map<std::string, uint32_t, std::less<>> &known,
                             std::string_view what, auto visit) const {
  if (field.isEmpty())
    return {};
  HostList list(kMaxPus);
  if (Status s = list.expand(field.value()); !s)
    return file_.error(field.word, s.message(), field.begin + list.column() - 1);
  for (const std::string &name : list.names()) {
    auto found = known.find(name);
    if (found == known.end())
      return file_.error(field.word, concat("there is no ", what, " '", name, "'"), field.begin);
    if (Status s = visit(found->second); !s)
      return s;
  }
  return {};
}

/// Finds the switch above each switch.
Status SlurmReader::joinSwitches() {
  for (uint32_t i = 0; i < elements_.size(); ++i) {
    const Field &below = elements_[i].below;
    Status s = eachName(below, numbers_, "switch", [&](uint32_t child) -> Status {
      std::optional<uint32_t> &parent = elements_[child].parent;
      if (parent)
        return file_.error(below.word,
                           concat("switch '", elements_[child].name.value(),
                                  "' is below two, also below '", elements_[*parent].name.value(),
                                  "' on line ", elements_[*parent].name.word.line),
                           below.begin);
      parent = i;
      return {};
    });
    if (!s)
      return s;
  }
  return {};
}

/// Finds the level of each switch: as given, or one above the highest switch below it.
Status SlurmReader::findHeights() {
  for (uint32_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].below.isEmpty())
      continue;
    uint32_t height = 0;
    for (std::optional<uint32_t> up = i; up; up = elements_[*up].parent, ++height) {
      if (height > elements_.size())
        return file_.error(elements_[*up].name.word,
                           concat("switch '", elements_[*up].name.value(), "' is below itself"),
                           elements_[*up].name.begin);
      elements_[*up].height = std::max(elements_[*up].height, height);
    }
  }
  for (Element &element : elements_)
    if (!element.level.isEmpty())
      if (Status s = number(element.level, element.height); !s)
        return s;
  for (const Element &element : elements_)
    if (element.parent && elements_[*element.parent].height <= element.height)
      return file_.error(element.name.word,
                         concat("switch '", element.name.value(), "' of level ", element.height,
                                " is below '", elements_[*element.parent].name.value(),
                                "' of level ", elements_[*element.parent].height),
                         element.name.begin);
  return {};
}

Status SlurmReader::addNodes(std::span<const uint32_t> leaves) {
  for (uint32_t leaf : leaves) {
    const Field &nodes = elements_[leaf].nodes;
    if (nodes.isEmpty())
      continue;
    if (Status s = names_.add(file_, nodes.word, nodes.begin); !s)
      return s;
    leafOfNode_.resize(into_.names.size(), leaf);
  }
  return {};
}

void SlurmReader::addLevel(std::string name, const std::vector<uint32_t> &groupOfLeaf,
                           std::vector<std::string> groups) {
  OuterLevel level{std::move(name), {}, std::move(groups)};
  for (uint32_t leaf : leafOfNode_)
    level.groupOfNode.push_back(groupOfLeaf[leaf]);
  into_.levels.push_back(std::move(level));
}

// At each level a node is of the highest switch above it that is not above the level.
Status SlurmReader::readSwitches() {
  if (Status s = joinSwitches(); !s)
    return s;
  if (Status s = findHeights(); !s)
    return s;
  std::vector<uint32_t> leaves, heights;
  std::vector<std::string> groups;
  for (uint32_t i = 0; i < elements_.size(); ++i) {
    if (elements_[i].below.isEmpty())
      leaves.push_back(i);
    heights.push_back(elements_[i].height);
    groups.emplace_back(elements_[i].name.value());
  }
  if (Status s = addNodes(leaves); !s)
    return s;
  std::ranges::sort(heights, std::greater());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  for (uint32_t height : heights) {
    std::vector<uint32_t> groupOfLeaf(elements_.size());
    for (uint32_t leaf : leaves) {
      uint32_t at = leaf;
      while (elements_[at].parent && elements_[*elements_[at].parent].height <= height)
        at = *elements_[at].parent;
      groupOfLeaf[leaf] = at;
    }
    addLevel(height == heights.back() ? "switch" : concat("level", height), groupOfLeaf, groups);
  }
  return {};
}

Status SlurmReader::joinBlocks(const Element &aggregate, std::vector<uint32_t> &groupOfBlock,
                               uint32_t group) const {
  return eachName(aggregate.name, numbers_, "block", [&](uint32_t block) -> Status {
    if (groupOfBlock[block] >= elements_.size())
      return file_.error(aggregate.name.word,
                         concat("block '", elements_[block].name.value(),
                                "' is of two aggregated blocks of one size"),
                         aggregate.name.begin);
    groupOfBlock[block] = group;
    return {};
  });
}

// Blocks are one level; aggregated blocks of each size, in nodes, are a further one.
Status SlurmReader::readBlocks() {
  std::vector<uint32_t> own(elements_.size());
  std::vector<std::string> groups;
  for (uint32_t i = 0; i < elements_.size(); ++i) {
    own[i] = i;
    groups.emplace_back(elements_[i].name.value());
  }
  if (Status s = addNodes(own); !s)
    return s;
  std::map<uint32_t, std::vector<uint32_t>, std::greater<>> bySize; // the largest first
  for (uint32_t i = 0; i < aggregates_.size(); ++i) {
    uint32_t size = 0;
    if (Status s = number(aggregates_[i].level, size); !s)
      return s;
    bySize[size].push_back(i);
  }
  for (const auto &[size, members] : bySize) {
    std::vector<uint32_t> groupOfBlock = own;
    std::vector<std::string> names = groups;
    for (uint32_t member : members) {
      Status s = joinBlocks(aggregates_[member], groupOfBlock, static_cast<uint32_t>(names.size()));
      if (!s)
        return s;
      names.emplace_back(aggregates_[member].name.value());
    }
    addLevel(concat("blocks", size), groupOfBlock, std::move(names));
  }
  addLevel("block", own, groups);
  return {};
}

} // namespace

Status readSlurmTopology(FileWords &file, std::vector<FileWord> words, NodeNames &names,
                         NodeList &into) {
  return SlurmReader(file, names, into).read(std::move(words));
}

} // namespace colldsl
