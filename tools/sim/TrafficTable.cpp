#include "tools/sim/TrafficTable.h"

#include "tools/options/Table.h"

namespace colldsl::tools {

std::string crossingWord(const sim::Crossing &crossing) {
  std::string word;
  if (!crossing.crossed.empty())
    word = "other " + std::string(crossing.crossed);
  if (!crossing.within.empty())
    word += (word.empty() ? "same " : ", same ") + std::string(crossing.within);
  return word;
}

void printTraffic(const sim::Traffic &traffic, const Topology &topology, llvm::raw_ostream &out) {
  Table table({"traffic to", "messages", "bytes"});
  for (size_t i = 0; i < traffic.levels().size(); ++i) {
    const sim::LevelTraffic &level = traffic.levels()[i];
    table.addRow({crossingWord(sim::crossingAt(topology, i)), std::to_string(level.messages),
                  sim::decimal(level.bytes)});
  }
  table.print(out);
}

llvm::json::Array trafficJson(const sim::Traffic &traffic, const Topology &topology) {
  auto nameOrNull = [](std::string_view name) {
    return name.empty() ? llvm::json::Value(nullptr)
                        : llvm::json::Value(jsonText(std::string(name)));
  };
  llvm::json::Array levels;
  for (size_t i = 0; i < traffic.levels().size(); ++i) {
    const sim::LevelTraffic &level = traffic.levels()[i];
    sim::Crossing crossing = sim::crossingAt(topology, i);
    bool fits = level.bytes <= UINT64_MAX;
    levels.push_back(llvm::json::Object{
        {"crosses", nameOrNull(crossing.crossed)},
        {"within", nameOrNull(crossing.within)},
        {"messages", level.messages},
        {"bytes", fits ? llvm::json::Value(static_cast<uint64_t>(level.bytes))
                       : llvm::json::Value(sim::decimal(level.bytes))},
    });
  }
  return levels;
}

} // namespace colldsl::tools
