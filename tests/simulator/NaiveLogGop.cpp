#include "NaiveLogGop.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>

namespace colldsl::sim {
namespace {

struct Message {
  uint32_t from, to, tag;
  uint32_t sendOp;
  uint64_t bytes;
  unsigned cpu, nic;
};

struct Event {
  bool isMessage = false;
  uint32_t host = 0;
  uint32_t op = 0;
  Message message = {};
};

struct Posted {
  uint32_t from, tag, op; ///< UINT32_MAX: any
};

struct Unexpected {
  Message message;
  uint64_t end;
};

struct Host {
  std::map<unsigned, uint64_t> cpu, sendGap, receiveGap;
  std::list<Posted> posted;
  std::list<Unexpected> unexpected;
  std::vector<uint32_t> freed;
  std::vector<uint32_t> open;
  std::vector<uint64_t> ready; ///< when the last dependency was met
};

class Naive {
public:
  Naive(const Schedule &schedule, const LogGop &p)
      : schedule_(schedule), p_(p), hosts_(schedule.numRanks()) {}

  NaiveOutcome run() {
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
      const Dag &dag = schedule_.ranks[h];
      hosts_[h].ready.resize(dag.size());
      for (uint32_t i = 0; i < dag.size(); ++i) {
        hosts_[h].open.push_back(dag.ops[i].depCount);
        if (dag.ops[i].depCount == 0)
          hosts_[h].freed.push_back(i);
      }
      flush(h);
    }
    while (!queue_.empty()) {
      auto first = *queue_.begin();
      queue_.erase(queue_.begin());
      now_ = first.first.first;
      ts_ = first.first.second;
      touched_.clear();
      if (first.second.isMessage)
        runMessage(first.second);
      else
        runOp(first.second);
      for (uint32_t h : touched_)
        flush(h);
    }
    NaiveOutcome outcome;
    outcome.isComplete = finished_ == schedule_.numOps();
    outcome.events = events_;
    for (Host &host : hosts_) {
      outcome.isComplete &= host.unexpected.empty();
      uint64_t last = 0;
      for (auto [cpu, time] : host.cpu)
        last = std::max(last, time);
      outcome.finish.push_back(last);
    }
    return outcome;
  }

private:
  uint64_t further(uint64_t bytes, PerByte rate) const {
    return bytes == 0 ? 0 : rate.times(bytes - 1);
  }

  static int kindOrder(OpKind kind) {
    return kind == OpKind::Send ? 0 : kind == OpKind::Recv ? 1 : 2;
  }

  void flush(uint32_t h) {
    Host &host = hosts_[h];
    const Dag &dag = schedule_.ranks[h];
    std::stable_sort(host.freed.begin(), host.freed.end(), [&](uint32_t a, uint32_t b) {
      return kindOrder(dag.ops[a].kind) < kindOrder(dag.ops[b].kind);
    });
    for (uint32_t i : host.freed) {
      const Op &op = dag.ops[i];
      uint64_t time = host.cpu[op.cpu];
      if (op.kind == OpKind::Send)
        time = std::max(time, host.sendGap[op.nic]);
      queue_[{std::max(time, host.ready[i]), ++counter_}] = {false, h, i, {}};
    }
    host.freed.clear();
  }

  void release(uint32_t h, uint32_t op, DepKind kind, uint64_t at) {
    const Dag &dag = schedule_.ranks[h];
    touched_.insert(h);
    for (uint32_t i = 0; i < dag.size(); ++i)
      for (const Dep &dep : dag.depsOf(dag.ops[i]))
        if (dep.op == OpId{op} && dep.kind == kind) {
          hosts_[h].ready[i] = std::max(hosts_[h].ready[i], at);
          if (--hosts_[h].open[i] == 0)
            hosts_[h].freed.push_back(i);
        }
  }
  void started(uint32_t h, uint32_t op) { release(h, op, DepKind::IRequires, now_); }
  void finished(uint32_t h, uint32_t op, uint64_t at) {
    ++finished_;
    release(h, op, DepKind::Requires, at);
  }

