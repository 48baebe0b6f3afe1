#include "mscclpp/StepOrder.h"

#include <algorithm>
#include <cassert>

namespace colldsl::mscclpp {

void Reach::compute(const std::vector<std::vector<uint32_t>> &before) {
  std::fill(bits_.begin(), bits_.end(), 0);
  for (size_t to = 0; to < before.size(); ++to) {
    uint64_t *row = &bits_[beginOf(to)];
    for (uint32_t from : before[to]) {
      assert(from < to);
      const uint64_t *earlier = &bits_[beginOf(from)];
      for (size_t w = 0; w <= from / 64; ++w)
        row[w] |= earlier[w];
      row[from / 64] |= uint64_t{1} << (from % 64);
    }
  }
}

Order::Order(const Events &events, const Execution &execution)
    : events_(events), execution_(execution), positions_(events.all.size(), 0),
      data_(events.all.size()), time_(events.all.size()), packetReaders_(events.all.size()),
      signals_(events.counters.size()), waits_(events.counters.size()),
      withData_(events.all.size()), inTime_(events.all.size()) {
  for (uint32_t i = 0; i < execution.order.size(); ++i)
    positions_[execution.order[i]] = i;
  for (EventId id : execution.order) {
    const Event &event = events.all[id];
    for (EventId before : event.before)
      data_[at(id)].push_back(at(before));
    if (event.counter == kNone)
      continue;
    bool waits = event.step == Step::Wait || event.step == Step::Acquire;
    (waits ? waits_ : signals_)[event.counter].push_back(id);
  }
  for (size_t i = 0; i < events.counters.size(); ++i)
    linked_.emplace_back(waits_[i].size() * signals_[i].size(), false);
  do
    compute();
  while (addSignalEdges() | addPacketEdges());
}

void Order::compute() {
  withData_.compute(data_);
  std::vector<std::vector<uint32_t>> all = data_;
  for (size_t i = 0; i < all.size(); ++i)
    all[i].insert(all[i].end(), time_[i].begin(), time_[i].end());
  inTime_.compute(all);
}

// A slot may get one packet several times, as from a switch that stores it where it came from. The
// reader then has any of them, and comes after those before which none of the others comes.
bool Order::addPacketEdges() {
  bool found = false;
  for (const PacketUse &use : execution_.packets)
    for (EventId to : use.reads)
      for (EventId from : use.writes) {
        auto mayCome = [&](EventId other) {
          return other == from || other == to || isBefore(from, other) || isBefore(to, other);
        };
        std::vector<EventId> &readers = packetReaders_[from];
        if (from == to || !std::all_of(use.writes.begin(), use.writes.end(), mayCome) ||
            std::find(readers.begin(), readers.end(), to) != readers.end())
          continue;
        found = true;
        readers.push_back(to);
        if (EventId source = events_.all[from].valueFrom; source != kNoEvent)
          packetReaders_[source].push_back(to);
        time_[at(to)].push_back(at(from));
      }
  return found;
}

// A thread's later relaxed signals to others may pass a signal, so it precedes what its own data
// precede, and what comes after a wait that saw it. Bits for the waits of the counter tell both.
std::vector<size_t> Order::countDispensable(size_t counter) const {
  const std::vector<EventId> &signals = signals_[counter], &waits = waits_[counter];
  size_t words = (waits.size() + 63) / 64;
  std::vector<uint64_t> linked(signals.size() * words, 0), before(signals.size() * words, 0);
  for (size_t s = 0; s < signals.size(); ++s)
    for (size_t w = 0; w < waits.size(); ++w) {
      uint64_t bit = uint64_t{1} << (w % 64);
      if (linked_[counter][w * signals.size() + s])
        linked[s * words + w / 64] |= bit;
      if (isBefore(waits[w], signals[s]))
        before[s * words + w / 64] |= bit;
    }
  auto isCountedBefore = [&](size_t s, size_t other) {
    if (withData_.has(at(signals[s]), at(signals[other])))
      return true;
    for (size_t k = 0; k < words; ++k)
      if (linked[s * words + k] & before[other * words + k])
        return true;
    return false;
  };
  std::vector<size_t> counts(signals.size(), 0);
  for (size_t s = 0; s < signals.size(); ++s)
    for (size_t other = 0; other < signals.size(); ++other)
      counts[s] += other != s && !isCountedBefore(s, other);
  return counts;
}

// A wait is the n-th at least, if n - 1 others come before it. It returns after n signals. So it
// comes after a signal if fewer than n others can do without that one.
bool Order::addSignalEdges() {
  bool found = false;
  for (size_t c = 0; c < events_.counters.size(); ++c) {
    std::vector<size_t> dispensable = countDispensable(c);
    for (size_t w = 0; w < waits_[c].size(); ++w) {
      EventId wait = waits_[c][w];
      auto isEarlier = [&](EventId other) { return other != wait && isBefore(other, wait); };
      int64_t number = 1 + std::count_if(waits_[c].begin(), waits_[c].end(), isEarlier) -
                       events_.counters[c].initial;
      for (size_t s = 0; s < signals_[c].size(); ++s) {
        if (linked_[c][w * signals_[c].size() + s] ||
            static_cast<int64_t>(dispensable[s]) >= number)
          continue;
        linked_[c][w * signals_[c].size() + s] = found = true;
        bool relaxed = events_.all[wait].relaxed || events_.all[signals_[c][s]].relaxed;
        (relaxed ? time_ : data_)[at(wait)].push_back(at(signals_[c][s]));
      }
    }
  }
  return found;
}

// The cases of docs/mscclpp.md: released and acquired; complete at the border of a kernel; a value
// that went into a packet was read before; a packet that was received has been written.
bool Order::isCompleteBefore(EventId a, const Access &access, EventId b) const {
  if (withData_.has(at(a), at(b)))
    return true;
  for (EventId complete : events_.completions)
    if (withData_.has(at(a), at(complete)) && isBefore(complete, b))
      return true;
  if (access.kind != AccessKind::Write)
    for (EventId reader : packetReaders_[a])
      if (reader == b || isBefore(reader, b))
        return true;
  return false;
}

} // namespace colldsl::mscclpp
