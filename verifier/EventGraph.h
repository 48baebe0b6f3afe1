/// What waits for what: each op has a start and a finish, and edges say which event
/// comes before which. The edges are not stored: they follow from the deps, the
/// partners of messages, and the order within channels.
///
/// Under all rules:
///   start(op)      -> finish(op)
///   finish(a)      -> start(b)        b requires a
///   start(a)       -> start(b)        b irequires a
///   start(send)    -> finish(recv)    of one message
/// These are happens-before. In addition:
///   SynchronousSends   start(recv) -> finish(send)
///   FiniteChannels     for the k-th message of each (from, to), in the sender's program order,
///                      and a channel of `slots` slots:
///                      start(send k)  -> start(send k+1)      the channel is filled in order
///                      finish(recv k) -> finish(recv k+1)     and emptied in order
///                      finish(recv k) -> start(send k+slots)  a slot is used again once empty
#pragma once

#include "verifier/Matching.h"

namespace colldsl::proof {

enum class Event : uint32_t {};
constexpr uint32_t index(Event e) { return static_cast<uint32_t>(e); }
constexpr Event startOf(Vertex v) { return Event{2 * index(v)}; }
constexpr Event finishOf(Vertex v) { return Event{2 * index(v) + 1}; }
constexpr Vertex vertexOf(Event e) { return Vertex{index(e) / 2}; }
constexpr bool isStart(Event e) { return index(e) % 2 == 0; }

enum class Rules : uint8_t { HappensBefore, SynchronousSends, FiniteChannels };

/// Borrows model and messages.
class EventGraph {
public:
  /// channelSlots 0: channels without limit.
  EventGraph(const Model &model, const Messages &messages, uint32_t channelSlots);

  const Model &model() const { return model_; }
  uint32_t numEvents() const { return 2 * model_.numVertices(); }
  bool sends(Vertex v) const { return sendsMessage(model_.op(v).kind); }
  Vertex partnerOf(Vertex v) const { return messages_.partnerOf(v); }
  /// Of the same direction in the same channel, or kNoVertex.
  Vertex nextInChannel(Vertex v) const { return next_[index(v)]; }
  /// The send that uses the slot of this receive's message again, or kNoVertex.
  Vertex slotUser(Vertex recv) const { return slotUser_[index(recv)]; }

  /// Calls visit(Event) for each event that waits for `e`.
  template <typename Visit> void forEachSuccessor(Event e, Rules rules, Visit visit) const {
    Vertex v = vertexOf(e);
    DepKind kind = isStart(e) ? DepKind::IRequires : DepKind::Requires;
    for (uint32_t i = dependentsBegin_[index(v)]; i < dependentsBegin_[index(v) + 1]; ++i)
      if (dependents_[i].kind == kind)
        visit(startOf(dependents_[i].vertex));
    if (isStart(e))
      visit(finishOf(v));
    if (exists(partnerOf(v)))
      forEachInMessage(e, rules, visit);
  }

  /// Calls visit(Event) for each event that `e` waits for under HappensBefore.
  template <typename Visit> void forEachPredecessor(Event e, Visit visit) const {
    Vertex v = vertexOf(e);
    if (isStart(e))
      return forEachDep(v, visit);
    visit(startOf(v));
    if (exists(partnerOf(v)) && !sends(v))
      visit(startOf(partnerOf(v)));
  }

  /// The part of forEachPredecessor that stays on the rank.
  template <typename Visit> void forEachLocalPredecessor(Event e, Visit visit) const {
    if (isStart(e))
      forEachDep(vertexOf(e), visit);
    else
      visit(startOf(vertexOf(e)));
  }

private:
  struct Dependent {
    Vertex vertex;
    DepKind kind;
  };

  template <typename Visit> void forEachDep(Vertex v, Visit visit) const {
    Rank rank = model_.rankOf(v);
    for (const Dep &dep : model_.dag(rank).depsOf(model_.op(v))) {
      Vertex older = model_.vertex(rank, dep.op);
      visit(dep.kind == DepKind::Requires ? finishOf(older) : startOf(older));
    }
  }

  template <typename Visit> void forEachInMessage(Event e, Rules rules, Visit visit) const {
    Vertex v = vertexOf(e);
    if (isStart(e) && (sends(v) || rules == Rules::SynchronousSends))
      visit(finishOf(partnerOf(v)));
    if (rules != Rules::FiniteChannels || isStart(e) != sends(v))
      return;
    if (Vertex next = nextInChannel(v); exists(next))
      visit(sends(v) ? startOf(next) : finishOf(next));
    if (Vertex user = slotUser(v); exists(user))
      visit(startOf(user));
  }

  void collectDependents();
  void collectChannels(uint32_t slots);
  void linkChannel(std::span<const Vertex> channel, uint32_t slots);

  const Model &model_;
  const Messages &messages_;
  std::vector<uint32_t> dependentsBegin_; // per vertex, into dependents_
  std::vector<Dependent> dependents_;
  std::vector<Vertex> next_;     // per vertex
  std::vector<Vertex> slotUser_; // per vertex
};

/// The events so that each comes after those it waits for. Events of cycles, and those that
/// wait for them, are missing.
std::vector<Event> topologicalOrder(const EventGraph &graph, Rules rules);

} // namespace colldsl::proof
