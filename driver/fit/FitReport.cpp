#include "driver/fit/FitReport.h"

#include "compiler/Compile.h"
#include "driver/files/ReadInput.h"
#include "driver/fit/AlgorithmNames.h"
#include "topology/KnownModels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <set>
#include <thread>

namespace colldsl::driver {
namespace {

constexpr size_t kFolds = 5;

constexpr std::array<llvm::StringLiteral, 3> kLeftOut = {"none", "runs", "points"};

Result<LeftOut> parseLeftOut(llvm::StringRef text) {
  auto found = llvm::find(kLeftOut, text);
  if (found == kLeftOut.end())
    return Fields::notOneOf(text, {kLeftOut.begin(), kLeftOut.end()});
  return static_cast<LeftOut>(found - kLeftOut.begin());
}

Result<std::vector<Measurement>> readAll(const std::vector<std::string> &files,
                                         const MeasuredSituation &situation) {
  std::vector<Measurement> all;
  for (const std::string &file : files) {
    Result<std::string> text = readText(file);
    if (!text)
      return text.status();
    Result<std::vector<Measurement>> some = readMeasurements(shownName(file), *text, situation);
    if (!some)
      return some.status();
    for (Measurement &m : *some)
      if (situation.system.empty() || m.system == situation.system)
        all.push_back(std::move(m));
  }
  return all;
}

/// The part of the data to which each point belongs.
std::vector<size_t> foldsOf(const std::vector<FitPoint> &points, LeftOut leftOut) {
  std::vector<size_t> folds;
  std::map<std::string, size_t> runs;
  for (size_t i = 0; i < points.size(); ++i)
    folds.push_back(leftOut == LeftOut::Points
                        ? i % kFolds
                        : runs.try_emplace(points[i].measured->run, runs.size()).first->second);
  return folds;
}

class Fitting {
public:
  Fitting(const Program &program, const FitRequest &request, FitReport &report, const Watch &watch)
      : program_(program), request_(request), report_(report), watch_(watch) {
    settings_.start = request.machine.isModelGiven() ? request.machine.cost().machine
                                                     : knownModel(KnownModel::Cluster);
    settings_.network = request.machine.cost().network;
    settings_.hasFactors = request.hasFactors;
    settings_.mostOps = request.mostOps;
    settings_.threads = std::thread::hardware_concurrency();
  }

  Status run() {
    report_.fitted.model = settings_.start;
    if (!request_.check)
      if (Status s = fit(report_.points, report_.fitted, "all data"); !s)
        return s;
    report_.predictedBySeen = predict(report_.points, report_.fitted.model);
    report_.predicted = report_.predictedBySeen;
    if (!request_.check && request_.leftOut != LeftOut::None)
      return validate();
    return {};
  }

private:
  Status fit(const std::vector<FitPoint> &points, FittedModel &into, const std::string &what) {
    settings_.watch = [&](unsigned step, double residual) {
      if (watch_.progress)
        watch_.progress({what, step, settings_.mostSteps,
                         llvm::formatv(" steps at most, residual {0:f3}", residual).str()});
      return !watch_.isStopped();
    };
    Result<FittedModel> fitted = fitModel(program_, points, settings_);
    if (!fitted)
      return fitted.status();
    into = fitted.take();
    return {};
  }

  std::vector<double> predict(const std::vector<FitPoint> &points,
                              const MachineModel &model) const {
    return predictAll(program_, points, model, settings_);
  }

  Status validate() {
    const std::vector<FitPoint> &points = report_.points;
    std::vector<size_t> folds = foldsOf(points, request_.leftOut);
    size_t count = folds.empty() ? 0 : *std::max_element(folds.begin(), folds.end()) + 1;
    settings_.first = &report_.fitted.model; // nearer to the end
    for (size_t fold = 0; fold < count; ++fold) {
      std::vector<FitPoint> seen, unseen;
      for (size_t i = 0; i < points.size(); ++i)
        (folds[i] == fold ? unseen : seen).push_back(points[i]);
      FittedModel fitted;
      if (Status s = fit(seen, fitted, llvm::formatv("without part {0}", fold + 1).str()); !s)
        return s;
      std::vector<double> times = predict(unseen, fitted.model);
      for (size_t i = 0, next = 0; i < points.size(); ++i)
        if (folds[i] == fold)
          report_.predicted[i] = times[next++];
    }
    return {};
  }

