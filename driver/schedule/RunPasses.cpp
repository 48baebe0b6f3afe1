#include "driver/schedule/RunPasses.h"

#include "driver/schedule/BlockSizes.h"
#include "driver/schedule/MakeSchedule.h"
#include "ir/TextForm.h"
#include "verifier/Verifier.h"

#include "llvm/Support/FormatVariadic.h"

namespace colldsl::driver {
namespace {

class Watcher : public PassObserver {
public:
  Watcher(const ScheduleRequest &request, const std::vector<Sizes> &sizes, Sink &sink)
      : settings_(request.passes), stop_(request.instantiate.stop), sizes_(sizes), sink_(sink) {}

  Status ran(std::string_view pass, const DagOutcome &outcome, double seconds) override {
    printRemark(pass, outcome.remark, seconds);
    if (settings_.printAfterAll)
      show("// after " + std::string(pass) + ": " + outcome.remark + "\n" +
           printText(outcome.schedule));
    if (stop_ && stop_->load(std::memory_order_relaxed))
      return Status::error("the passes were stopped");
    if (!settings_.verifyEach)
      return {};
    proof::VerifyOptions how;
    how.stop = stop_;
    proof::VerifyReport report = proof::verify(outcome.schedule, sizes_, how);
    return report.proved() ? Status()
                           : Status::error("after " + std::string(pass) + ":\n" +
                                           describe(report, outcome.schedule));
  }

  Status bound(std::string_view pass, const BindOutcome &outcome, double seconds) override {
    printRemark(pass, outcome.remark, seconds);
    if (settings_.printAfterAll)
      show("// after " + std::string(pass) + ": " + outcome.remark + "\n");
    return {};
  }

private:
  void printRemark(std::string_view pass, const std::string &remark, double seconds) const {
    if (settings_.timePasses)
      show(llvm::formatv("{0}: {1:f3} ms; {2}\n", std::string(pass), seconds * 1e3, remark).str());
  }

  void show(const std::string &text) const { sink_.take(Severity::Note, text); }

  const PassRequest &settings_;
  const std::atomic<bool> *stop_; ///< null: the passes cannot be stopped
  const std::vector<Sizes> &sizes_;
  Sink &sink_;
};

constexpr const char *kHint = "--no-verify writes it nevertheless";

/// Proves `made`. If `before`, the schedule ahead of the DAG passes, fails as well, the error says
/// so; program passes, which fill tuning parameters, have run by then.
Status prove(const Schedule &made, const Schedule &before, const ScheduleRequest &request,
             const std::vector<Sizes> &sizes) {
  proof::VerifyOptions how;
  how.stop = request.instantiate.stop;
  proof::VerifyReport report = proof::verify(made, sizes, how);
  if (report.proved())
    return {};
  proof::VerifyReport old = proof::verify(before, sizes, how);
  if (!old.proved())
    return Status::error((request.passes.pipeline.has(PassKind::Program)
                              ? "with the values that passes chose:\n"
                              : "before the passes:\n") +
                         describe(old, before) + kHint);
  return Status::error("the passes made what is not proved; " + std::string(kHint) + ":\n" +
                       describe(report, made));
}

/// The seed of the lengths of blocks that are known at call time only. Any lengths serve.
constexpr uint64_t kSizesSeed = 1;

} // namespace

Status bindTuningParameters(Source &source, const Source::Target &target,
                            const ScheduleRequest &request, const Shape &shape, Call &call) {
  const Pipeline &pipeline = request.passes.pipeline;
  if (!pipeline.has(PassKind::Program))
    return {};
  if (target.schedule && pipeline.needsCollective())
    return Status::error("'" + target.name +
                         "' is a schedule: passes that bind tuning parameters need a collective");
  if (target.schedule)
    return {};
  InstantiateRequest instantiation = instantiationOf(target, request, call, shape);
  std::vector<Sizes> none;
  Watcher watcher(request, none, source.session().sink());
  Result<BindOutcome> outcome =
      pipeline.bind({source.program(), instantiation, request.machine.cost()}, &watcher);
  if (!outcome)
    return outcome.status();
  for (const ParameterBinding &binding : outcome->bindings)
    bindTo(binding, instantiation);
  call.arguments = std::move(instantiation.arguments);
  call.values = std::move(instantiation.values);
  if (outcome->leaders)
    call.leaders = outcome->leaders;
  return {};
}

Result<Schedule> runPasses(Schedule schedule, const ScheduleRequest &request, const Shape &shape,
                           Sink &sink) {
  const PassRequest &settings = request.passes;
  if (!settings.pipeline.has(PassKind::Dag) && !(settings.verifyMade && !settings.pipeline.empty()))
    return schedule;
  Result<std::vector<Sizes>> sizes = chooseSizes(schedule, shape.elements, kSizesSeed);
  if (!sizes)
    return sizes.status();
  Watcher watcher(request, *sizes, sink);
  Topology flat = Topology::flat(schedule.numRanks());
  const Topology &topology = shape.topology ? *shape.topology : flat;
  DagContext context{topology, *sizes, request.machine.cost()};
  if (!settings.verifyMade)
    return settings.pipeline.run(std::move(schedule), context, &watcher);
  Result<Schedule> made = settings.pipeline.run(schedule, context, &watcher);
  if (made)
    if (Status s = prove(*made, schedule, request, *sizes); !s)
      return s;
  return made;
}

} // namespace colldsl::driver
