#include "python/native/ChooseFunction.h"

#include "tools/choose/ExplainedChoice.h"
#include "tools/input/ErrorMessages.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::python {

using namespace tools;

std::string choose(const Words &operands, const Words &words) {
  std::string json;
  work({}, [&](const std::atomic<bool> &stop) -> Outcome {
    ChooseOptions settings;
    Options options("choose", "", "");
    settings.addTo(options);
    if (Outcome exit = parse(options, words))
      return exit;
    settings.single.schedule.instantiate.stop = &stop;
    std::unique_ptr<Source> source = Source::read(operands, settings.single.schedule);
    if (!source)
      return Exit::Failure;
    if (source->names().size() != 1 || !source->isProgram())
      return options.refuse("name one function, such as bcast, and no schedule");
    Result<ExplainedChoice> explained = explainChoice(*source, source->names().front(), settings);
    if (!explained) {
      printWithNotes(explained.status().diagnostic());
      return Exit::Failure;
    }
    llvm::raw_string_ostream(json) << llvm::json::Value(toJson(*explained));
    return std::nullopt;
  });
  return json;
}

} // namespace colldsl::python
