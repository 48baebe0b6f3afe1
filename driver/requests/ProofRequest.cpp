#include "driver/requests/ProofRequest.h"

#include "driver/Lists.h"
#include "ir/Ranges.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::driver {

void ProofRequest::addShapes(Fields &fields, std::string ranksHelp, std::string bytesHelp,
                             std::string topologyHelp) {
  fields.addParsed(
      "--ranks", "LIST", std::move(ranksHelp), ranks,
      [](llvm::StringRef text) { return parseRanks(text, 1); }, rangesWord);
  fields.addParsed("--bytes", "LIST", std::move(bytesHelp), bytes, parseBytesList, listWord);
  fields.add(
      "--topology", "T", std::move(topologyHelp),
      [this](llvm::StringRef text) {
        schedule.topology = text.str();
        variesMachine = false;
        return Status();
      },
      [this] {
        return variesMachine ? std::vector<std::string>() : std::vector{schedule.topology};
      }) = completionOfTopology();
}

void ProofRequest::addTo(Fields &fields) {
  fields.section("what to prove");
  addShapes(fields, "numbers of ranks, such as 1..64 or 1,2,5..8 (default: 1..17)",
            "sizes, such as 8,64KiB; n times the size of T\n"
            "(default: 0, one element, and 40009 elements)",
            "where the ranks sit (default: flat, all on one node, and several other\n"
            "machines for collectives that look at nodes or sockets)");
  fields.add(
      "--roots", "LIST",
      "values of the parameter `root`: ranks, or all\n"
      "(default: all of up to 8 ranks, of more 0, 1, P/2 and P - 1)",
      [this](llvm::StringRef text) -> Status {
        variety.everyRoot = text == "all";
        Result<std::vector<uint32_t>> roots = parseRanks(text, 0);
        if (!roots && !variety.everyRoot)
          return roots.status();
        if (roots)
          variety.roots = roots.take();
        return {};
      },
      [this] {
        if (variety.everyRoot)
          return std::vector<std::string>{"all"};
        return variety.roots.empty() ? std::vector<std::string>()
                                     : std::vector{rangesWord(variety.roots)};
      }) = completionOf({"all"});
  fields.addFlag("--in-place", "only the forms in place", onlyInPlace);
  fields.addFlag("--thorough",
                 "more values: tunable parameters at their ends with each root, other lengths\n"
                 "of blocks, another irregular graph",
                 variety.thorough);
  schedule.addTo(fields);
  fields.addCheck([this, &fields](Sink &) {
    bool isSet = llvm::any_of(schedule.settings, [](const auto &s) { return s.name == "root"; });
    return isSet ? fields.refuseGiven({"--roots"}, "--set gives root its value") : Status();
  });
  fields.section("how");
  fields.addNumber("--channel-slots", "N",
                   "messages in flight between two ranks in the check\n"
                   "with finite buffers (default: 8)",
                   verify.channelSlots);
  fields.addNumber("--seed", "N", "of the lengths of blocks known at call time only", seed);
  fields.addNumber("--max-failures", "N", "failures per counterexample (default: 10)",
                   verify.maxFailures, 1);
  schedule.addNoWarn(fields);
}

} // namespace colldsl::driver
