#include "verifier/EmptyMessages.h"

#include <algorithm>

namespace colldsl::proof {

bool travels(const Model &model, const Placement &placement, Vertex send, LengthId nonEmpty) {
  std::span<const Area> areas = placement.sources(send);
  if (!model.lengths() || areas.empty())
    return true;
  Rank rank = model.rankOf(send);
  std::span<const Slice> slices = model.dag(rank).sources(model.op(send));
  for (size_t i = 0; i < areas.size(); ++i) {
    LengthId id = model.lengths()->idOf(rank, slices[i]);
    bool isFilled = id == kFixedLength ? !areas[i].empty() : id == nonEmpty;
    if (areas[i].hasCapacity || isFilled)
      return true;
  }
  return false;
}

Messages thoseAlwaysSent(const Model &model, const Placement &placement, const Messages &messages) {
  Messages sent;
  sent.count = messages.count;
  sent.partner.grow(model.numVertices());
  std::fill(sent.partner.begin(), sent.partner.end(), kNoVertex);
  for (uint32_t v = 0; v < model.numVertices(); ++v) {
    Vertex send{v}, recv = messages.partnerOf(send);
    if (!exists(recv) || !sendsMessage(model.op(send).kind) ||
        !travels(model, placement, send, kFixedLength))
      continue;
    sent.partner[index(send)] = recv;
    sent.partner[index(recv)] = send;
  }
  return sent;
}

} // namespace colldsl::proof
