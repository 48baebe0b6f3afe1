#include "python/native/Program.h"

#include "ir/TextForm.h"
#include "runtime/Library.h"
#include "tools/input/Functions.h"
#include "tools/library/ProgramContent.h"
#include "tools/options/ErrorStream.h"
#include "tools/output/Convert.h"
#include "tools/sim/DisturbanceOptions.h"
#include "tools/sim/MakeWorkload.h"
#include "tools/verify/ProveTarget.h"

#include <future>

namespace colldsl::python {

using namespace tools;
using Outcome = std::optional<Exit>; ///< nothing: all is well

namespace {

/// The options of a command, and whether the words set them.
Outcome parse(Options &options, const Words &words) {
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  return options.parse({arguments});
}

/// What a body printed, and how it ended.
struct Ended {
  Outcome exit;
  std::string printed;
};

template <typename Body> Ended captured(Body body) {
  CapturedErrors errors;
  Outcome exit = body();
  return {exit, errors.text()};
}

std::string raiseOrTake(Ended ended) {
  if (!ended.exit)
    return std::move(ended.printed);
  while (!ended.printed.empty() && ended.printed.back() == '\n')
    ended.printed.pop_back();
  raise(*ended.exit == Exit::Usage ? "ArgumentError" : "ProgramError", ended.printed);
}

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
      verified.counterexamples.push_back({task.shape.ranks, task.bytes, task.shape.inPlace,
                                          task.call.words(),
                                          source.render(summary.outcomes[i].why, summary.target)});
  }
  return verified;
}

Outcome proveAll(Source &source, const Words &words, const std::atomic<bool> &stop,
                 std::vector<Verified> &verified) {
  ProofOptions proofs;
  Options options("verify", "", "");
  proofs.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  std::vector<Source::Target> targets = source.choose(proofs.schedule);
  expandFunctions(source, targets);
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

Outcome simulateOne(Source &source, const Words &words, Simulated &simulated) {
  SingleOptions single;
  DisturbanceOptions disturbance;
  Options options("sim", "", "");
  single.addTo(options, "");
  single.schedule.machine.addLettersTo(options);
  disturbance.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  single.schedule.contract = single.schedule.passes.verifyEach;
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
  Result<sim::Outcome> outcome = sim::simulate(job->workload, *model);
  if (!outcome)
    return report(source, target, outcome.status());
  simulated = {target.name,     job->plan.bytes, std::move(outcome->finish), outcome->makespan,
               outcome->events, outcome->ops,    outcome->messages};
  return std::nullopt;
}

Outcome makeSchedule(Source &source, const Words &words, std::unique_ptr<Source> &made) {
  SingleOptions single;
  Options options("opt", "", "");
  single.addTo(options, "");
  single.schedule.passes.addProofTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
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

/// Reads with the options that say how: where imports are, and the limits.
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
  Ended ended;
  {
    py::gil_scoped_release released;
    std::lock_guard lock(mutex_);
    ended = captured(body);
  }
  return raiseOrTake(std::move(ended));
}

std::unique_ptr<Program> Program::read(const Words &operands, const Words &words) {
  auto program = std::make_unique<Program>();
  program->remarks_ = program->work([&] {
    return readWith(words, program->source_, [&](const ScheduleOptions &schedule) {
      return Source::read(operands, schedule);
    });
  });
  return program;
}

std::unique_ptr<Program> Program::ofText(const std::string &name, const std::string &text,
                                         const Words &words) {
  auto program = std::make_unique<Program>();
  program->remarks_ = program->work([&] {
    return readWith(words, program->source_, [&](const ScheduleOptions &schedule) {
      return Source::ofText(name, text, schedule);
    });
  });
  return program;
}

std::vector<std::string> Program::collectives() {
  std::vector<std::string> names;
  work([&] {
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
  work([&] {
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

std::unique_ptr<Program> Program::instantiate(const Words &words) {
  auto schedule = std::make_unique<Program>();
  schedule->remarks_ = work([&] { return makeSchedule(*source_, words, schedule->source_); });
  return schedule;
}

std::vector<Verified> Program::verify(const Words &words) {
  std::vector<Verified> verified;
  std::atomic<bool> stop{false};
  auto proofs = std::async(std::launch::async, [&] {
    std::lock_guard lock(mutex_);
    return captured([&] { return proveAll(*source_, words, stop, verified); });
  });
  constexpr std::chrono::milliseconds kInterval{50};
  while (true) {
    {
      py::gil_scoped_release released;
      if (proofs.wait_for(kInterval) == std::future_status::ready)
        break;
    }
    if (PyErr_CheckSignals() != 0) {
      stop = true;
      py::gil_scoped_release released;
      proofs.wait();
      break;
    }
  }
  if (stop)
    throw py::error_already_set();
  raiseOrTake(proofs.get());
  return verified;
}

Simulated Program::simulate(const Words &words) {
  Simulated simulated;
  work([&] { return simulateOne(*source_, words, simulated); });
  return simulated;
}

py::bytes Program::library(const Words &words) {
  std::vector<std::byte> bytes;
  work([&] { return encode(*source_, words, bytes); });
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string Program::text() {
  std::string text;
  work([&] {
    std::vector<Source::Target> targets = source_->choose({});
    text = printText(*targets.front().schedule);
    return Outcome();
  });
  return text;
}

Shape Program::shape() {
  Shape shape;
  work([&] {
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