  const Program &program_;
  const FitRequest &request_;
  FitReport &report_;
  const Watch &watch_;
  FitSettings settings_;
};

/// A torus without sizes needs those of all nodes.
Status checkShapes(const FitReport &report, const FitRequest &request) {
  const sim::NetworkOptions &network = request.machine.cost().network;
  if (network.kind == sim::NetworkOptions::Kind::None || !network.dims.empty())
    return {};
  for (const FitPoint &point : report.points)
    if (point.measured->shape.empty())
      return Status::error(
          llvm::formatv("--network {0}: it has no sizes, nor have the nodes '{1}' of line {2}",
                        request.machine.networkWords(), point.measured->nodes, point.measured->line)
              .str());
  return {};
}

} // namespace

void FitRequest::addTo(Fields &fields) {
  fields.section("which data");
  fields.addText("--system", "NAME",
                 "take the times of this machine only; for data that name none,\n"
                 "the name of theirs",
                 situation.system);
  fields.addText("--algorithm", "NAME", "of data that do not name it: output of OSU's programs",
                 situation.algorithm);
  fields.addNumber("--nodes", "N", "of such data (default: 1)", situation.nodes, 1);
  fields.addNumber("--ranks-per-node", "N", "of such data (default: 1)", situation.ranksPerNode, 1);
  machine.addTo(fields, sim::NetworkSizes::MayFollow);
  fields.section("how to fit");
  fields.addFlag("--check", "fit nothing: tell how good the model is", check);
  fields.addFlag("--no-factors", "explain all by the machine, not by factors of implementations",
                 hasFactors, false);
  fields.addNumber("--most-ops", "N",
                   "leave out calls of more ops, of all ranks (default: 16777216)", mostOps, 1);
  fields.addParsed("--leave-out", "PART",
                   "judge by data that a fit has not seen: points (every fifth),\n"
                   "runs (one after the other), or none (default: points)",
                   leftOut, parseLeftOut, [](LeftOut part) {
                     return kLeftOut[static_cast<size_t>(part)].str();
                   }) = completionOf({kLeftOut.begin(), kLeftOut.end()});
  fields.addText("--name", "NAME", "of the model that is made (default: that of the system)", name);
}

Result<FitReport> makeFit(const std::vector<std::string> &files, const FitRequest &request,
                          const Watch &watch) {
  FitReport report;
  Result<std::vector<Measurement>> all = readAll(files, request.situation);
  if (!all)
    return all.status();
  report.measured = all.take();
  if (report.measured.empty())
    return Status::error(request.situation.system.empty()
                             ? "the files have no measured times"
                             : "the files have no times of '" + request.situation.system + "'");
  std::set<std::string> systems;
  for (const Measurement &m : report.measured)
    systems.insert(m.system);
  if (systems.size() > 1)
    return Status::error("the files have times of several machines: --system chooses " +
                         llvm::join(systems, ", "));
  Compilation library = compileFiles({});
  for (const Measurement &m : report.measured)
    if (std::optional<TunedCollective> collective = collectiveOf(m, library.program()))
      report.points.push_back({&m, std::move(*collective)});
  if (report.points.empty())
    return Status::error("none of the algorithms has the name of one of the library's");
  if (Status s = checkShapes(report, request); !s)
    return s;
  if (Status s = Fitting(library.program(), request, report, watch).run(); !s)
    return s;
  report.network = request.machine.networkWords();
  report.fitted.model.name = !request.name.empty() ? request.name : *systems.begin();
  report.errors = errorsOf(report.points, report.predicted);
  report.errorsOfSeen = errorsOf(report.points, report.predictedBySeen);
  report.picks = picksOf(report.measured, report.points, report.predicted);
  return report;
}

std::string modelText(const FitReport &report, const std::vector<std::string> &files) {
  std::string description =
      llvm::formatv("Fitted by `colldsl fit` to {0} measured times of {1}. Factors between "
                    "predicted and measured times that the fit has not seen: median {2:f2}, 90 % "
                    "within {3:f2}.",
                    report.errorsOfSeen.points, llvm::join(files, ", "), report.errors.median,
                    report.errors.p90)
          .str();
  if (!report.network.empty())
    description += " Links between nodes: --network " + report.network + ".";
  return report.fitted.model.toJson(description);
}

} // namespace colldsl::driver
