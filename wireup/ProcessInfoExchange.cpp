#include "wireup/ProcessInfoExchange.h"

#include "ir/Concat.h"
#include "wireup/BoundThreads.h"
#include "wireup/Environment.h"

#include <algorithm>

namespace colldsl {

ProcessInfoExchange::ProcessInfoExchange(const Oob &oob) : oob_(oob), mine_(ownProcessInfo(oob)) {
  if (oob.rank >= oob.numRanks)
    noteTrouble(mine_, concat("there is no rank ", oob.rank, " among ", oob.numRanks, " ranks"));
}

void ProcessInfoExchange::note(const Status &trouble) {
  if (!trouble && !mine_.trouble[0])
    noteTrouble(mine_, trouble.message());
}

void ProcessInfoExchange::describeNode() {
  note(readNumber<uint32_t>("COLLDSL_RANKS_PER_NODE", mine_.ranksPerNode, "number"));
  std::vector<OwnInterface> own = ownInterfaces();
  own.resize(mine_.interfaces.size());
  std::copy(own.begin(), own.end(), mine_.interfaces.begin());
}

Status ProcessInfoExchange::run() {
  if (oob_.numRanks == 0)
    return Status::error("there are no ranks");
  if (Status s = exchangeProcessInfo(oob_, mine_, processes_); !s)
    return s;
  return compare(processes_);
}

std::vector<uint32_t> ProcessInfoExchange::nodes() const {
  return firstOfNodes(processes_, processes_[0].ranksPerNode);
}

std::vector<uint32_t> ProcessInfoExchange::pusOf(std::span<const uint32_t> ranks) const {
  std::vector<std::vector<uint32_t>> allowed;
  for (uint32_t r : ranks)
    allowed.push_back(listPus(processes_[r].allowed));
  return spreadRanks(allowed);
}

std::vector<Threads> ProcessInfoExchange::boundThreads() const {
  std::vector<uint32_t> hosts = firstOfHosts(processes_);
  std::vector<Threads> boundThreads;
  for (uint32_t r = 0; r <= oob_.rank; ++r)
    if (hosts[r] == hosts[oob_.rank])
      boundThreads.push_back(listPus(processes_[r].allowed));
  return boundThreads;
}

} // namespace colldsl
