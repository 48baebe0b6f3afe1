#include "show/OpTable.h"

#include "verifier/Placement.h"

namespace colldsl::show {
namespace {

using namespace proof;

/// Areas in columns: buffer, begin, length.
struct Areas {
  std::vector<uint32_t> end; ///< per owner
  std::vector<uint32_t> buffer;
  std::vector<uint64_t> begin, length;

  void add(const Area &area) {
    buffer.push_back(index(area.root));
    begin.push_back(area.begin);
    length.push_back(area.length());
  }
  void close() { end.push_back(static_cast<uint32_t>(buffer.size())); }
  void addTo(const std::string &prefix, Columns &columns) const {
    columns.addSteps(prefix + "End", end);
    columns.addSteps(prefix + "Buffer", buffer);
    columns.add(prefix + "Begin", begin);
    columns.add(prefix + "Length", length);
  }
};

class ByteColumns {
public:
  ByteColumns(const OpTable &table, const std::vector<Sizes> &sizes)
      : table_(table), model_(*table.schedule, sizes), placement_(model_) {}

  void addTo(const std::string &prefix, Columns &columns) {
    addOps(prefix, columns);
    addBuffers(prefix, columns);
    addContracts(prefix, columns);
  }

private:
  void addOps(const std::string &prefix, Columns &columns) const {
    Areas sources, targets;
    for (uint32_t op = 0; op < table_.size(); ++op) {
      for (const Area &area : placement_.sources(Vertex{op}))
        sources.add(area);
      for (const Area &area : placement_.targets(Vertex{op}))
        targets.add(area);
      sources.close();
      targets.close();
    }
    sources.addTo(prefix + "source", columns);
    targets.addTo(prefix + "target", columns);
  }

  void addBuffers(const std::string &prefix, Columns &columns) const {
    std::vector<uint32_t> end, name;
    std::vector<uint8_t> role, isRoot;
    std::vector<uint64_t> bytes;
    for (uint32_t r = 0; r < table_.numRanks(); ++r) {
      const Dag &dag = model_.dag(Rank{r});
      for (uint32_t b = 0; b < dag.buffers.size(); ++b) {
        const Buffer &buffer = dag.buffers[b];
        name.push_back(buffer.name);
        role.push_back(static_cast<uint8_t>(buffer.role));
        isRoot.push_back(buffer.aliasOf == kNoBuffer && buffer.significant);
        bytes.push_back(placement_.whole(Rank{r}, BufferId{b}).end);
      }
      end.push_back(static_cast<uint32_t>(name.size()));
    }
    columns.addSteps(prefix + "bufferEnd", end);
    columns.add(prefix + "bufferName", name);
    columns.add(prefix + "bufferRole", role);
    columns.add(prefix + "bufferIsRoot", isRoot);
    columns.add(prefix + "bufferBytes", bytes);
  }

  void addContracts(const std::string &prefix, Columns &columns) const {
    Areas targets, operands;
    std::vector<uint32_t> operandEnd, operandRank, line;
    std::vector<uint8_t> reduction;
    for (uint32_t r = 0; r < table_.numRanks(); ++r) {
      const Contract &contract = model_.dag(Rank{r}).contract;
      for (const Ensure &ensure : contract.ensures) {
        if (ensure.operandCount == 0) // its content is arbitrary
          continue;
        targets.add(placement_.locateAtEntry(Rank{r}, ensure.target));
        for (const EntryValue &operand : contract.operandsOf(ensure)) {
          operandRank.push_back(index(operand.rank));
          operands.add(placement_.locateAtEntry(operand.rank, operand.slice));
        }
        operands.close();
        line.push_back(ensure.loc.line);
        reduction.push_back(ensure.isReduction ? 1 + static_cast<uint8_t>(ensure.reduction) : 0);
      }
      targets.close();
    }
    targets.addTo(prefix + "ensure", columns);
    operands.addTo(prefix + "operand", columns);
    columns.addSteps(prefix + "operandRank", operandRank);
    columns.add(prefix + "ensureLine", line);
    columns.add(prefix + "ensureReduction", reduction);
  }

  const OpTable &table_;
  Model model_;
  Placement placement_;
};

} // namespace

void addBytes(const OpTable &table, const std::vector<Sizes> &sizes, const std::string &prefix,
              Columns &columns) {
  ByteColumns(table, sizes).addTo(prefix, columns);
}

} // namespace colldsl::show
