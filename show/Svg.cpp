#include "show/Svg.h"

#include "show/SvgViews.h"

#include <cmath>

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

std::string sizeWords(uint64_t bytes) {
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && value >= 1024; ++unit)
    value /= 1024;
  bool isWhole = value == std::floor(value) || value >= 100;
  return llvm::formatv(isWhole ? "{0:f0} {1}" : "{0:f1} {1}", value, kUnits[unit]).str();
}

bool hasSvg(llvm::StringRef view) { return view != "compare"; }

Status writeSvg(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out) {
  const ShownSchedule &first = document.schedules.front();
  if (document.view == "provenance")
    return drawProvenance(document, choice, out);
  if (document.view == "failure")
    return drawFailure(document, choice, out);
  if (document.view == "dag" && choice.rank >= first.ranks)
    return Status::error("--rank " + std::to_string(choice.rank) +
                         ": the schedule has ranks 0 to " + std::to_string(first.ranks - 1));
  if (document.view == "matrix")
    drawMatrix(document, out);
  else if (document.view == "graph")
    drawGraph(document, out);
  else if (document.view == "links")
    drawLinks(document, out);
  else if (document.view == "dag")
    drawDag(document, choice.rank, out);
  else
    drawSpaceTime(document, out);
  return {};
}

} // namespace colldsl::show
