#include "driver/requests/PassRequest.h"

#include "compiler/Spelling.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::driver {
namespace {

std::string nearestOf(std::string_view word, const std::vector<std::string_view> &words) {
  std::vector<llvm::StringRef> refs;
  for (std::string_view known : words)
    refs.emplace_back(known.data(), known.size());
  return nearestWord({word.data(), word.size()}, refs).str();
}

/// "fuse", "edge-coloring{algorithm=", "edge-coloring{algorithm=optimal}".
std::vector<std::string> passWords() {
  std::vector<std::string> words{"default"};
  for (const PassInfo &info : allPasses()) {
    const std::string name(info.name);
    words.push_back(name);
    std::unique_ptr<Pass> pass = info.make();
    PassOptions options = pass->options();
    for (const PassOptions::Option &option : options.all()) {
      std::string begin = name + "{" + std::string(option.name) + "=";
      if (option.words.empty())
        words.push_back(begin);
      for (std::string_view word : option.words)
        words.push_back(begin + std::string(word) + "}");
    }
  }
  return words;
}

} // namespace

void PassRequest::addTo(Fields &fields) {
  fields.section("passes");
  fields.addParsed(
      "--passes", "LIST",
      "passes to run, such as edge-coloring{algorithm=optimal},fuse;\n"
      "docs/passes.md tells of all",
      pipeline,
      [](llvm::StringRef text) {
        return Pipeline::parse({text.data(), text.size()}, nearestOf);
      },
      [](const Pipeline &passes) { return passes.text(); }) = completionOfList(passWords());
  fields.addFlag("--print-after-all", "show what each pass made, on the standard error",
                 printAfterAll);
  fields.addFlag("--time-passes", "tell what each pass did, and how long it took", timePasses);
  fields.addFlag("--verify-each", "prove the schedule again after each pass", verifyEach);
  fields.addCheck([this, &fields](Sink &) {
    return pipeline.empty()
               ? fields.refuseGiven({"--print-after-all", "--time-passes", "--verify-each"},
                                    "there is no pass: name some with --passes")
               : Status();
  });
}

void PassRequest::addProofTo(Fields &fields) {
  fields.addFlag("--no-verify", "write what passes made without a proof", verifyMade, false);
}

} // namespace colldsl::driver
