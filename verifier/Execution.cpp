#include "verifier/Execution.h"

#include "verifier/Alignment.h"
#include "verifier/Checks.h"
#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <unordered_map>

// A send reads its values at its start; every other op writes its targets at its finish. In a
// race-free schedule no other op writes what an op reads, or touches what it writes, from its start
// to its finish, which includes these moments (docs/verifier.md, Races).

namespace colldsl::proof {
namespace {

struct Payload {
  std::vector<Piece> pieces;
  std::vector<Length> parts; ///< bytes of the slices that it was gathered from

  /// Adds a piece. Bytes that continue the last piece become part of it.
  void append(Piece piece) {
    if (!pieces.empty()) {
      Piece &last = pieces.back();
      bool goesOn = last.value.node == piece.value.node &&
                    last.value.position + last.length == piece.value.position;
      Decisions::note(goesOn);
      if (goesOn) {
        last.length += piece.length;
        return;
      }
    }
    pieces.push_back(piece);
  }

  uint64_t total() const {
    uint64_t bytes = 0;
    for (const Length &part : parts)
      bytes += part.units;
    return bytes;
  }
};

class Execution : Check {
public:
  Execution(const EventGraph &graph, const Placement &placement, const DiagnosticNames &names,
            Values &values, State &state, Failures &failures, Usefulness *usefulness)
      : Check(graph.model(), placement, names, failures), graph_(graph), values_(values),
        state_(state), usefulness_(usefulness) {}

  bool run(std::span<const Event> order) {
    for (Event e : order) {
      if (sizesFail_ || failures_.full())
        return !sizesFail_;
      if (isStart(e))
        startOp(vertexOf(e));
      else
        finishOp(vertexOf(e));
    }
    return !sizesFail_;
  }

private:
  void startOp(Vertex v) {
    if (graph_.sends(v) && exists(graph_.partnerOf(v)) && !placement_.sources(v).empty())
      gather(v, slices(v, false), placement_.sources(v), inFlight_[v]);
  }

  void finishOp(Vertex v) {
    switch (model_.op(v).kind) {
    case OpKind::Recv:
      return receive(v);
    case OpKind::Copy:
      return copy(v);
    case OpKind::Combine:
      return combine(v);
    case OpKind::Send:
    case OpKind::Signal:
    case OpKind::Wait:
    case OpKind::Calc:
      return;
    }
  }

  void receive(Vertex v) {
    Vertex sender = graph_.partnerOf(v);
    if (!exists(sender))
      return;
    auto sent = inFlight_.extract(sender); // nothing of a message without slices, as GOAL has
    Payload payload = sent ? std::move(sent.mapped()) : Payload();
    checkParts(v, payload);
    deliver(v, payload);
  }

  /// A list with blocks of capacity is distributed slice by slice.
  void checkParts(Vertex v, const Payload &payload) {
    std::span<const Area> areas = placement_.targets(v);
    auto open = [](const Area &area) { return area.hasCapacity; };
    if (std::none_of(areas.begin(), areas.end(), open))
      return;
    for (size_t i = 0; i < areas.size() && !sizesFail_; ++i)
      if (!areas[i].hasCapacity && areas[i].length() != payload.parts[i].units)
        failSizes(v, payload.parts[i].units, areas[i].length());
  }

  void copy(Vertex v) {
    Payload payload;
    gather(v, slices(v, false), placement_.sources(v), payload);
    deliver(v, payload);
  }

  void combine(Vertex v) {
    Payload incoming, present;
    gather(v, slices(v, false), placement_.sources(v), incoming);
    gather(v, slices(v, true), placement_.targets(v), present);
    if (sizesFail_)
      return;
    if (incoming.total() != present.total())
      return failSizes(v, incoming.total(), present.total());
    if (model_.lengths()) {
      checkAlignment(v, incoming.parts, present.parts);
      checkElements(v, present.parts);
    }
    const Payload &left = model_.op(v).side == Side::Before ? incoming : present;
    const Payload &right = model_.op(v).side == Side::Before ? present : incoming;
    deliver(v, combined(v, left, right));
  }

  /// Combines piece by piece, cutting both operands where either continues with its next piece.
  Payload combined(Vertex v, const Payload &left, const Payload &right) {
    const Op &op = model_.op(v);
    Payload result;
    result.parts = left.parts;
    size_t l = 0, r = 0;
    uint64_t inLeft = 0, inRight = 0;
    bool torn = false;
    while (l < left.pieces.size() && r < right.pieces.size()) {
      const Piece &a = left.pieces[l], &b = right.pieces[r];
      uint64_t length = smaller(a.length - inLeft, b.length - inRight);
      torn |= length % sizeBytes(op.type) != 0;
      Value value =
          values_.combine(op.reduction, op.type, a.value.tail(inLeft), b.value.tail(inRight), v);
      result.append({torn ? Value() : value, length});
      inLeft = (inLeft + length) % a.length;
      inRight = (inRight + length) % b.length;
      l += inLeft == 0;
      r += inRight == 0;
    }
    if (torn)
      failAt(Proof::Contract, v, " combines elements whose bytes come from different places");
    return result;
  }

