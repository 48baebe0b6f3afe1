#include "python/native/PythonProgram.h"

#include "driver/choice/Functions.h"
#include "driver/library/ProgramContent.h"
#include "driver/proofs/ProveTarget.h"
#include "driver/schedule/MakeWorkload.h"
#include "driver/source/Effects.h"
#include "ir/TextForm.h"
#include "program/library/Library.h"

namespace colldsl::python {

using namespace driver;

namespace {

Ended failed(const Source &source, const Source::Target &target, const Status &status) {
  source.report(status.diagnostic(), target);
  return Ended::failed();
}

std::string_view spellingOf(ValueType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, phrase)                                                       \
  case ValueType::Name:                                                                            \
    return spelling;
#include "program/Types.def"
  }
  return "";
}

Parameter describe(const colldsl::Program &program, const Param &param) {
  Parameter described;
  described.name = program.nameOf(param);
  described.isBuffer = param.isBuffer;
  described.hasDefault = param.defaultValue != kNoExpr;
  if (!param.isBuffer) {
    described.kind = spellingOf(param.type);
    return described;
  }
  const BufferType &buffer = param.buffer;
  described.kind = spelling(param.role);
  described.type = buffer.generic ? "T" : spelling(buffer.type);
  const Dim &last = buffer.dim[buffer.dims - 1];
  described.countsRanks = buffer.dims == 2 && buffer.dim[0].kind == DimKind::Fixed &&
                          program.expr(buffer.dim[0].expr).kind == ExprKind::NumRanks;
  described.isOfN =
      last.kind == DimKind::Symbol && last.slot == 0 && (buffer.dims == 1 || described.countsRanks);
  return described;
}

Verified describe(const Summary &summary, const Source &source) {
  Verified verified{summary.target.name,
                    summary.ok(),
                    summary.proofs(),
                    summary.failed(),
                    summary.count(ProofOutcome::Kind::Excluded),
                    summary.range(source.program()),
                    summary.target.name + ": " + summary.words(source.program()),
                    {},
                    source.render(summary.vacuous, summary.target)};
  for (size_t i = 0; i < summary.tasks.size(); ++i) {
    const ProofTask &task = summary.tasks[i];
    if (summary.hasFailed(i))
      verified.counterexamples.push_back(
          {i, task.shape.ranks, task.bytes, task.shape.inPlace, task.call.words(), task.topology,
           source.render(summary.outcomes[i].why, summary.target), summary.outcomes[i].pattern});
  }
  return verified;
}

/// Refuses keywords that have no effect.
template <typename T>
Ended checked(const Asked<T> &asked, const Source &source, llvm::ArrayRef<Source::Target> targets,
              const ScheduleRequest &schedule, Purpose purpose = Purpose::Make) {
  Status s = checkEffects(asked.fields, source, targets, schedule, purpose);
  return s ? Ended() : Ended::misused(s.message());
}

Ended proveAll(Source &source, const Asked<ProofRequest> &asked, const Watch &watch,
               std::vector<Verified> &verified) {
  const ProofRequest &request = asked.request;
  std::vector<Source::Target> targets = chooseToProve(source, request);
  if (targets.empty() || !usedAllSettings(source, targets, request.schedule))
    return Ended::failed();
  if (Ended ended = checked(asked, source, targets, request.schedule); ended.errorClass)
    return ended;
  Proofs all(source, request, watch);
  for (const Source::Target &target : targets) {
    Result<Summary> summary = proveTarget(all, source, target, watch);
    if (!summary)
      return failed(source, target, summary.status());
    verified.push_back(describe(*summary, source));
  }
  return {};
}

std::vector<LevelCount> trafficOf(const SimulatedJob &job) {
  std::vector<LevelCount> counts;
  std::span<const sim::LevelTraffic> levels = job.workload.traffic.levels();
  for (size_t i = 0; i < levels.size(); ++i) {
    sim::Crossing crossing = sim::crossingAt(*job.plan.topology, i);
    counts.push_back({std::string(crossing.crossed), std::string(crossing.within),
                      levels[i].messages, sim::decimal(levels[i].bytes)});
  }
  return counts;
}

Ended simulateOne(Source &source, const Asked<SimulationRequest> &asked, const Watch &watch,
                  Simulated &simulated) {
  SimulationRequest request = asked.request;
  SingleRequest &single = request.single;
  single.schedule.instantiate.stop = watch.stop;
  ChosenTarget choice = chooseOne(source, single);
  if (!choice.target)
    return Ended::unchosen(choice.refusal);
  const Source::Target &target = *choice.target;
  if (Ended ended = checked(asked, source, target, single.schedule, Purpose::Simulate);
      ended.errorClass)
    return ended;
  const sim::SimulateOptions model = request.model();
  Result<SimulatedJob> job = makeWorkload(source, target, single, model, /*contract=*/false);
  if (!job)
    return failed(source, target, job.status());
  Result<sim::Outcome> outcome = simulateJob(*job, model, target.name, watch);
  if (!outcome)
    return failed(source, target, outcome.status());
  simulated = {target.name,     job->plan.bytes, std::move(outcome->finish), outcome->makespan,
               outcome->events, outcome->ops,    outcome->messages,          trafficOf(*job)};
  return {};
}

