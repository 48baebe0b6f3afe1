#include "verifier/DiagnosticNames.h"

namespace colldsl::proof {

std::string peerWord(Rank rank) {
  return rank == kNoRank ? "no rank" : std::to_string(index(rank));
}

std::string rankWord(Rank rank) { return "rank " + peerWord(rank); }

std::string counted(uint64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string> &items, size_t most) {
  std::string text;
  for (size_t i = 0; i < items.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > most)
    text += " and " + std::to_string(items.size() - most) + " more";
  return text;
}

const std::string &DiagnosticNames::bufferName(Rank rank, BufferId buffer) const {
  static const std::string nameless = "?";
  const Schedule &schedule = model_.schedule();
  const Dag &dag = model_.dag(rank);
  if (index(buffer) >= dag.buffers.size())
    return nameless;
  uint32_t name = dag.buffers[index(buffer)].name;
  return name < schedule.names.size() ? schedule.names[name] : nameless;
}

std::string faultWords(Fault fault, const std::string &buffer) {
  switch (fault) {
  case Fault::None:
    break;
  case Fault::NoBuffer:
    return "names a buffer that does not exist";
  case Fault::NotSignificant:
    return "touches " + buffer + ", which is significant on other ranks only";
  case Fault::NoBlock:
    return "names a block that " + buffer + " does not have";
  case Fault::PartOfBlock:
    return "touches a part of a block of " + buffer + ", whose length travels with its messages";
  case Fault::NoSizes:
    return "touches " + buffer + ", the sizes of whose blocks were not given";
  case Fault::Outside:
    return "leaves its buffer " + buffer;
  }
  return "";
}

std::string DiagnosticNames::range(Rank rank, BufferId buffer, uint64_t begin, uint64_t end) const {
  uint64_t elementBytes = sizeBytes(model_.dag(rank).buffers[index(buffer)].type);
  bool whole = begin % elementBytes == 0 && end % elementBytes == 0;
  uint64_t unit = whole ? elementBytes : 1;
  std::string text = whole ? "[" : "[bytes ";
  return text + std::to_string(begin / unit) + ".." + std::to_string(end / unit) + "]";
}

std::string DiagnosticNames::bytes(Rank rank, BufferId root, uint64_t begin, uint64_t end) const {
  return bufferName(rank, root) + range(rank, root, begin, end);
}

std::string DiagnosticNames::entry(Rank rank, BufferId root, uint64_t begin, uint64_t end) const {
  const Dag &dag = model_.dag(rank);
  for (uint32_t b = 0; b < dag.buffers.size(); ++b) {
    BufferRole role = dag.buffers[b].role;
    Area area = placement_.whole(rank, BufferId{b});
    bool holds = role == BufferRole::In || role == BufferRole::InOut;
    if (holds && area.root == root && area.begin <= begin && end <= area.end)
      return bufferName(rank, BufferId{b}) +
             range(rank, BufferId{b}, begin - area.begin, end - area.begin) + "@" + peerWord(rank);
  }
  return bytes(rank, root, begin, end) + "@" + peerWord(rank);
}

std::string DiagnosticNames::slice(Rank rank, const Slice &slice) const {
  std::string name = bufferName(rank, slice.buffer);
  if (slice.block != kNoBlock)
    name += "[block " + std::to_string(slice.block) + "]";
  Area area = placement_.locate(rank, slice);
  if (area.fault != Fault::None || slice.block != kNoBlock)
    return name;
  uint64_t start = placement_.whole(rank, slice.buffer).begin;
  return name + range(rank, slice.buffer, area.begin - start, area.end - start);
}

std::string DiagnosticNames::slices(Rank rank, std::span<const Slice> all) const {
  std::vector<std::string> items;
  for (const Slice &s : all)
    items.push_back(slice(rank, s));
  return all.size() == 1 ? items[0] : "[" + listed(items, 4) + "]";
}

std::string DiagnosticNames::payload(Vertex v, std::span<const Slice> all) const {
  return all.empty() ? counted(model_.op(v).amount, "byte") : slices(model_.rankOf(v), all);
}

std::string DiagnosticNames::op(Vertex v) const {
  Rank rank = model_.rankOf(v);
  const Dag &dag = model_.dag(rank);
  const Op &op = model_.op(v);
  std::string verb(spelling(op.kind));
  switch (op.kind) {
  case OpKind::Send:
    return verb + " " + payload(v, dag.sources(op)) + " to " + peerWord(op.peer);
  case OpKind::Recv:
    return verb + " " + payload(v, dag.targets(op)) + " from " + peerWord(op.peer);
  case OpKind::Signal:
    return verb + " to " + peerWord(op.peer);
  case OpKind::Wait:
    return verb + " from " + peerWord(op.peer);
  case OpKind::Copy:
    return verb + " " + slices(rank, dag.sources(op)) + " to " + slices(rank, dag.targets(op));
  case OpKind::Combine:
    return verb + " " + slices(rank, dag.sources(op)) + " into " + slices(rank, dag.targets(op)) +
           " " + std::string(spelling(op.reduction)) + " " + std::string(spelling(op.side));
  case OpKind::Calc:
    return verb + " " + std::to_string(op.amount) + "ns";
  }
  return verb;
}

std::string DiagnosticNames::opOfRank(Vertex v) const {
  SourceLoc loc = model_.op(v).loc;
  std::string line = loc.known() ? " (line " + std::to_string(loc.line) + ")" : "";
  return rankWord(model_.rankOf(v)) + "'s " + op(v) + line;
}

} // namespace colldsl::proof
