#include "tools/Commands.h"

#include "driver/choice/Functions.h"
#include "driver/draw/MakeShown.h"
#include "driver/files/WriteFile.h"
#include "driver/requests/PageRequest.h"
#include "driver/requests/SimulationRequest.h"
#include "tools/input/ChooseSingle.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ResultStream.h"
#include "tools/show/MeasuredTrace.h"

namespace colldsl::tools {
namespace {

struct ShowSettings {
  SimulationRequest request;
  std::vector<std::string> others;
  std::string trace;
  std::string output;
  PageRequest page;
  bool isSvg = false;
  bool compares = false;

  void addTo(Options &options);
};

void ShowSettings::addTo(Options &options) {
  options.section("what to show");
  request.single.addTo(options);
  options.section("what to show");
  options.add("--with", "S", "another schedule beside it, on the same axis: a file or a collective",
              [this](llvm::StringRef text) {
                others.push_back(text.str());
                return Status();
              }) = completionOfSchedules();
  options.mayRepeat();
  options.addText("--trace", "FILE",
                  "times of a run beside the simulated ones: what `colldsl run --trace` wrote, of\n"
                  "the same schedule",
                  trace) = completionOfFiles({".json"});
  options.addFlag("--compare", "the schedule before the --passes beside the one after", compares);
  request.disturbance.addTo(options);
  options.section("how");
  options.addOutput("-o", "FILE", "what to write, - for standard output (default: NAME.html, .svg)",
                    output) = completionOfFiles({".html", ".svg"});
  options.addFlag("--svg", "write a picture for papers instead: of any view but compare", isSvg);
  page.addTo(options);
}

class Showing {
public:
  explicit Showing(const ShowSettings &settings) : settings_(settings) {
    document_.view = settings.page.view;
    document_.maxEvents = settings.page.maxEvents;
    document_.network = settings.request.single.schedule.machine.cost().network;
  }

  /// This and the other methods report mistakes.
  std::optional<Exit> addOperands(const Options &options, const sim::SimulateOptions &model) {
    Source::Target target;
    std::unique_ptr<Source> source;
    if (auto exit = chooseSingle(options, settings_.request.single, Purpose::Simulate, form(),
                                 source, target))
      return exit;
    sources_.push_back(std::move(source));
    name_ = target.name;
    if (!settings_.compares)
      return add(target, settings_.request.single, model, "");
    SingleRequest before = settings_.request.single;
    before.schedule.passes.pipeline = Pipeline();
    if (auto exit = add(target, before, model, "before"))
      return exit;
    return add(target, settings_.request.single, model, "after");
  }

  std::optional<Exit> addOther(const std::string &operand, const sim::SimulateOptions &model) {
    SingleRequest single = settings_.request.single;
    single.schedule.names.clear();
    std::unique_ptr<Source> source = Source::read(session(), {operand}, single.schedule, form());
    if (!source)
      return Exit::Failure;
    std::vector<Source::Target> targets = source->choose(single.schedule);
    if (targets.size() > 1)
      printError("--with '" + operand + "': it has " + llvm::Twine(targets.size()) +
                 " collectives; name one of the standard library, or a file with one");
    if (targets.size() != 1 || !chooseForFunctions(*source, targets, single))
      return Exit::Failure;
    sources_.push_back(std::move(source));
    return add(targets.front(), single, model, "");
  }

  bool addTrace() {
    Status status = addMeasured(document_, settings_.trace);
    return status || printError(status.diagnostic());
  }

  Exit write() {
    document_.title = titleOf(document_);
    std::string file =
        settings_.output.empty() ? name_ + (settings_.isSvg ? ".svg" : ".html") : settings_.output;
    Status status = show::checkView(document_);
    if (!status)
      return printError(status.message()), Exit::Failure;
    status = writeFile(file, [&](llvm::raw_ostream &out) {
      if (settings_.isSvg)
        return show::writeSvg(document_, settings_.page.svg, out);
      show::writeHtml(document_, out);
      return Status();
    });
    if (!status)
      return printError(status.diagnostic()), Exit::Failure;
    if (file != "-")
      resultStream() << file << "\n";
    return Exit::Success;
  }

private:
  std::optional<Exit> add(const Source::Target &target, const SingleRequest &single,
                          const sim::SimulateOptions &model, const std::string &label) {
    Source &source = *sources_.back();
    Status status = addSimulated(document_, source, target, single, model, label);
    if (status)
      return std::nullopt;
    source.report(status.diagnostic(), target);
    return Exit::Failure;
  }

  InputForm form() const {
    InputForm form;
    form.allowsWildcards = true;
    form.allowsPlans = true;
    form.planBytes = settings_.request.single.bytes;
    return form;
  }

  const ShowSettings &settings_;
  show::Document document_;
  std::vector<std::unique_ptr<Source>> sources_; ///< the document reads their texts
  std::string name_;
};

} // namespace

Exit showCommand(Arguments arguments) {
  ShowSettings settings;
  Options options("show", "FILE|COLLECTIVE [-n N] [OPTION...]",
                  "Writes a page that shows a schedule in a browser: over space and time, as\n"
                  "graphs, and where each byte comes from. The page is one file, which needs no\n"
                  "network. A FILE is source text (.coll), the text form, GOAL as text or in\n"
                  "binary, an image or a schedule library; a COLLECTIVE is one of the standard\n"
                  "library, or a function such as bcast. docs/show.md describes the page.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  const ScheduleRequest &schedule = settings.request.single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to show: name a file or a collective");
  if (settings.compares && schedule.passes.pipeline.empty())
    return options.refuse("--compare: there is nothing to compare with; name --passes");
  if (Status s = settings.page.check(options, settings.isSvg, settings.page.view); !s)
    return options.refuse(s.message());
  if (settings.isSvg && !show::hasSvg(settings.page.view))
    return options.refuse("--svg: the view '" + settings.page.view +
                          "' is a table, for the page alone");
  const sim::SimulateOptions model = settings.request.model();
  Showing showing(settings);
  if (std::optional<Exit> exit = showing.addOperands(options, model))
    return *exit;
  if (!settings.trace.empty() && !showing.addTrace())
    return Exit::Failure;
  for (const std::string &other : settings.others)
    if (std::optional<Exit> exit = showing.addOther(other, model))
      return *exit;
  return showing.write();
}

} // namespace colldsl::tools
