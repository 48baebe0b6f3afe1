#include "driver/proofs/ProveTarget.h"

#include "driver/Workers.h"
#include "driver/choice/Functions.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::driver {

std::vector<Source::Target> chooseToProve(Source &source, const ProofRequest &request) {
  std::vector<Source::Target> targets = source.choose(request.schedule);
  expandFunctions(source, targets);
  return targets;
}

Result<Summary> proveTarget(Proofs &proofs, const Source &source, const Source::Target &target,
                            const Watch &watch) {
  Result<std::vector<ProofTask>> tasks = proofs.plan(target);
  if (!tasks)
    return tasks.status();
  Summary summary;
  summary.target = target;
  summary.tasks = tasks.take();
  summary.mayBeVacuous = !proofs.request().schedule.settings.empty();
  summary.isAsWritten = proofs.request().schedule.passes.pipeline.empty();
  summary.outcomes.resize(summary.tasks.size());
  Steps steps(watch, target.name, summary.tasks.size());
  forEachInParallel(summary.tasks.size(), [&](size_t i) {
    if (watch.isStopped())
      return;
    summary.outcomes[i] = proofs.prove(target, summary.tasks[i]);
    steps.step();
  });
  if (watch.isStopped())
    return Status::error("the proofs were stopped");
  summary.findPromisesOfNothing(source.program());
  return summary;
}

} // namespace colldsl::driver
