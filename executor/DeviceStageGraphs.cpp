// The work of a run in CUDA graphs.
#include "executor/DeviceStage.h"

#include <array>

namespace colldsl {

namespace {

constexpr std::chrono::seconds kLongestGraph{1}; // once its waits are over

} // namespace

Status DeviceStage::mayCapture() const {
  if (!hasOrder_)
    return Status::error("it has not run since it was bound: a graph has the order of a run");
  return messages_.anyTravels() ? messages_.words().status() : Status();
}

// All that may fail but the driver comes before the first work, and what is opened takes the place
// of mappings that are no longer used, so nothing is kept open before. A graph without all of its
// work ends as one that has it.
Status DeviceStage::capture(const Steps &steps, device::CuStream stream) {
  for (const auto &[op, action] : order_)
    if (action == Action::Offers || action == Action::Receives)
      if (Status s = messages_.openForGraphs(op); !s)
        return s;
  if (!graphs_)
    graphs_.emplace(*opened_);
  device::CurrentContext current(areas_.driver(), areas_.context());
  const GraphWords &words = messages_.words();
  Status s = messages_.anyTravels() ? words.addBegin(stream) : Status();
  for (size_t at = 0; s && at < order_.size();)
    s = addToGraph(at, steps, stream);
  Status ended = messages_.anyTravels() ? words.addEnd(stream) : Status();
  return s ? ended : s;
}

/// Adds what comes at one place of the order, with the combines that continue it.
Status DeviceStage::addToGraph(size_t &at, const Steps &steps, device::CuStream stream) {
  const auto [op, action] = order_[at++];
  const Step &step = steps[op];
  switch (action) {
  case Action::Runs: {
    std::array<OpId, device::kMaxSources> chain{op};
    size_t length = 1;
    for (; at < order_.size() && order_[at].action == Action::Continues; ++at)
      chain[length++] = order_[at].op;
    return length == 1 ? runLocal(op, steps, stream)
                       : runCombines(std::span(chain).first(length), steps, stream);
  }
  case Action::Continues:
    break; // at its first combine
  case Action::Offers:
    return addSend(op, step, stream);
  case Action::IsAnswered:
    return messages_.addWait(op, stream);
  case Action::Receives:
    return addReceive(op, step, stream);
  }
  return {};
}

Status DeviceStage::addSend(OpId op, const Step &step, device::CuStream stream) {
  if (messages_.isPacked(op)) {
    auto packed = messages_.pack(op, areas_, step);
    Status s = packed ? addCopies(*packed, stream) : packed.status();
    if (!s)
      return s;
  }
  return messages_.addSignal(op, stream);
}

Status DeviceStage::addReceive(OpId op, const Step &step, device::CuStream stream) {
  Status s = messages_.addWait(op, stream);
  if (s)
    s = addCopies(messages_.copiesInGraph(op, areas_, step), stream);
  return s ? messages_.addSignal(op, stream) : s;
}

void DeviceStage::releaseGraphs() {
  if (graphs_ && messages_.anyTravels())
    messages_.words().release(*work_);
}

/// True: no graph runs any more, and no work of the plan is under way.
bool DeviceStage::drainGraphs() {
  const GraphWords &words = messages_.words();
  if (isGraphRunning()) {
    releaseGraphs();
    if (!words.addWaitForEnd(*work_))
      return false;
  }
  return work_->drain(words.areReleased() ? kLongestGraph : std::chrono::seconds(0));
}

} // namespace colldsl
