#include "driver/requests/ChoiceRequest.h"

#include "driver/Lists.h"

namespace colldsl::driver {

void ChoiceRequest::addTo(Fields &fields) {
  fields.section("for which call");
  single.addCall(fields, "where the ranks sit (default: flat, all on one node)");
  single.schedule.addElements(fields);
  fields.addParsed(
      "--root", "R", "the root, of a function that has one (default: 0)", root,
      [](llvm::StringRef text) { return parseNumber32(text, 0, UINT32_MAX); },
      [](uint32_t rank) { return std::to_string(rank); });
  fields.addFlag("--oversubscribed", "as if the ranks had fewer cores than there are ranks",
                 oversubscribed);
  fields.addFlag("--multicast", "as if the network could send to several ranks at once",
                 single.multicast);
  fields.addFlag("--tcp", "as if messages between nodes went over TCP or UDP", single.tcp);
  fields.section("by which rules");
  fields.addText("--rules", "FILE",
                 "rules that choose, in place of those of the standard library and of\n"
                 "the machine profile",
                 rules) = completionOfFiles({".rules"});
  single.schedule.addInclude(fields);
  single.schedule.machine.addTo(fields);
}

} // namespace colldsl::driver