Ended makeOne(Source &source, const Asked<MakeRequest> &asked, const Watch &watch,
              Result<Schedule> &made) {
  MakeRequest request = asked.request;
  request.schedule.instantiate.stop = watch.stop;
  ChosenTarget choice = chooseOne(source, request);
  if (!choice.target)
    return Ended::unchosen(choice.refusal);
  if (Ended ended = checked(asked, source, *choice.target, request.schedule); ended.errorClass)
    return ended;
  made = makeProved(source, *choice.target, request);
  return made ? Ended() : failed(source, *choice.target, made.status());
}

Ended encode(Source &source, const std::optional<std::string> &name,
             std::vector<std::byte> &bytes) {
  ProofRequest request;
  if (name)
    request.schedule.names = {*name};
  std::vector<Source::Target> targets = chooseToProve(source, request);
  if (targets.empty())
    return Ended::failed();
  for (const Source::Target &target : targets)
    if (target.schedule)
      return Ended::misused("'" + target.name + "' is a schedule, not a collective");
  LibraryContent content;
  content.rules = source.rules();
  addProgram(source, targets, content);
  bytes = encodeLibrary(content);
  return {};
}

} // namespace

std::shared_ptr<Program> Program::read(const std::vector<std::string> &operands,
                                       const Asked<SingleRequest> &reading) {
  auto program = std::make_shared<Program>();
  InputForm form;
  form.allowsWildcards = true; // for the simulator
  program->remarks_ = program->work([&](const Watch &) {
    program->source_ =
        Source::read(program->place_.session, operands, reading.request.schedule, form);
    return program->source_ ? Ended() : Ended::failed();
  });
  return program;
}

std::shared_ptr<Program> Program::ofText(const std::string &name, const std::string &text,
                                         const Asked<SingleRequest> &reading,
                                         const std::vector<File> &files,
                                         const std::vector<Place> &places) {
  ScheduleRequest schedule = reading.request.schedule;
  Origins &origins = schedule.compile.origins;
  for (const auto &[fileName, content] : files)
    origins.files.push_back({fileName, content});
  for (auto [line, file, place, column] : places)
    if (file < files.size())
      origins.places[line] = {place, column, file};
  auto program = std::make_shared<Program>();
  program->remarks_ = program->work([&](const Watch &) {
    program->source_ = Source::ofText(program->place_.session, name, text, schedule);
    return program->source_ ? Ended() : Ended::failed();
  });
  return program;
}

std::vector<std::string> Program::collectives() {
  std::vector<std::string> names;
  work([&](const Watch &) {
    std::vector<Source::Target> targets = source_->choose({});
    expandFunctions(*source_, targets);
    for (const Source::Target &target : targets)
      names.push_back(target.name);
    return targets.empty() ? Ended::failed() : Ended();
  });
  return names;
}

std::vector<Parameter> Program::parameters(const std::string &name) {
  std::vector<Parameter> parameters;
  work([&](const Watch &) {
    ScheduleRequest only;
    only.names = {name};
    std::vector<Source::Target> targets = source_->choose(only);
    expandFunctions(*source_, targets);
    auto one = std::find_if(targets.begin(), targets.end(),
                            [&](const Source::Target &t) { return t.collective != kNoDecl; });
    if (one == targets.end())
      return Ended::failed();
    const Decl &decl = source_->program().decl(one->collective);
    for (const Param &param : decl.params)
      parameters.push_back(describe(source_->program(), param));
    for (const AliasClause &alias : decl.aliases)
      parameters[alias.param].isAliased = true;
    return Ended();
  });
  return parameters;
}

std::shared_ptr<Program> Program::instantiate(const Asked<MakeRequest> &asked) {
  auto schedule = std::make_shared<Program>();
  schedule->remarks_ =
      asked.warnings + work([&](const Watch &watch) {
        Result<Schedule> made = Schedule();
        if (Ended ended = makeOne(*source_, asked, watch, made); ended.errorClass)
          return ended;
        schedule->source_ = Source::of(schedule->place_.session, made.take());
        return schedule->source_ ? Ended() : Ended::failed(schedule->place_.messages.release());
      });
  return schedule;
}

std::vector<Verified> Program::verify(const Asked<ProofRequest> &asked) {
  std::vector<Verified> verified;
  work([&](const Watch &watch) { return proveAll(*source_, asked, watch, verified); });
  return verified;
}

Simulated Program::simulate(const Asked<SimulationRequest> &asked) {
  Simulated simulated;
  work([&](const Watch &watch) { return simulateOne(*source_, asked, watch, simulated); });
  return simulated;
}

py::bytes Program::library(const std::optional<std::string> &name) {
  std::vector<std::byte> bytes;
  work([&](const Watch &) { return encode(*source_, name, bytes); });
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string Program::text() {
  std::string text;
  work([&](const Watch &) {
    std::vector<Source::Target> targets = source_->choose({});
    text = printText(*targets.front().schedule);
    return Ended();
  });
  return text;
}

Shape Program::shape() {
  Shape shape;
  work([&](const Watch &) {
    std::vector<Source::Target> targets = source_->choose({});
    const Schedule &schedule = *targets.front().schedule;
    const SizeClass &sizes = schedule.sizeClass;
    shape = {schedule.name, schedule.numRanks(), sizes.elements, sizes.min, sizes.max, {}};
    for (const Dag &dag : schedule.ranks)
      shape.ops.push_back(dag.ops.size());
    return Ended();
  });
  return shape;
}

} // namespace colldsl::python
