#include "passes/Reroute.h"

#include "passes/DagEditor.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace colldsl {
namespace {

/// Per op: true if it waits for a message, directly or not.
std::vector<bool> waitsForMessages(const Dag &dag) {
  std::vector<bool> waits(dag.size(), false);
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      if (waits[index(dep.op)] || isMessage(dag.op(dep.op).kind))
        waits[i] = true;
  return waits;
}

bool allDense(const Dag &dag, std::span<const Slice> slices) {
  return !slices.empty() && std::all_of(slices.begin(), slices.end(), [&](const Slice &slice) {
    return dag.bufferOf(slice).layout == Layout::Dense;
  });
}

bool sameSlices(std::span<const Slice> a, std::span<const Slice> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

} // namespace

std::vector<uint32_t> reroutable(const Schedule &schedule,
                                 const std::vector<MessageEnds> &messages) {
  std::vector<std::vector<bool>> waits;
  for (const Dag &dag : schedule.ranks)
    waits.push_back(waitsForMessages(dag));
  std::vector<uint32_t> chosen;
  for (uint32_t m = 0; m < messages.size(); ++m) {
    const MessageEnds &ends = messages[m];
    const Dag &from = schedule.ranks[index(ends.from)], &to = schedule.ranks[index(ends.to)];
    if (ends.from != ends.to && from.op(ends.send).kind == OpKind::Send &&
        !waits[index(ends.from)][index(ends.send)] && !waits[index(ends.to)][index(ends.recv)] &&
        allDense(from, from.sources(from.op(ends.send))) &&
        allDense(to, to.targets(to.op(ends.recv))))
      chosen.push_back(m);
  }
  return chosen;
}

std::vector<uint32_t> samePayloads(const Schedule &schedule,
                                   const std::vector<MessageEnds> &messages,
                                   const std::vector<uint32_t> &chosen) {
  auto sourcesOf = [&](uint32_t m) {
    const Dag &dag = schedule.ranks[index(messages[m].from)];
    return dag.sources(dag.op(messages[m].send));
  };
  std::vector<uint32_t> payloads;
  std::set<std::pair<uint32_t, Rank>> goesTo;
  std::map<Rank, std::vector<uint32_t>> firstOf; // per sender, the first message of each payload
  for (uint32_t m : chosen) {
    std::vector<uint32_t> &known = firstOf[messages[m].from];
    auto same = std::find_if(known.begin(), known.end(), [&](uint32_t other) {
      return sameSlices(sourcesOf(other), sourcesOf(m));
    });
    bool isNew = same == known.end() || !goesTo.insert({*same, messages[m].to}).second;
    payloads.push_back(isNew ? m : *same);
    if (isNew) {
      known.push_back(m);
      goesTo.insert({m, messages[m].to});
    }
  }
  return payloads;
}

namespace {

class Rerouter {
public:
  Rerouter(const Schedule &schedule, const std::vector<MessageEnds> &messages,
           const std::vector<MessagePath> &paths)
      : schedule_(schedule), messages_(messages), paths_(paths),
        editors_(schedule.ranks.begin(), schedule.ranks.end()) {
    for (uint32_t p = 0; p < paths.size(); ++p)
      for (uint32_t hop = 0; hop + 1 < paths[p].ranks.size(); ++hop)
        legs_[{paths[p].steps[hop], paths[p].ranks[hop], paths[p].ranks[hop + 1]}].push_back(
            {p, hop});
  }

  Result<Schedule> run() {
    Schedule result = schedule_;
    relayName_ = static_cast<uint32_t>(result.names.size());
    result.names.push_back("relayed");
    for (const auto &[leg, hops] : legs_) // ascending in steps
      carry(std::get<1>(leg), std::get<2>(leg), hops);
    for (const auto &[op, forward] : keeps_)
      keepUntilSent(op.first, op.second, forward);
    for (uint32_t r = 0; r < result.numRanks(); ++r)
      if (Status s = editors_[r].buildInto(result.ranks[r]); !s)
        return s;
    renumberMessages(result);
    return result;
  }

private:
  struct Hop {
    uint32_t path;
    uint32_t number; ///< from ranks[number] to the next
  };
  using Leg = std::tuple<uint32_t, Rank, Rank>; ///< step, from, to

  /// A payload on a rank: its place, and the receive that brought it.
  struct Held {
    std::vector<Slice> slices;
    EditId since{};
    bool isTarget = false; ///< lies where the receiver wants it, not in a temporary
  };

  DagEditor &editor(Rank rank) { return editors_[index(rank)]; }
  const MessageEnds &ends(const MessagePath &path) const { return messages_[path.message]; }
  OpId sendOf(const MessagePath &path) const { return ends(path).send; }

  /// Sends the hops from one rank to another in one step as one message.
  void carry(Rank from, Rank to, const std::vector<Hop> &hops) {
    std::vector<std::pair<uint32_t, const MessagePath *>> payloads; // in the order of the message
    for (const Hop &hop : hops) {
      const MessagePath &path = paths_[hop.path];
      auto isSame = [&](const auto &p) { return p.first == path.payload; };
      if (std::none_of(payloads.begin(), payloads.end(), isSame))
        payloads.emplace_back(path.payload, &path);
    }
    Op op;
    op.kind = OpKind::Send;
    op.peer = to;
    op.message = MessageId{kFirstNewMessage + newMessages_++};
    op.loc =
        schedule_.ranks[index(ends(*payloads[0].second).from)].op(sendOf(*payloads[0].second)).loc;
    addSend(from, op, payloads, hops);
    op.kind = OpKind::Recv;
    op.peer = from;
    addRecv(to, op, payloads, hops);
  }