  void finishLongSend(const Message &m) {
    if (m.bytes <= p_.S)
      return;
    Host &sender = hosts_[m.from];
    sender.cpu[m.cpu] = std::max(sender.cpu[m.cpu], now_);
    sender.sendGap[m.nic] = std::max(sender.sendGap[m.nic], now_);
    finished(m.from, m.sendOp, now_);
  }

  static bool fits(const Posted &posted, const Message &m) {
    return (posted.from == UINT32_MAX || posted.from == m.from) &&
           (posted.tag == UINT32_MAX || m.tag == UINT32_MAX || posted.tag == m.tag);
  }

  void runOp(const Event &event) {
    Host &host = hosts_[event.host];
    const Op &op = schedule_.ranks[event.host].ops[event.op];
    uint64_t &cpu = host.cpu[op.cpu];
    if (op.kind == OpKind::Calc) {
      if (cpu > now_)
        return again(cpu, event);
      cpu = now_ + op.amount;
      ++events_;
      started(event.host, event.op);
      finished(event.host, event.op, cpu);
    } else if (op.kind == OpKind::Send) {
      uint64_t &gap = host.sendGap[op.nic];
      if (std::max(cpu, gap) > now_)
        return again(std::max(cpu, gap), event);
      ++events_;
      started(event.host, event.op);
      cpu = now_ + p_.o + further(op.amount, p_.O);
      gap = now_ + p_.g + further(op.amount, p_.G);
      Message m{event.host, index(op.peer), tagOf(op.message), event.op, op.amount, op.cpu, op.nic};
      queue_[{now_ + p_.o + p_.L, ++counter_}] = {true, index(op.peer), 0, m};
      if (op.amount <= p_.S)
        finished(event.host, event.op, cpu);
    } else {
      ++events_;
      started(event.host, event.op);
      Posted posted{index(op.peer), tagOf(op.message), event.op};
      auto found = std::find_if(host.unexpected.begin(), host.unexpected.end(),
                                [&](const Unexpected &u) { return fits(posted, u.message); });
      if (found == host.unexpected.end()) {
        host.posted.push_back(posted);
        return;
      }
      Unexpected u = *found;
      host.unexpected.erase(found);
      finishLongSend(u.message);
      finished(event.host, event.op, std::max(now_, u.end));
    }
  }

  void runMessage(const Event &event) {
    Host &host = hosts_[event.host];
    const Message &m = event.message;
    uint64_t &cpu = host.cpu[m.cpu], &gap = host.receiveGap[m.nic];
    if (std::max(cpu, gap) > now_)
      return again(std::max(cpu, gap), event);
    ++events_;
    cpu = now_ + p_.o + std::max(further(m.bytes, p_.O), further(m.bytes, p_.G));
    gap = now_ + p_.g + further(m.bytes, p_.G);
    uint64_t end = cpu;
    auto found = std::find_if(host.posted.begin(), host.posted.end(),
                              [&](const Posted &posted) { return fits(posted, m); });
    if (found == host.posted.end()) {
      host.unexpected.push_back({m, end});
      return;
    }
    Posted posted = *found;
    host.posted.erase(found);
    finishLongSend(m);
    finished(event.host, posted.op, end);
  }

  void again(uint64_t time, const Event &event) { queue_[{time, ts_}] = event; }

  const Schedule &schedule_;
  const LogGop &p_;
  std::vector<Host> hosts_;
  std::map<std::pair<uint64_t, uint64_t>, Event> queue_; ///< by (time, ts)
  std::set<uint32_t> touched_;
  uint64_t now_ = 0, ts_ = 0, counter_ = 0, events_ = 0, finished_ = 0;
};

} // namespace

NaiveOutcome simulateNaively(const Schedule &schedule, const LogGop &parameters) {
  return Naive(schedule, parameters).run();
}

} // namespace colldsl::sim
