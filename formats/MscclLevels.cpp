#include "formats/MscclLevels.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace colldsl::msccl {
namespace {

class StepLeveller {
public:
  explicit StepLeveller(const Algorithm &algorithm) : algorithm_(algorithm) {}
  StepLevels run();

private:
  void numberSteps();
  void addEdges(uint32_t gpu);
  void addMessages();
  void delaySends();
  void addEdge(size_t before, size_t after) {
    successors_[before].push_back(after);
    ++open_[after];
  }

  using Connection = std::tuple<uint32_t, uint32_t, uint32_t>; ///< from, to, channel

  const Algorithm &algorithm_;
  std::vector<std::vector<size_t>> first_; ///< per gpu and tb: the number of its first step
  std::vector<std::vector<size_t>> successors_;
  std::vector<uint32_t> open_, levels_;
  std::map<Connection, std::vector<size_t>> sends_, recvs_;
};

void StepLeveller::numberSteps() {
  size_t count = 0;
  for (const Gpu &gpu : algorithm_.gpus) {
    first_.emplace_back();
    for (const Threadblock &block : gpu.blocks) {
      first_.back().push_back(count);
      count += block.steps.size();
    }
  }
  successors_.resize(count);
  open_.resize(count);
  levels_.resize(count);
}

void StepLeveller::addEdges(uint32_t g) {
  const Gpu &gpu = algorithm_.gpus[g];
  for (uint32_t tb = 0; tb < gpu.blocks.size(); ++tb) {
    const Threadblock &block = gpu.blocks[tb];
    for (size_t s = 0; s < block.steps.size(); ++s) {
      const Step &step = block.steps[s];
      size_t number = first_[g][tb] + s;
      if (s != 0)
        addEdge(number - 1, number);
      auto other = static_cast<size_t>(step.waitBlock), wait = static_cast<size_t>(step.waitStep);
      if (step.waitBlock >= 0 && other < gpu.blocks.size() && wait < gpu.blocks[other].steps.size())
        addEdge(first_[g][other] + wait, number);
      if (sends(step.kind))
        sends_[{g, static_cast<uint32_t>(block.sendPeer), block.channel}].push_back(number);
      if (receives(step.kind))
        recvs_[{static_cast<uint32_t>(block.recvPeer), g, block.channel}].push_back(number);
    }
  }
}

void StepLeveller::addMessages() {
  for (const auto &[connection, sends] : sends_) {
    const std::vector<size_t> &recvs = recvs_[connection];
    for (size_t i = 0; i < std::min(sends.size(), recvs.size()); ++i)
      addEdge(sends[i], recvs[i]);
  }
}

// Raises the levels of sends whose receives come late.
void StepLeveller::delaySends() {
  for (const auto &[connection, sends] : sends_) {
    const std::vector<size_t> &recvs = recvs_[connection];
    for (size_t i = 0; i < std::min(sends.size(), recvs.size()); ++i)
      levels_[sends[i]] = std::max({levels_[sends[i]], levels_[recvs[i]], 1u}) - 1;
  }
}

StepLevels StepLeveller::run() {
  numberSteps();
  for (uint32_t g = 0; g < algorithm_.gpus.size(); ++g)
    addEdges(g);
  addMessages();
  std::vector<size_t> ready;
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i] == 0)
      ready.push_back(i);
  for (size_t i = 0; i < ready.size(); ++i)
    for (size_t next : successors_[ready[i]]) {
      levels_[next] = std::max(levels_[next], levels_[ready[i]] + 1);
      if (--open_[next] == 0)
        ready.push_back(next);
    }
  delaySends();
  StepLevels levels(first_.size());
  for (size_t g = 0; g < first_.size(); ++g)
    for (size_t tb = 0; tb < first_[g].size(); ++tb) {
      auto begin = levels_.begin() + static_cast<std::ptrdiff_t>(first_[g][tb]);
      size_t steps = algorithm_.gpus[g].blocks[tb].steps.size();
      levels[g].emplace_back(begin, begin + static_cast<std::ptrdiff_t>(steps));
    }
  return levels;
}

} // namespace

StepLevels stepLevels(const Algorithm &algorithm) { return StepLeveller(algorithm).run(); }

} // namespace colldsl::msccl
