#include "driver/requests/PageRequest.h"

#include "driver/Lists.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <vector>

namespace colldsl::driver {
namespace {

constexpr uint64_t kMostEvents = 16'000'000;

constexpr llvm::StringLiteral kViews[] = {"space-time", "matrix",     "graph",  "dag",
                                          "links",      "provenance", "compare"};

Result<std::string> viewNamed(llvm::StringRef word) {
  if (llvm::is_contained(kViews, word))
    return word.str();
  return Status::error("'" + word.str() + "' is no view; there are " +
                       llvm::join(llvm::ArrayRef(kViews), ", "));
}

} // namespace

void PageRequest::addTo(Fields &fields) {
  fields.addParsed(
      "--view", "V",
      "where the page opens: space-time (the default), matrix, graph, dag, links (of a\n"
      "--network), provenance, compare",
      view, viewNamed, [](const std::string &name) { return name; }) =
      completionOf(std::vector<llvm::StringRef>(std::begin(kViews), std::end(kViews)));
  fields.addNumber("--max-events", "N",
                   "ops and messages that are shown one by one; of more, sums per\n"
                   "interval of time (default: 1200000)",
                   maxEvents, 1, kMostEvents);
  fields.addNumber("--rank", "R", "whose ops --svg --view dag draws (default: 0)", svg.rank);
  addChoiceTo(fields);
}

Status PageRequest::check(const Fields &fields, bool isSvg, llvm::StringRef shown) {
  if (!isSvg)
    return fields.refuseGiven({"--rank", "--round", "--buffer"},
                              "it chooses what --svg draws, of a page the reader chooses");
  if (shown != "dag")
    if (Status s = fields.refuseGiven({"--rank"}, "the view '" + shown + "' shows all ranks"); !s)
      return s;
  if (shown != "provenance" && shown != "failure")
    if (Status s = fields.refuseGiven({"--round", "--buffer"},
                                      "the view '" + shown + "' shows no buffers");
        !s)
      return s;
  return {};
}

void PageRequest::addChoiceTo(Fields &fields) {
  fields.addParsed(
      "--round", "R",
      "after which round --svg shows what buffers hold (default: all rounds side by\n"
      "side, of many twelve)",
      svg.round, [](llvm::StringRef text) { return parseNumber32(text, 0, UINT32_MAX); },
      [](uint32_t round) { return std::to_string(round); });
  fields.addText("--buffer", "NAME", "of which buffer (default: the first result)", svg.buffer);
}

} // namespace colldsl::driver
