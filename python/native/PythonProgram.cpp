#include "python/native/PythonProgram.h"

#include "python/native/ChooseProofs.h"

#include "ir/TextForm.h"
#include "program/library/Library.h"
#include "tools/library/ProgramContent.h"
#include "tools/output/Convert.h"
#include "tools/sim/DisturbanceOptions.h"
#include "tools/sim/MakeWorkload.h"

namespace colldsl::python {

using namespace tools;

namespace {

Outcome report(const Source &source, const Source::Target &target, const Status &status) {
  source.report(status.diagnostic(), target);
  return Exit::Failure;
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

Outcome proveAll(Source &source, const Words &words, const std::atomic<bool> &stop,
                 std::vector<Verified> &verified) {
  ProofOptions proofs;
  std::vector<Source::Target> targets;
  if (Outcome exit = chooseProofs(source, words, stop, proofs, targets))
    return exit;
  if (targets.empty() || !usedAllSettings(source, targets, proofs.schedule))
    return Exit::Failure;
  Proofs all(source, proofs.schedule, proofs.request);
  for (const Source::Target &target : targets) {
    Result<Summary> summary = proveTarget(all, source, target, proofs, &stop);
    if (!summary)
      return report(source, target, summary.status());
    verified.push_back(describe(*summary, source));
  }
  return std::nullopt;
}

Outcome simulateOne(Source &source, const Words &words, const std::atomic<bool> &stop,
                    Simulated &simulated) {
  SingleOptions single;
  DisturbanceOptions disturbance;
  Options options("sim", "", "");
  single.addTo(options, "");
  single.schedule.machine.addLettersTo(options);
  disturbance.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  single.schedule.contract = single.schedule.passes.verifyEach;
  single.schedule.instantiate.stop = &stop;
  Source::Target target;
  if (Outcome exit = chooseOne(options, single, source, target))
    return exit;
  Result<sim::SimulateOptions> model = disturbance.make(single.schedule.machine.cost());
  if (!model)
    return report(source, target, model.status());
  Result<SimulatedJob> job = makeWorkload(source, target, single, *model);
  if (!job)
    return report(source, target, job.status());
  model->topology = job->plan.topology.get();
  model->watch = [&](uint64_t, uint64_t) { return !stop; };
  Result<sim::Outcome> outcome = sim::simulate(job->workload, *model);
  if (!outcome)
    return report(source, target, outcome.status());
  simulated = {target.name,     job->plan.bytes, std::move(outcome->finish), outcome->makespan,
               outcome->events, outcome->ops,    outcome->messages};
  return std::nullopt;
}

Outcome makeSchedule(Source &source, const Words &words, const std::atomic<bool> &stop,
                     std::unique_ptr<Source> &made) {
  SingleOptions single;
  Options options("opt", "", "");
  single.addTo(options, "");
  single.schedule.passes.addProofTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  single.schedule.instantiate.stop = &stop;
  Source::Target target;
  if (Outcome exit = chooseOne(options, single, source, target))
    return exit;
  Result<Schedule> schedule = makeConverted(source, target, single);
  if (!schedule)
    return report(source, target, schedule.status());
  made = Source::of(schedule.take());
  return made ? Outcome() : Exit::Failure;
}

Outcome encode(Source &source, const Words &words, std::vector<std::byte> &bytes) {
  ScheduleOptions schedule;
  Options options("compile", "", "");
  schedule.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  std::vector<Source::Target> targets = source.choose(schedule);
  expandFunctions(source, targets);
  if (targets.empty())
    return Exit::Failure;
  for (const Source::Target &target : targets)
    if (target.schedule)
      return options.refuse("'" + target.name + "' is a schedule, not a collective");
  LibraryContent content;
  content.rules = source.rules();
  addProgram(source, targets, content);
  bytes = encodeLibrary(content);
  return std::nullopt;
}

/// Reads with the options for reading: folders of imports, and limits.
template <typename Read>
Outcome readWith(const Words &words, std::unique_ptr<Source> &source, Read read) {
  SingleOptions single;
  Options options("load", "", "");
  single.schedule.text.allowWildcards = true; // of GOAL, for the simulator
  single.addTo(options, "");
  if (Outcome exit = parse(options, words))
    return exit;
  source = read(single.schedule);
  return source ? Outcome() : Exit::Failure;
}

} // namespace

template <typename Body> std::string Program::work(Body body) {
  return python::work({&mutex_}, body);
}

std::shared_ptr<Program> Program::read(const Words &operands, const Words &words) {
  auto program = std::make_shared<Program>();
  program->remarks_ = program->work([&](const std::atomic<bool> &) {
    return readWith(words, program->source_,
                    [&](ScheduleOptions &schedule) { return Source::read(operands, schedule); });
  });
  return program;
}

std::shared_ptr<Program> Program::ofText(const std::string &name, const std::string &text,
                                         const Words &words, const std::vector<File> &files,
                                         const std::vector<Place> &places) {
  Origins origins;
  for (const auto &[fileName, content] : files)
    origins.files.push_back({fileName, content});
  for (auto [line, file, place, column] : places)
    if (file < files.size())
      origins.places[line] = {place, column, file};
  auto program = std::make_shared<Program>();
  program->remarks_ = program->work([&](const std::atomic<bool> &) {
    return readWith(words, program->source_, [&](ScheduleOptions &schedule) {
      schedule.compile.origins = std::move(origins);
      return Source::ofText(name, text, schedule);
    });
  });
  return program;
}

std::vector<std::string> Program::collectives() {
  std::vector<std::string> names;
  work([&](const std::atomic<bool> &) {
    std::vector<Source::Target> targets = source_->choose({});
    expandFunctions(*source_, targets);
    for (const Source::Target &target : targets)
      names.push_back(target.name);
    return targets.empty() ? Outcome(Exit::Failure) : Outcome();
  });
  return names;
}

std::vector<Parameter> Program::parameters(const std::string &name) {
  std::vector<Parameter> parameters;
  work([&](const std::atomic<bool> &) {
    ScheduleOptions only;
    only.names = {name};
    std::vector<Source::Target> targets = source_->choose(only);
    expandFunctions(*source_, targets);
    auto one = std::find_if(targets.begin(), targets.end(),
                            [&](const Source::Target &t) { return t.collective != kNoDecl; });
    if (one == targets.end())
      return Outcome(Exit::Failure);
    const Decl &decl = source_->program().decl(one->collective);
    for (const Param &param : decl.params)
      parameters.push_back(describe(source_->program(), param));
    for (const AliasClause &alias : decl.aliases)
      parameters[alias.param].isAliased = true;
    return Outcome();
  });
  return parameters;
}

std::shared_ptr<Program> Program::instantiate(const Words &words) {
  auto schedule = std::make_shared<Program>();
  schedule->remarks_ = work([&](const std::atomic<bool> &stop) {
    return makeSchedule(*source_, words, stop, schedule->source_);
  });
  return schedule;
}

std::vector<Verified> Program::verify(const Words &words) {
  std::vector<Verified> verified;
  work([&](const std::atomic<bool> &stop) { return proveAll(*source_, words, stop, verified); });
  return verified;
}

Simulated Program::simulate(const Words &words) {
  Simulated simulated;
  work(
      [&](const std::atomic<bool> &stop) { return simulateOne(*source_, words, stop, simulated); });
  return simulated;
}

py::bytes Program::library(const Words &words) {
  std::vector<std::byte> bytes;
  work([&](const std::atomic<bool> &) { return encode(*source_, words, bytes); });
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string Program::text() {
  std::string text;
  work([&](const std::atomic<bool> &) {
    std::vector<Source::Target> targets = source_->choose({});
    text = printText(*targets.front().schedule);
    return Outcome();
  });
  return text;
}

Shape Program::shape() {
  Shape shape;
  work([&](const std::atomic<bool> &) {
    std::vector<Source::Target> targets = source_->choose({});
    const Schedule &schedule = *targets.front().schedule;
    const SizeClass &sizes = schedule.sizeClass;
    shape = {schedule.name, schedule.numRanks(), sizes.elements, sizes.min, sizes.max, {}};
    for (const Dag &dag : schedule.ranks)
      shape.ops.push_back(dag.ops.size());
    return Outcome();
  });
  return shape;
}

} // namespace colldsl::python
