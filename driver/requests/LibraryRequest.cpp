#include "driver/requests/LibraryRequest.h"

#include "driver/Lists.h"
#include "ir/Ranges.h"

namespace colldsl::driver {

LibraryRequest::LibraryRequest() {
  proofs.variety = {};
  proofs.bytes = {64 << 10};
  proofs.schedule.retypes = true;
}

void LibraryRequest::addTo(Fields &fields) {
  fields.addFlag("--stdlib", "also every collective of the standard library", stdlib);
  fields.addText("--rules", "FILE",
                 "which collective serves a function when (default: the standard library's\n"
                 "rules for the functions that are named); one a line, the first that\n"
                 "fits is taken: FUNCTION [ranks A..B] [bytes A..B] [nodes A..B]\n"
                 "[types T,T] [commutative] [oversubscribed] use COLLECTIVE [NAME=VALUE]...",
                 rules) = completionOfFiles({".rules"});
  fields.section("ready images");
  fields.addParsed(
      "--ranks", "LIST", "for these numbers of ranks; none: no images", proofs.ranks,
      [](llvm::StringRef text) { return parseRanks(text, 1); }, rangesWord);
  fields.addParsed("--bytes", "LIST", "and these sizes (default: 64KiB)", proofs.bytes,
                   parseBytesList, listWord);
  fields.add(
      "--topology", "T",
      "where the ranks sit (default: flat, all on one node; what looks at nodes\n"
      "or sockets is also proved on several other machines)",
      [this](llvm::StringRef text) {
        proofs.schedule.topology = text.str();
        proofs.variesMachine = false;
        return Status();
      },
      [this] {
        return proofs.variesMachine ? std::vector<std::string>()
                                    : std::vector{proofs.schedule.topology};
      }) = completionOfTopology();
  fields.addFlag("--no-verify", "write images without proving them", prove, false);
  addAs(fields, form);
  proofs.schedule.addNoWarn(fields);
  proofs.schedule.addTo(fields);
  fields.addCheck([this, &fields](Sink &) {
    if (!proofs.schedule.passes.pipeline.empty()) // the image is their result for one machine
      proofs.variesMachine = false;
    if (fields.isGiven("--type"))
      type = proofs.schedule.type;
    return Status();
  });
}

} // namespace colldsl::driver
