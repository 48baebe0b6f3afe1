#include "python/native/Shown.h"

#include "python/native/ChooseProofs.h"

#include "tools/input/ErrorMessages.h"
#include "tools/show/FailurePage.h"
#include "tools/sim/DisturbanceOptions.h"

#include <algorithm>

namespace colldsl::python {

using namespace tools;

namespace {

bool areAlike(const sim::NetworkOptions &a, const sim::NetworkOptions &b) {
  return a.kind == b.kind && a.dims == b.dims;
}

Outcome addRun(Source &source, const Words &words, const std::atomic<bool> &stop,
               show::Document &document) {
  SingleOptions single;
  single.takesImages = true;
  DisturbanceOptions disturbance;
  Options options("show", "", "");
  single.addTo(options, "");
  single.schedule.machine.addLettersTo(options);
  disturbance.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  single.schedule.instantiate.stop = &stop;
  Source::Target target;
  if (Outcome exit = chooseOne(options, single, source, target))
    return exit;
  Result<sim::SimulateOptions> model = disturbance.make(single.schedule.machine.cost());
  if (!model)
    return report(model.status());
  model->watch = [&](uint64_t, uint64_t) { return !stop; };
  const sim::NetworkOptions &network = single.schedule.machine.cost().network;
  if (document.schedules.empty())
    document.network = network;
  else if (!areAlike(document.network, network))
    return report(Status::error("runs on different networks cannot be shown on one page"));
  Status status = addSimulated(document, source, target, single, *model, "");
  if (!status)
    source.report(status.diagnostic(), target);
  return status ? Outcome() : Exit::Failure;
}

Outcome makeFailure(Source &source, const Words &words, const std::string &collective, size_t task,
                    const std::atomic<bool> &stop, show::Document &document) {
  ProofOptions proofs;
  std::vector<Source::Target> targets;
  if (Outcome exit = chooseProofs(source, words, stop, proofs, targets))
    return exit;
  auto target = std::find_if(targets.begin(), targets.end(),
                             [&](const Source::Target &t) { return t.name == collective; });
  if (target == targets.end())
    return Exit::Failure;
  Proofs all(source, proofs.schedule, proofs.request);
  Result<std::vector<ProofTask>> tasks = all.plan(*target);
  if (!tasks)
    return report(tasks.status());
  if (task >= tasks->size())
    return report(Status::error("there are " + std::to_string(tasks->size()) + " proofs"));
  Result<show::Document> made =
      failureDocument(source, *target, all, (*tasks)[task], proofs.request);
  if (!made)
    return report(made.status());
  document = made.take();
  return std::nullopt;
}

} // namespace

template <typename Body> void Shown::work(Body body) const {
  std::vector<std::timed_mutex *> locks;
  for (const std::shared_ptr<Program> &program : programs_)
    locks.push_back(&program->mutex());
  python::work(std::move(locks), body);
}

std::unique_ptr<Shown> Shown::ofRuns(const std::vector<ShownPart> &parts, const Words &words) {
  auto shown = std::make_unique<Shown>();
  for (const ShownPart &part : parts)
    shown->programs_.push_back(part.program);
  shown->work([&](const std::atomic<bool> &stop) -> Outcome {
    PageOptions page;
    Options options("show", "", "");
    page.addTo(options);
    if (Outcome exit = parse(options, words))
      return exit;
    show::Document &document = shown->document_;
    document.view = page.view;
    document.maxEvents = page.maxEvents;
    for (const ShownPart &part : parts)
      if (Outcome exit = addRun(part.program->source(), part.words, stop, document))
        return exit;
    document.title = titleOf(document);
    return report(show::checkView(document));
  });
  return shown;
}

std::unique_ptr<Shown> Shown::ofProof(std::shared_ptr<Program> program, const Words &proof,
                                      const std::string &collective, size_t task) {
  auto shown = std::make_unique<Shown>();
  shown->programs_.push_back(std::move(program));
  shown->work([&](const std::atomic<bool> &stop) {
    return makeFailure(shown->programs_.front()->source(), proof, collective, task, stop,
                       shown->document_);
  });
  return shown;
}

std::string Shown::html() const {
  std::string page;
  work([&](const std::atomic<bool> &) {
    llvm::raw_string_ostream out(page);
    show::writeHtml(document_, out);
    return Outcome();
  });
  return page;
}

std::string Shown::svg(const Words &words) {
  std::string picture;
  work([&](const std::atomic<bool> &) -> Outcome {
    PageOptions page;
    page.view = document_.view;
    Options options("show", "", "");
    page.addTo(options);
    if (Outcome exit = parse(options, words))
      return exit;
    if (!show::hasSvg(page.view))
      return options.refuse("the view '" + page.view + "' is a table, and no picture");
    std::string view = std::exchange(document_.view, page.view);
    Status status = show::checkView(document_);
    llvm::raw_string_ostream out(picture);
    if (status)
      status = show::writeSvg(document_, page.svg, out);
    document_.view = view;
    return report(status);
  });
  return picture;
}

} // namespace colldsl::python
