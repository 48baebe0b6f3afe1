#include "tools/input/ChooseSingle.h"

#include "driver/source/Effects.h"

#include "tools/input/ErrorMessages.h"

namespace colldsl::tools {

std::optional<Exit> chooseSingle(const Options &options, const SingleRequest &single,
                                 Purpose purpose, const InputForm &form,
                                 std::unique_ptr<Source> &source, Source::Target &target) {
  source = Source::read(session(), options.operands(), single.schedule, form);
  if (!source)
    return Exit::Failure;
  ChosenTarget choice = chooseOne(*source, single);
  if (!choice.target)
    return choice.refusal.empty() ? Exit::Failure : options.refuse(choice.refusal);
  target = std::move(*choice.target);
  bool isFine = usesAllGiven(options, *source, target, single.schedule, purpose);
  return isFine ? std::nullopt : std::optional(Exit::Failure);
}

} // namespace colldsl::tools
