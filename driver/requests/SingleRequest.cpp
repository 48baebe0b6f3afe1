#include "driver/requests/SingleRequest.h"

#include "driver/Lists.h"

namespace colldsl::driver {

void SingleRequest::addTo(Fields &fields, std::string topologyHelp) {
  addCall(fields, std::move(topologyHelp));
  schedule.addTo(fields);
}

void SingleRequest::addCall(Fields &fields, std::string topologyHelp) {
  auto word = [](uint64_t number) { return std::to_string(number); };
  fields.addParsed(
      "-n", "N", "number of ranks; a schedule from a file has its own", ranks,
      [](llvm::StringRef text) { return parseNumber32(text, 1, UINT32_MAX - 1); }, word);
  fields.keyword("ranks");
  fields.addParsed("--bytes", "N", "n times the size of T (default: 64KiB)", bytes, parseBytes,
                   word);
  fields.addText("--topology", "T", std::move(topologyHelp), schedule.topology) =
      completionOfTopology();
  fields.addFlag("--in-place", "the form in place, of a collective that has one", schedule.inPlace);
}

} // namespace colldsl::driver
