#include "mscclpp/PlanRun.h"

#include <algorithm>
#include <deque>

namespace colldsl::mscclpp {
namespace {

class Machine {
public:
  Machine(const Events &events, uint32_t numLocations)
      : events_(events), missing_(events.all.size(), 0), after_(events.all.size()),
        counts_(events.counters.size(), 0), atCounter_(events.counters.size()) {
    done_.packets.resize(size_t{numLocations} * events.launches);
    arrived_.assign(done_.packets.size(), false);
    atSlot_.resize(done_.packets.size());
    for (size_t i = 0; i < events.counters.size(); ++i)
      counts_[i] = events.counters[i].initial;
  }

  Execution run() {
    for (EventId id = 0; id < events_.all.size(); ++id)
      link(id);
    for (EventId id = 0; id < events_.all.size(); ++id)
      if (missing_[id] == 0)
        ready_.push_back(id);
    while (!ready_.empty()) {
      EventId id = ready_.front();
      ready_.pop_front();
      if (mayRun(id))
        finish(id);
    }
    for (auto *lists : {&atCounter_, &atSlot_})
      for (const std::vector<EventId> &list : *lists)
        done_.blocked.insert(done_.blocked.end(), list.begin(), list.end());
    std::sort(done_.blocked.begin(), done_.blocked.end());
    return std::move(done_);
  }

private:
  void link(EventId id) {
    const Event &event = events_.all[id];
    for (EventId before : event.before) {
      ++missing_[id];
      after_[before].push_back(id);
    }
    for (const Access &access : event.accesses)
      if (access.kind == AccessKind::PacketWrite)
        done_.packets[packetSlot(events_, access.location, event.launch)].writes.push_back(id);
      else if (access.kind == AccessKind::PacketRead)
        done_.packets[packetSlot(events_, access.location, event.launch)].reads.push_back(id);
  }

  /// False if the step waits; it is kept at what it waits for.
  bool mayRun(EventId id) {
    const Event &event = events_.all[id];
    if (event.step == Step::Wait || event.step == Step::Acquire) {
      if (counts_[event.counter] <= 0) {
        atCounter_[event.counter].push_back(id);
        return false;
      }
      --counts_[event.counter];
    }
    for (const Access &access : event.accesses)
      if (access.kind == AccessKind::PacketRead)
        if (size_t slot = packetSlot(events_, access.location, event.launch); !arrived_[slot]) {
          atSlot_[slot].push_back(id);
          return false;
        }
    return true;
  }

  void finish(EventId id) {
    const Event &event = events_.all[id];
    done_.order.push_back(id);
    if ((event.step == Step::Signal || event.step == Step::Release) && event.counter != kNone) {
      ++counts_[event.counter];
      wake(atCounter_[event.counter]);
    }
    for (const Access &access : event.accesses)
      if (access.kind == AccessKind::PacketWrite) {
        size_t slot = packetSlot(events_, access.location, event.launch);
        arrived_[slot] = true;
        wake(atSlot_[slot]);
      }
    for (EventId next : after_[id])
      if (--missing_[next] == 0)
        ready_.push_back(next);
  }

  void wake(std::vector<EventId> &list) {
    ready_.insert(ready_.end(), list.begin(), list.end());
    list.clear();
  }

  const Events &events_;
  std::vector<uint32_t> missing_;
  std::vector<std::vector<EventId>> after_;
  std::vector<int64_t> counts_;
  std::vector<std::vector<EventId>> atCounter_, atSlot_;
  std::vector<bool> arrived_;
  std::deque<EventId> ready_;
  Execution done_;
};

} // namespace

Execution execute(const Events &events, uint32_t numLocations) {
  return Machine(events, numLocations).run();
}

} // namespace colldsl::mscclpp
