#include "tools/show/PageOptions.h"

#include "tools/options/Lists.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <vector>

namespace colldsl::tools {
namespace {

constexpr uint64_t kMostEvents = 16'000'000;

constexpr llvm::StringLiteral kViews[] = {"space-time", "matrix",     "graph",  "dag",
                                          "links",      "provenance", "compare"};

} // namespace

void PageOptions::addTo(Options &options) {
  options.add("--view", "V",
              "where the page opens: space-time (the default), matrix, graph, dag, links (of a\n"
              "--network), provenance, compare",
              [this](llvm::StringRef word) {
                view = word.str();
                return llvm::is_contained(kViews, word)
                           ? Status()
                           : Status::error("'" + view + "' is no view; there are " +
                                           llvm::join(llvm::ArrayRef(kViews), ", "));
              }) = completionOf(std::vector<llvm::StringRef>(std::begin(kViews), std::end(kViews)));
  options.addNumber("--max-events", "N",
                    "ops and messages that are shown one by one; of more, sums per\n"
                    "interval of time (default: 1200000)",
                    maxEvents, 1, kMostEvents);
  options.addNumber("--rank", "R", "whose ops --svg --view dag draws (default: 0)", svg.rank);
  addChoiceTo(options);
}

Status PageOptions::check(const Options &options, bool isSvg, llvm::StringRef shown) const {
  if (!isSvg)
    return options.refuseGiven({"--rank", "--round", "--buffer"},
                               "it chooses what --svg draws, of a page the reader chooses");
  if (shown != "dag")
    if (Status s = options.refuseGiven({"--rank"}, "the view '" + shown + "' shows all ranks"); !s)
      return s;
  if (shown != "provenance" && shown != "failure")
    if (Status s = options.refuseGiven({"--round", "--buffer"},
                                       "the view '" + shown + "' shows no buffers");
        !s)
      return s;
  return {};
}

void PageOptions::addChoiceTo(Options &options) {
  options.add("--round", "R",
              "after which round --svg shows what buffers hold (default: all rounds side by\n"
              "side, of many twelve)",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> number = parseNumber(text, 0, UINT32_MAX);
                if (!number)
                  return number.status();
                svg.round = static_cast<uint32_t>(*number);
                return {};
              });
  options.addText("--buffer", "NAME", "of which buffer (default: the first result)", svg.buffer);
}

} // namespace colldsl::tools
