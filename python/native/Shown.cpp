#include "python/native/Shown.h"

#include "driver/choice/Functions.h"
#include "driver/draw/FailurePage.h"
#include "driver/proofs/ProveTarget.h"
#include "show/Page.h"

#include <algorithm>

namespace colldsl::python {

using namespace driver;

namespace {

bool areAlike(const sim::NetworkOptions &a, const sim::NetworkOptions &b) {
  return a.kind == b.kind && a.dims == b.dims;
}

Ended endOf(const Status &status) {
  return status ? Ended() : Ended::failed("colldsl: error: " + status.message());
}

Ended addRun(Source &source, SimulationRequest request, const Watch &watch,
             show::Document &document) {
  SingleRequest &single = request.single;
  single.schedule.instantiate.stop = watch.stop;
  ChosenTarget choice = chooseOne(source, single);
  if (!choice.target)
    return Ended::unchosen(choice.refusal);
  const sim::NetworkOptions &network = single.schedule.machine.cost().network;
  if (document.schedules.empty())
    document.network = network;
  else if (!areAlike(document.network, network))
    return endOf(Status::error("runs on different networks cannot be shown on one page"));
  Status status =
      addSimulated(document, source, *choice.target, single, request.model(), "", watch);
  if (!status)
    source.report(status.diagnostic(), *choice.target);
  return status ? Ended() : Ended::failed();
}

Ended makeFailure(Source &source, const ProofRequest &request, const std::string &collective,
                  size_t task, const Watch &watch, show::Document &document) {
  std::vector<Source::Target> targets = chooseToProve(source, request);
  auto target = std::find_if(targets.begin(), targets.end(),
                             [&](const Source::Target &t) { return t.name == collective; });
  if (target == targets.end())
    return Ended::failed();
  Proofs all(source, request, watch);
  Result<std::vector<ProofTask>> tasks = all.plan(*target);
  if (!tasks)
    return endOf(tasks.status());
  if (task >= tasks->size())
    return endOf(Status::error("there are " + std::to_string(tasks->size()) + " proofs"));
  Result<show::Document> made = failureDocument(source, *target, all, (*tasks)[task]);
  if (!made)
    return endOf(made.status());
  document = made.take();
  return {};
}

} // namespace

template <typename Body> void Shown::work(Body body) const {
  std::vector<Workplace *> places;
  for (const std::shared_ptr<Program> &program : programs_)
    places.push_back(&program->place());
  python::work(places, body);
}

std::unique_ptr<Shown> Shown::ofRuns(const std::vector<ShownPart> &parts,
                                     const Asked<PageRequest> &page) {
  auto shown = std::make_unique<Shown>();
  for (const ShownPart &part : parts)
    shown->programs_.push_back(part.program);
  shown->work([&](const Watch &watch) -> Ended {
    show::Document &document = shown->document_;
    document.view = page.request.view;
    document.maxEvents = page.request.maxEvents;
    for (const ShownPart &part : parts)
      if (Ended ended = addRun(part.program->source(), part.run->request, watch, document);
          ended.errorClass)
        return ended;
    document.title = titleOf(document);
    return endOf(show::checkView(document));
  });
  return shown;
}

std::unique_ptr<Shown> Shown::ofProof(std::shared_ptr<Program> program,
                                      const Asked<ProofRequest> &proofs,
                                      const std::string &collective, size_t task) {
  auto shown = std::make_unique<Shown>();
  shown->programs_.push_back(std::move(program));
  shown->work([&](const Watch &watch) {
    return makeFailure(shown->programs_.front()->source(), proofs.request, collective, task, watch,
                       shown->document_);
  });
  return shown;
}

std::string Shown::html() const {
  std::string page;
  work([&](const Watch &) {
    llvm::raw_string_ostream out(page);
    show::writeHtml(document_, out);
    return Ended();
  });
  return page;
}

std::string Shown::svg(const Asked<PageRequest> &page, bool isOpened) {
  std::string picture;
  work([&](const Watch &) -> Ended {
    std::string view = isOpened ? document_.view : page.request.view;
    if (!show::hasSvg(view))
      return Ended::misused("the view '" + view + "' is a table, and no picture");
    std::string opened = std::exchange(document_.view, view);
    Status status = show::checkView(document_);
    llvm::raw_string_ostream out(picture);
    if (status)
      status = show::writeSvg(document_, page.request.svg, out);
    document_.view = opened;
    return endOf(status);
  });
  return picture;
}

} // namespace colldsl::python
