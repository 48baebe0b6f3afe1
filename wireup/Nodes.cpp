#include "wireup/Nodes.h"

#include "wireup/ProcessInfoExchange.h"

#include <algorithm>

namespace colldsl {

Result<std::vector<uint32_t>> whoSharesMemory(const Oob &oob) {
  std::vector<ProcessInfo> processes;
  if (Status s = exchangeProcessInfo(oob, ownProcessInfo(oob), processes); !s)
    return s;
  return firstOfNodes(processes, 0);
}

Result<uint32_t> countOnMachine(const Oob &oob) {
  std::vector<ProcessInfo> processes;
  if (Status s = exchangeProcessInfo(oob, ownProcessInfo(oob), processes); !s)
    return s;
  return countOnMachine(processes, oob.rank);
}

Result<std::vector<uint32_t>> findNodes(const Oob &oob, const Status &own,
                                        std::string_view network) {
  ProcessInfoExchange exchange(oob);
  exchange.note(own);
  exchange.noteNetwork(network);
  exchange.describeNode();
  if (Status s = exchange.run(); !s)
    return s;
  return exchange.nodes();
}

std::vector<uint32_t> ranksOfNode(std::span<const uint32_t> nodes, uint32_t rank) {
  std::vector<uint32_t> members;
  for (uint32_t r = 0; r < nodes.size(); ++r)
    if (nodes[r] == nodes[rank])
      members.push_back(r);
  return members;
}

bool isOneNode(std::span<const uint32_t> nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](uint32_t first) { return first == 0; });
}

} // namespace colldsl
