/// The event loop. Internal to this folder; Simulate.h is the way in.
///
/// Each event is an op that may start, or a message or notice that arrives at a rank. An event
/// whose resources are busy waits in a line of its rank (WaitLines.h). All others run as they come,
/// in constant time each.
#pragma once

#include "simulator/Recorder.h"
#include "simulator/SharedNodes.h"
#include "simulator/Simulate.h"
#include "simulator/TagMatcher.h"
#include "simulator/TimeWheel.h"
#include "simulator/WaitLines.h"

#include <algorithm>
#include <deque>

namespace colldsl::sim {

/// True if interfaces move some messages.
bool isMovedByInterfaces(const MachineModel &model);

/// True for a run that needs only LogGOP on ranks of one processor and one interface. The loop is
/// compiled for such runs and for all others.
inline bool isPlain(const Workload &workload, const SimulateOptions &options) {
  return workload.cpus == 1 && workload.nics == 1 && !workload.hasTags && !workload.hasWays &&
         !options.record && options.receiveSlots == 0 &&
         options.noise.kind == NoiseOptions::Kind::None &&
         options.network.kind == NetworkOptions::Kind::None && options.model.node == NodeCosts() &&
         !isMovedByInterfaces(options.model);
}

template <bool kPlain> class Engine {
public:
  Engine(Workload &workload, const SimulateOptions &options);

  Result<Outcome> run();

private:
  /// The kind of an event, in the low bits of Event::order. Events of one time go by the number
  /// above them, which counts freed ops and messages.
  enum Kind : uint64_t {
    kSend = 0,
    kRecv = 1,
    kCalc = 2,       ///< as VertexKind
    kMessage = 3,    ///< vertex: the receive
    kTagMessage = 4, ///< vertex: the send
    kHop = 5,        ///< of a kMessage; host: the place in the network
    kTagHop = 6,     ///< of a kTagMessage
    kSlotFree = 7,   ///< host: the receiver
    kLanded = 8,     ///< all of a static message is there; vertex: the receive
    kWasRead = 9,    ///< its reader has copied it; vertex: the send
    kThrough = 10,   ///< a message is through an interface that it shared; vertex: the number of
                     ///< joins, host: the interface
    kAtNode = 11,    ///< of a kMessage: it arrives at the interface of its node
    kTagAtNode = 12, ///< of a kTagMessage
    kKindMask = 15,
    kIsWaiting = 16, ///< stands in a line
    kHasSlot = 32,   ///< a send that may use a receive slot that was kept for it
  };
  static constexpr unsigned kFlagBits = 6;
  static constexpr uint64_t kNever = UINT64_MAX;

  enum class LineKind { Calc, Send, Message };
  struct Freed {
    uint32_t vertex;
    uint32_t host;
  };
  struct Ports {
    uint32_t cpu = 0, nic = 0;
  };

  // The loop (EventLoop.cpp)
  void start();
  void tellWatcher();
  bool startsAtOnce(const Vertex &v) const;
  void dispatch(const Event &event);
  void runCalc(const Event &event);
  void runSend(const Event &event);
  void runRecv(const Event &event);
  void runMessage(const Event &event, bool isByTag);
  bool isReady(const Event &event, uint64_t readyAt, LineKind kind, Ports ports);
  void deliver(const Vertex &send, uint32_t sendIndex, uint32_t from, uint64_t at);
  void arrive(uint32_t vertex, uint32_t receiver, uint64_t at, bool isByTag);
  void meetByTag(uint32_t recv, uint32_t recvHost, uint32_t send, uint32_t sendHost, uint64_t end);
  void takenIn(uint32_t vertex, uint32_t host, uint32_t send, uint64_t end, bool isByTag);
  void acknowledge(uint32_t send, uint32_t sendHost);
  void meet(uint32_t recv, uint32_t recvHost, uint32_t send, uint32_t sendHost, uint64_t end);
  void finishOp(uint32_t vertex, uint32_t host, uint64_t at, ActivityId by);
  void startOp(uint32_t vertex, uint32_t host);
  void free(uint32_t vertex, uint32_t host, uint64_t at, ActivityId by);
  void flush();
  void flushMany();
  void flushHost(std::span<const Freed> freed);
  void push(const Freed &freed);
  /// Prefetches the memory that an event needs. Inlined, because GCC drops calls of functions that
  /// do nothing else.
  [[gnu::always_inline]] void fetch(const Event &event) {
    __builtin_prefetch(vertices_ + event.vertex, 1);
    __builtin_prefetch(vertices_ + event.vertex + 2, 1); // it mostly frees those behind it
    __builtin_prefetch(clocksOf(event.host), 1);
    if (!kPlain && noise_)
      noise_->fetch(uint64_t{event.host} * cpus_);
  }

  // Lines, receive slots, the network, tags (EngineWaits.cpp)
  void wait(const Event &event, uint64_t readyAt, LineKind kind, Ports ports);
  void lineUp(std::span<const Freed> freed);
  bool isFirst(const Event &event, LineKind kind, Ports ports);
  void leaveLine(const Event &event, LineKind kind, Ports ports);
  void wakeLine(uint32_t host, LineKind kind, Ports ports, uint64_t readyAt);
  uint64_t messageReadyAt(uint32_t host, Ports ports);
  bool takeSlot(const Event &event, const Vertex &v, Ports ports);
  void freeSlot(const Event &event);
  void enterNetwork(const Vertex &send, uint32_t sendIndex, uint32_t from, uint64_t at);
  void hop(const Event &event);
  PerByte linkG(uint32_t vertex, uint32_t receiver) const;
  void postByTag(const Event &event, const Vertex &v);
  void arriveByTag(uint32_t send, uint32_t to, uint64_t end);
  bool agree(uint32_t send, uint32_t recv);

  // Messages that one end alone moves (EngineMoves.cpp)
  bool mayMove(const Event &event, const Vertex &v, Ports ports);
  void moveOne(const Event &event, const Vertex &v, Ports ports);
  void began(const Event &event, const Vertex &v);
  void land(const Event &event, const Vertex &v, Ports ports);
  void runLanded(const Event &event);
  void dispatchOther(const Event &event);

  // Interfaces and memory that the ranks of a node share (EngineNodes.cpp)
  bool crossesInterfaces(const Vertex &v) const {
    return !kPlain && nodes_ && nodes_->hasInterfaces() && v.distance >= kOtherNode;
  }
  bool isMovedByInterface(const Vertex &v, const LogGop &p) const {
    return p.movedBy == MovedBy::Interfaces && v.way <= Way::Rendezvous && !v.isByTag;
  }
  void leaveNode(const Vertex &send, uint32_t sendIndex, uint32_t from, uint64_t at);
  void share(uint32_t interface, uint64_t bytes, uint32_t send);
  void expectThrough(uint32_t interface);
  void through(const Event &event);
  void enterNode(const Event &event);
  /// True for a message that interfaces of the nodes move, and that arrives as a whole: it shares
  /// them with others, or takes those that are free first.
  bool isWhole(const Vertex &v, const LogGop &p) const {
    return crossesInterfaces(v) && (nodes_->isPerMessage() || nodes_->isShared(isLong(v, p)));
  }
  /// The end of a processor's work for an op or a message.
  uint64_t workUntil(const Vertex &v, uint32_t host, Ports ports, uint64_t from, uint64_t workNs) {
    uint64_t end = busyUntil(host, ports, from, workNs);
    bool isInMemory = !kPlain && nodes_ && (v.kind == VertexKind::Calc || v.distance < kOtherNode);
    return isInMemory ? std::max(end, nodes_->copyUntil(host, from, workNs)) : end;
  }

  // The end of a run (EngineReport.cpp)
  Status checkTimes() const;
  bool isMessageLeft() const; ///< one without a receive
  Status stuck() const;
  Result<Outcome> outcome();

  // State of a rank: clocks of its processors, of its interfaces for sending and for receiving, and
  // the number that WaitLines keeps for it.
  uint64_t *clocksOf(uint32_t host) {
    return clocks_.data() + size_t{host} * (kPlain ? 4 : stride_);
  }
  uint64_t &cpu(uint32_t host, Ports p) { return clocksOf(host)[kPlain ? 0 : p.cpu]; }
  uint64_t &sendGap(uint32_t host, Ports p) { return clocksOf(host)[kPlain ? 1 : cpus_ + p.nic]; }
  uint64_t &receiveGap(uint32_t host, Ports p) {
    return clocksOf(host)[kPlain ? 2 : cpus_ + nics_ + p.nic];
  }
  uint64_t &linesOf(uint32_t host) { return clocksOf(host)[(kPlain ? 4 : stride_) - 1]; }
  Ports portsOf(const Vertex &v) const { return isSimple_ ? Ports() : Ports{v.cpu, v.nic}; }
  /// The ports that a message takes at its receiver.
  Ports receiverPortsOf(const Vertex &recv, uint32_t send) const {
    return portsOf(workload_.isPlainGoal ? vertices_[send] : recv);
  }
  bool isSimple() const { return kPlain || isSimple_; }
  Recorder *recorder() { return kPlain || !recorder_ ? nullptr : &*recorder_; }
  /// True if the send finishes when its message meets its receive.
  bool isLong(const Vertex &v, const LogGop &p) const {
    if (kPlain || v.way == Way::Usual)
      return workload_.amountOf(v) > p.S;
    return v.way == Way::Rendezvous;
  }
  const LogGop &costs(const Vertex &v) const {
    return !hasSizes_ ? model_.distances[v.distance]
                      : model_.costs(v.distance, workload_.amountOf(v));
  }
  uint32_t lineOf(LineKind kind, Ports p) const {
    if (kPlain)
      return static_cast<uint32_t>(kind);
    uint32_t pairs = cpus_ * nics_, pair = p.cpu * nics_ + p.nic;
    return kind == LineKind::Calc ? p.cpu : cpus_ + pair + (kind == LineKind::Message ? pairs : 0);
  }
  uint64_t busyUntil(uint32_t host, Ports p, uint64_t from, uint64_t workNs) {
    if (kPlain || !noise_)
      return from + workNs;
    return noise_->endOf(uint64_t{host} * cpus_ + p.cpu, from, workNs);
  }
  uint64_t newOrder(uint64_t kind) { return ++orders_ << kFlagBits | kind; }
  bool crossesNetwork(const Vertex &v) const {
    return !kPlain && network_ && v.distance >= kOtherNode;
  }
  uint32_t nodeOf(uint32_t rank) const { return topology_->place(Rank{rank}).node; }
  Recorder::Use useOf(uint32_t host, Ports p, bool isRecv);

  Workload &workload_;
  Vertex *vertices_;
  const uint32_t *lists_;
  const SimulateOptions &options_;
  const MachineModel &model_;
  const Topology *topology_;
  uint32_t hosts_, cpus_, nics_;
  bool isSimple_; ///< one processor and one interface each
  bool hasSizes_; ///< costs of messages differ by size
  size_t stride_; ///< of clocks_, per rank
  PagedArray<uint64_t> clocks_;
  PagedArray<uint64_t> readyAt_; ///< not simple: when an op's dependencies were met; of a send
                                 ///< that ran: when its message had been taken in
  TimeWheel wheel_;
  WaitLines lines_;
  std::vector<Freed> freed_;
  uint64_t now_ = 0;
  uint64_t orders_ = 0;
  uint64_t finished_ = 0; ///< ops
  uint64_t received_ = 0; ///< messages
  uint64_t started_ = 0;  ///< ops
  uint64_t nextTold_;     ///< the number of both at which the watcher is called next
  Status error_;

  std::optional<Noise> noise_;
  std::optional<Recorder> recorder_;
  std::optional<Network> network_;
  std::optional<SharedNodes> nodes_;
  struct Through {
    uint64_t lastByteAt = 0; ///< at the receiver, at the earliest
    uint64_t interfaces = 0; ///< that the message is through
  };
  PagedArray<Through> through_; ///< per send, if messages share interfaces
  struct TagHost {
    TagQueue receives, messages;
  };
  std::unordered_map<uint32_t, TagHost> tags_; ///< per rank
  struct Slots {
    uint32_t used = 0;
    std::deque<Event> queue; ///< sends that have to wait
  };
  std::vector<Slots> slots_; ///< per rank; empty: there are any number
};

} // namespace colldsl::sim
