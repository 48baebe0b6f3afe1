#include "driver/requests/LibraryRequest.h"

namespace colldsl::driver {

LibraryRequest::LibraryRequest() {
  proofs.variety = {};
  proofs.bytes = {64 << 10};
}

void LibraryRequest::addTo(Fields &fields) {
  fields.addFlag("--stdlib", "also every collective of the standard library", stdlib);
  fields.addText(
      "--rules", "FILE",
      "which collective serves a function when (default: the standard library's\n"
      "rules for the functions that are named); one a line, the first that\n"
      "fits is taken: FUNCTION [ranks A..B] [bytes A..B] [nodes A..B]\n"
      "[total A..B] [pernode A..B] [types T,T] [commutative] [oversubscribed] [multicast] [tcp]\n"
      "use COLLECTIVE [NAME=VALUE]...",
      rules) = completionOfFiles({".rules"});
  fields.section("ready images");
  proofs.addShapes(fields, "for these numbers of ranks; none: no images",
                   "and these sizes (default: 64KiB)",
                   "where the ranks sit (default: flat, all on one node; what looks at nodes\n"
                   "or sockets is also proved on several other machines)");
  fields.addFlag("--no-verify", "write images without proving them", prove, false);
  addAs(fields, form);
  proofs.schedule.addNoWarn(fields);
  proofs.schedule.addTo(fields);
  fields.addCheck([this](Sink &) {
    if (!proofs.schedule.passes.pipeline.empty()) // the image is their result for one machine
      proofs.variesMachine = false;
    return Status();
  });
}

} // namespace colldsl::driver