  std::span<const Slice> slices(Vertex v, bool targets) const {
    const Dag &dag = model_.dag(model_.rankOf(v));
    return targets ? dag.targets(model_.op(v)) : dag.sources(model_.op(v));
  }

  void gather(Vertex v, std::span<const Slice> slices, std::span<const Area> areas,
              Payload &payload) {
    Rank rank = model_.rankOf(v);
    bool reported = false;
    for (size_t i = 0; i < areas.size() && !sizesFail_; ++i) {
      Area area = areas[i].hasCapacity ? currentArea(v, slices[i]) : areas[i];
      payload.parts.push_back({area.length(), lengthOf(v, slices[i], areas[i])});
      if (area.empty())
        continue;
      state_.visit(rank, area, [&](uint64_t begin, uint64_t end, const Held *held) {
        payload.append({held ? held->value : Value(), end - begin});
        if (usefulness_ && held)
          usefulness_->addRead(v, held->writer);
        if (!held && !reported)
          reportUnwritten(v, area.root, begin, end);
        reported |= !held;
      });
    }
  }

  /// The length of a slice's block. For a block of capacity: of the data that it holds now.
  LengthId lengthOf(Vertex v, const Slice &slice, const Area &area) const {
    Rank rank = model_.rankOf(v);
    if (!area.hasCapacity || !model_.lengths())
      return model_.lengthOf(rank, slice);
    std::optional<Length> elements = state_.blockElements(rank, slice);
    return elements ? elements->id : kFixedLength;
  }

  /// For proofs of all lengths: if data go from block to block at these lengths, they do at all
  /// lengths. Else the run holds for these lengths only, or fails.
  void checkAlignment(Vertex v, std::span<const Length> sources, std::span<const Length> targets) {
    switch (alignmentOf(sources, targets)) {
    case Alignment::Same:
      return;
    case Alignment::Shifted:
      return holdForTheseLengthsOnly(v, " moves blocks to places between other blocks");
    case Alignment::Unequal:
      return fail(Proof::Matching, v, " gets blocks of other lengths than those it has room for");
    }
  }

  /// Elements of a combine must not cross from one block into another, nor beyond the last one.
  void checkElements(Vertex v, std::span<const Length> targets) {
    std::span<const Slice> into = slices(v, true);
    for (size_t i = 0; i < into.size(); ++i) {
      uint32_t bytes = sizeBytes(model_.dag(model_.rankOf(v)).bufferOf(into[i]).type);
      if (targets[i].id != kFixedLength && bytes % sizeBytes(model_.op(v).type) != 0)
        holdForTheseLengthsOnly(v, " combines longer elements than its blocks have");
    }
  }

  void holdForTheseLengthsOnly(Vertex v, const char *why) {
    state_.holdForTheseLengthsOnly(names_.opOfRank(v) + why);
  }

  /// Bytes of a slice of a capacity block at the length that the block has now.
  Area currentArea(Vertex v, const Slice &slice) {
    std::optional<Length> elements = state_.blockElements(model_.rankOf(v), slice);
    if (!elements) {
      fail(Proof::Writes, v,
           " needs the length of " + names_.slice(model_.rankOf(v), slice) +
               ", where nothing has arrived");
      return {};
    }
    if (elements->id != kFixedLength && !isWholeBlock(slice))
      holdForTheseLengthsOnly(v, " divides a block");
    Area area = placement_.locateInBlock(model_.rankOf(v), slice, elements->units);
    if (area.fault != Fault::None)
      fail(Proof::Writes, v, " leaves " + names_.slice(model_.rankOf(v), slice));
    return area;
  }

  void deliver(Vertex v, const Payload &payload) {
    if (sizesFail_)
      return;
    targets_.assign(placement_.targets(v).begin(), placement_.targets(v).end());
    uint64_t room = 0;
    for (size_t i = 0; i < targets_.size() && !sizesFail_; ++i) {
      if (targets_[i].hasCapacity)
        targets_[i] = arrivalArea(v, i, payload);
      room += targets_[i].length();
    }
    if (!sizesFail_ && room != payload.total())
      failSizes(v, payload.total(), room);
    if (!sizesFail_ && model_.lengths())
      checkAlignment(v, payload.parts, lengthsOfTargets(v));
    if (!sizesFail_)
      store(v, payload);
  }

  std::vector<Length> lengthsOfTargets(Vertex v) const {
    std::vector<Length> lengths;
    for (size_t i = 0; i < targets_.size(); ++i)
      lengths.push_back(
          {targets_[i].length(), lengthOf(v, slices(v, true)[i], placement_.targets(v)[i])});
    return lengths;
  }