  /// Adds the send of one message. At the first rank of its path a payload lies where it always
  /// was.
  void addSend(Rank from, const Op &op,
               const std::vector<std::pair<uint32_t, const MessagePath *>> &payloads,
               const std::vector<Hop> &hops) {
    DagEditor &dag = editor(from);
    std::vector<Slice> sources;
    std::vector<EditId> after;
    for (const auto &[payload, path] : payloads) {
      auto held = held_.find({from, payload});
      const std::vector<Slice> &slices =
          held == held_.end() ? dag.sources(DagEditor::of(sendOf(*path))) : held->second.slices;
      sources.insert(sources.end(), slices.begin(), slices.end());
      if (held != held_.end())
        after.push_back(held->second.since);
    }
    EditId send = dag.add(op, std::move(sources), {}, kFront);
    for (EditId recv : after)
      dag.wait(send, recv);
    for (const auto &[payload, path] : payloads) {
      auto held = held_.find({from, payload});
      if (held != held_.end() && held->second.isTarget)
        keeps_.push_back({{from, held->second.since}, send});
    }
    for (const Hop &hop : hops)
      if (hop.number == 0) {
        EditId old = DagEditor::of(sendOf(paths_[hop.path]));
        for (const DagEditor::Wait &wait : dag.waits(old))
          dag.wait(send, wait.on, wait.kind);
        dag.replace(old, send);
      }
  }

  /// Adds the receive of one message. Payloads for this rank go where its own receive had them, the
  /// others into temporaries.
  void addRecv(Rank to, const Op &op,
               const std::vector<std::pair<uint32_t, const MessagePath *>> &payloads,
               const std::vector<Hop> &hops) {
    DagEditor &dag = editor(to);
    std::vector<Slice> targets;
    std::vector<EditId> replaced;
    std::vector<std::pair<uint32_t, Held>> arrived;
    for (const auto &[payload, path] : payloads) {
      Held held;
      for (const Hop &hop : hops) {
        const MessagePath &other = paths_[hop.path];
        if (other.payload != payload || other.ranks.size() != hop.number + 2)
          continue;
        EditId recv = DagEditor::of(ends(other).recv);
        held.slices = dag.targets(recv);
        held.isTarget = true;
        replaced.push_back(recv);
      }
      if (held.slices.empty())
        held.slices = addTemps(*path, dag);
      targets.insert(targets.end(), held.slices.begin(), held.slices.end());
      arrived.emplace_back(payload, std::move(held));
    }
    EditId recv = dag.add(op, {}, std::move(targets), kFront);
    for (EditId old : replaced) {
      for (const DagEditor::Wait &wait : dag.waits(old))
        dag.wait(recv, wait.on, wait.kind);
      dag.replace(old, recv);
    }
    for (auto &[payload, held] : arrived) {
      held.since = recv;
      held_.emplace(std::pair(to, payload), std::move(held));
    }
  }

  /// Adds temporaries with the coordinates of the payload's own buffers, so that its slices fit.
  std::vector<Slice> addTemps(const MessagePath &path, DagEditor &dag) {
    const Dag &origin = schedule_.ranks[index(ends(path).from)];
    std::vector<Slice> slices;
    for (Slice slice : origin.sources(origin.op(sendOf(path)))) {
      Buffer temp;
      temp.originScale = slice.beginScale;
      temp.originOffset = slice.beginOffset;
      temp.endScale = slice.endScale;
      temp.endOffset = slice.endOffset;
      temp.denominator = slice.denominator;
      temp.name = relayName_;
      temp.type = origin.bufferOf(slice).type;
      slice.buffer = dag.addBuffer(temp);
      slices.push_back(slice);
    }
    return slices;
  }

  /// Ops that overwrite what a rank passes on wait until it is sent: those that come after the
  /// receive and write to the same buffer.
  void keepUntilSent(Rank rank, EditId recv, EditId forward) {
    DagEditor &dag = editor(rank);
    std::vector<bool> after(dag.size(), false);
    after[index(recv)] = true;
    bool grows = true;
    while (grows) {
      grows = false;
      for (uint32_t i = 0; i < dag.size(); ++i)
        if (!after[i] && !dag.isDropped(EditId{i}))
          for (const DagEditor::Wait &wait : dag.waits(EditId{i}))
            if (after[index(wait.on)] || dag.standsFor(wait.on, recv))
              after[i] = grows = true;
    }
    auto touches = [&](EditId op) {
      for (const Slice &a : dag.targets(op))
        for (const Slice &b : dag.targets(recv))
          if (a.buffer == b.buffer)
            return true;
      return false;
    };
    for (uint32_t i = 0; i < dag.size(); ++i)
      if (after[i] && EditId{i} != recv && touches(EditId{i}))
        dag.wait(EditId{i}, forward);
  }

  static constexpr EditId kFront{0}; ///< new ops stand before it: they go first

  const Schedule &schedule_;
  const std::vector<MessageEnds> &messages_;
  const std::vector<MessagePath> &paths_;
  std::vector<DagEditor> editors_;
  std::map<Leg, std::vector<Hop>> legs_;
  std::map<std::pair<Rank, uint32_t>, Held> held_; ///< by rank and payload
  std::vector<std::pair<std::pair<Rank, EditId>, EditId>> keeps_;
  uint64_t newMessages_ = 0;
  uint32_t relayName_ = 0;
};

} // namespace

Result<Schedule> reroute(const Schedule &schedule, const std::vector<MessageEnds> &messages,
                         const std::vector<MessagePath> &paths) {
  return Rerouter(schedule, messages, paths).run();
}

} // namespace colldsl
