#include "show/Svg.h"

#include "show/SvgViews.h"

namespace colldsl::show {

std::string opName(const Op &op) {
  std::string name(spelling(op.kind));
  if (!isMessage(op.kind))
    return name;
  name += sendsMessage(op.kind) ? " to " : " from ";
  return name + (op.peer == kNoRank ? "any rank" : "rank " + std::to_string(index(op.peer)));
}

const char *classOf(OpKind kind) {
  return sendsMessage(kind) ? "send" : receivesMessage(kind) ? "receive" : "local";
}

bool hasSvg(llvm::StringRef view) {
  return view == "space-time" || view == "matrix" || view == "graph" || view == "dag";
}

Status writeSvg(const Document &document, uint32_t rank, llvm::raw_ostream &out) {
  const ShownSchedule &first = document.schedules.front();
  if (document.view == "matrix") {
    drawMatrix(document, out);
  } else if (document.view == "graph") {
    drawGraph(document, out);
  } else if (document.view == "dag") {
    if (!first.ops)
      return Status::error("--view dag: the schedule has more ops and messages than --max-events");
    if (rank >= first.ranks)
      return Status::error("--rank " + std::to_string(rank) + ": the schedule has ranks 0 to " +
                           std::to_string(first.ranks - 1));
    drawDag(document, rank, out);
  } else {
    drawSpaceTime(document, out);
  }
  return {};
}

} // namespace colldsl::show