  /// The target block takes the length of the data that arrived for it.
  Area arrivalArea(Vertex v, size_t i, const Payload &payload) {
    const Slice &slice = slices(v, true)[i];
    if (model_.op(v).kind == OpKind::Combine)
      return currentArea(v, slice);
    size_t count = targets_.size();
    if (count != 1 && payload.parts.size() != count) {
      fail(Proof::Matching, v, " cannot tell how long each of its blocks is");
      return {};
    }
    const Area &capacity = placement_.targets(v)[i];
    uint64_t bytes = count == 1 ? payload.total() : payload.parts[i].units;
    LengthId id = count == payload.parts.size() ? payload.parts[i].id : lengthOfAll(v, payload);
    uint64_t elementBytes = sizeBytes(model_.dag(model_.rankOf(v)).bufferOf(slice).type);
    if (bytes > capacity.length() || bytes % elementBytes != 0) {
      failSizes(v, bytes, capacity.length());
      return {};
    }
    if (id != kFixedLength && model_.lengths()->most(id) == UINT64_MAX)
      holdForTheseLengthsOnly(v,
                              " puts a block of any length where there is room for some elements");
    state_.setBlockElements(model_.rankOf(v), slice, {bytes / elementBytes, id}, v);
    return placement_.locateInBlock(model_.rankOf(v), slice, bytes / elementBytes);
  }

  /// The length of a payload that one block takes as a whole. Fixed: a proof of all lengths cannot
  /// follow a sum of lengths, so it is restricted to these.
  LengthId lengthOfAll(Vertex v, const Payload &payload) {
    auto isChosen = [](const Length &part) { return part.id != kFixedLength; };
    if (std::any_of(payload.parts.begin(), payload.parts.end(), isChosen))
      holdForTheseLengthsOnly(v, " makes one block of several");
    return kFixedLength;
  }

  void store(Vertex v, const Payload &payload) {
    size_t t = 0;
    uint64_t inTarget = 0;
    for (Piece rest : payload.pieces)
      while (rest.length > 0) {
        while (inTarget == targets_[t].length()) {
          ++t;
          inTarget = 0;
        }
        uint64_t length = smaller(rest.length, targets_[t].length() - inTarget);
        if (usefulness_)
          compare(v, targets_[t].root, targets_[t].begin + inTarget, {rest.value, length});
        state_.write(model_.rankOf(v), targets_[t].root, targets_[t].begin + inTarget,
                     {rest.value, length}, v);
        rest = {rest.value.tail(length), rest.length - length};
        inTarget += length;
      }
  }

  /// Tells Usefulness how the bytes differ from those that they overwrite.
  void compare(Vertex v, BufferId root, uint64_t begin, const Piece &piece) {
    Area area = placement_.whole(model_.rankOf(v), root);
    area.begin = begin;
    area.end = begin + piece.length;
    state_.visit(model_.rankOf(v), area, [&](uint64_t from, uint64_t, const Held *held) {
      Value written = piece.value.tail(from - begin);
      bool isSame =
          held && held->value.node == written.node && held->value.position == written.position;
      usefulness_->addWrite(v, held ? held->writer : kNoVertex, isSame);
    });
  }

  void reportUnwritten(Vertex v, BufferId root, uint64_t begin, uint64_t end) {
    std::string where = names_.bytes(model_.rankOf(v), root, begin, end);
    failures_.add({Proof::Writes,
                   names_.opOfRank(v) + " reads " + where + ", which nothing has written",
                   {failures_.step(v, names_.op(v) + " reads " + where)}});
  }

  void failSizes(Vertex v, uint64_t arrived, uint64_t room) {
    fail(Proof::Matching, v,
         " gets " + counted(arrived, "byte") + ", but has room for " + counted(room, "byte"));
  }

  void fail(Proof proof, Vertex v, const std::string &what) {
    sizesFail_ = true;
    Failure failure{proof, names_.opOfRank(v) + what, {}};
    if (Vertex partner = graph_.partnerOf(v); exists(partner) && !graph_.sends(v))
      failure.steps.push_back(failures_.step(partner, names_.op(partner)));
    failure.steps.push_back(failures_.step(v, names_.op(v)));
    failures_.add(std::move(failure));
  }

  const EventGraph &graph_;
  Values &values_;
  State &state_;
  Usefulness *usefulness_;                       // or null
  std::unordered_map<Vertex, Payload> inFlight_; // by send
  std::vector<Area> targets_;                    // of the op at hand
  bool sizesFail_ = false;
};

} // namespace

bool execute(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
             const DiagnosticNames &names, Values &values, State &state, Failures &failures,
             Usefulness *usefulness) {
  return Execution(graph, placement, names, values, state, failures, usefulness).run(order);
}

} // namespace colldsl::proof
