#include "python/native/ChooseFunction.h"

#include "python/native/Work.h"

#include "driver/choice/ExplainedChoice.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::python {

using namespace driver;

std::string choose(const std::vector<std::string> &operands, const Asked<ChoiceRequest> &asked) {
  Workplace place;
  ChoiceRequest request = asked.request;
  std::string json, refusal;
  work({&place}, [&](const Watch &watch) {
    request.single.schedule.instantiate.stop = watch.stop;
    auto explained = chooseExplained(place.session, operands, request, refusal);
    if (!explained)
      return Ended::unchosen(refusal);
    llvm::raw_string_ostream(json) << llvm::json::Value(toJson(*explained));
    return Ended();
  });
  return json;
}

} // namespace colldsl::python
