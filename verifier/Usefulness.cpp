#include "verifier/Usefulness.h"

#include "verifier/MessageDepths.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace colldsl::proof {

void Usefulness::spread() {
  while (!open_.empty()) {
    Vertex v = open_.back();
    open_.pop_back();
    if (!changes_[index(v)]) { // readers see the values of the ops that it repeats
      for (Vertex before : replaces_[index(v)])
        reach(before);
      continue;
    }
    for (Vertex writer : reads_[index(v)])
      reach(writer);
    Vertex sender = graph_.sends(v) ? kNoVertex : graph_.partnerOf(v);
    if (exists(sender)) {
      changes_[index(sender)] = true;
      reach(sender);
    }
  }
}

bool Usefulness::counts(Vertex v) const {
  switch (graph_.model().op(v).kind) {
  case OpKind::Recv:
    return exists(graph_.partnerOf(v));
  case OpKind::Copy:
  case OpKind::Combine:
    return !reads_[index(v)].empty() || !replaces_[index(v)].empty() || changes_[index(v)];
  case OpKind::Send: // its receive stands for both
  case OpKind::Signal:
  case OpKind::Wait:
  case OpKind::Calc:
    return false;
  }
  return false;
}

void Usefulness::addPlaces(Waste &waste) const {
  auto key = [](const SourceLoc &l) { return std::tuple(l.file, l.line, l.column); };
  std::map<std::tuple<uint16_t, uint32_t, uint16_t>, Waste::Place> places;
  for (uint32_t i = 0; i < isReached_.size(); ++i) {
    Vertex v{i};
    const Op &op = graph_.model().op(v);
    if (!op.loc.known() || !counts(v))
      continue;
    Waste::Place &place = places[key(op.loc)];
    place.loc = op.loc;
    place.kind = op.kind;
    ++place.ops;
    place.useless += !isUseful(v);
    place.repeating += !changes_[i];
  }
  for (const auto &[_, place] : places)
    waste.places.push_back(place);
}

void Usefulness::addDepths(Waste &waste, std::span<const Event> order) const {
  std::vector<uint32_t> depths = messageDepths(graph_, order);
  for (uint32_t i = 0; i < depths.size(); ++i) {
    Vertex v{i};
    bool isMessage = colldsl::isMessage(graph_.model().op(v).kind) && exists(graph_.partnerOf(v));
    if (!isMessage)
      continue;
    waste.depth = std::max(waste.depth, depths[i]);
    OpKind kind = graph_.model().op(v).kind;
    if (kind == OpKind::Signal || kind == OpKind::Wait || isUseful(v))
      waste.usefulDepth = std::max(waste.usefulDepth, depths[i]);
  }
}

Waste Usefulness::waste(std::span<const Event> order) {
  spread();
  Waste waste;
  addPlaces(waste);
  addDepths(waste, order);
  return waste;
}

} // namespace colldsl::proof
