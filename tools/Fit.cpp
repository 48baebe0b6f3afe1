#include "driver/Lists.h"
#include "driver/files/WriteFile.h"
#include "driver/fit/FitReport.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Json.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include "llvm/Support/FormatVariadic.h"

namespace colldsl::tools {
namespace {

struct FitOptions {
  FitRequest request;
  std::string output;
  bool picks = false;
  bool points = false;
  bool json = false;

  void addTo(Options &options);
};

void FitOptions::addTo(Options &options) {
  request.addTo(options);
  options.section("what to tell");
  options.addSideOutput("-o", "FILE", "write the model as JSON", output) =
      completionOfFiles({".json"});
  options.addFlag("--points", "each measured time with the predicted one", points);
  options.addFlag("--picks", "each call with the algorithm that the model picks", picks);
  options.addFlag("--json", "print one JSON object", json);
}

std::string usWord(double ns) { return llvm::formatv("{0:f1}", ns / 1000).str(); }

void printParameters(const FitReport &report, llvm::raw_ostream &out) {
  Table table({"parameter", "value", "95 % within a factor of"});
  for (const ParameterEstimate &estimate : report.fitted.estimates)
    if (estimate.isFree)
      table.addRow({sim::wordsOf(estimate.id, report.fitted.model),
                    llvm::formatv("{0:f4}", estimate.value), factorWord(estimate.factor)});
  table.print(out);
}

/// Residuals by algorithm.
void printAlgorithms(const FitReport &report, llvm::raw_ostream &out) {
  std::map<std::string, std::vector<double>> factors;
  for (size_t i = 0; i < report.points.size(); ++i)
    if (report.predicted[i] > 0)
      factors[report.points[i].measured->function + " " + report.points[i].measured->algorithm]
          .push_back(report.predicted[i] / report.points[i].measured->ns);
  Table table({"algorithm", "times", "least", "median", "most"});
  for (auto &[name, list] : factors) {
    std::sort(list.begin(), list.end());
    table.addRow({name, std::to_string(list.size()), factorWord(list.front()),
                  factorWord(list[list.size() / 2]), factorWord(list.back())});
  }
  table.print(out);
}

void printPoints(const FitReport &report, llvm::raw_ostream &out) {
  Table table({"function", "algorithm", "nodes", "per node", "bytes", "measured us", "predicted us",
               "factor"});
  for (size_t i = 0; i < report.points.size(); ++i) {
    const Measurement &m = *report.points[i].measured;
    table.addRow({m.function, m.algorithm, m.nodes, std::to_string(m.ranksPerNode),
                  std::to_string(m.bytes), usWord(m.ns), usWord(report.predicted[i]),
                  factorWord(report.predicted[i] / m.ns)});
  }
  table.print(out);
}

void printPicks(const FitReport &report, llvm::raw_ostream &out) {
  Table table({"function", "nodes", "per node", "bytes", "picked", "best", "by it", "best of all",
               "by it", "default"});
  for (const PickedAlgorithm &pick : report.picks) {
    const Measurement &m = *pick.picked;
    table.addRow({m.function, m.nodes, std::to_string(m.ranksPerNode), std::to_string(m.bytes),
                  m.algorithm, pick.best->algorithm, factorWord(pick.regret()),
                  pick.bestOfAll->algorithm, factorWord(m.ns / pick.bestOfAll->ns),
                  pick.ofDefault > 0 ? factorWord(pick.ofDefault) : "-"});
  }
  table.print(out);
}

void print(const FitReport &report, const FitOptions &options) {
  llvm::raw_ostream &out = resultStream();
  if (!options.request.check) {
    printParameters(report, out);
    out << "\n";
  }
  out << "predicted by measured time, by algorithm:\n";
  printAlgorithms(report, out);
  if (options.points) {
    out << "\n";
    printPoints(report, out);
  }
  if (options.picks) {
    out << "\n";
    printPicks(report, out);
  }
  PickErrors picks = errorsOf(report.picks);
  out << llvm::formatv("\n{0} measured times, {1} of algorithms of the library, {2} predicted\n",
                       report.measured.size(), report.points.size(), report.errors.points);
  out << llvm::formatv("factor of prediction: median {0:f3}, 90 % within {1:f3}",
                       report.errors.median, report.errors.p90);
  if (!options.request.check && options.request.leftOut != LeftOut::None)
    out << llvm::formatv(" on unseen data; {0:f3} and {1:f3} on seen", report.errorsOfSeen.median,
                         report.errorsOfSeen.p90);
  out << llvm::formatv("\npicked algorithms, {0} calls: {1:f3} times the best predicted one in the "
                       "mean, {2:f2} at worst; {3:f3} and {4:f2} times the best measured one\n",
                       picks.calls, picks.mean, picks.worst, picks.meanOfAll, picks.worstOfAll);
  if (picks.defaults > 0)
    out << llvm::formatv("the MPI's own choice, {0} calls: {1:f3} and {2:f2} times the best "
                         "measured one\n",
                         picks.defaults, picks.meanDefault, picks.worstDefault);
}

llvm::json::Object toJson(const PredictionErrors &errors) {
  return llvm::json::Object{
      {"times", errors.points}, {"median", errors.median}, {"p90", errors.p90}};
}

llvm::json::Object toJson(const FitReport &report) {
  llvm::json::Array parameters, times;
  for (const ParameterEstimate &estimate : report.fitted.estimates)
    if (estimate.isFree)
      parameters.push_back(
          llvm::json::Object{{"name", sim::wordsOf(estimate.id, report.fitted.model)},
                             {"value", estimate.value},
                             {"factor", estimate.factor}});
  for (size_t i = 0; i < report.points.size(); ++i) {
    const Measurement &m = *report.points[i].measured;
    times.push_back(llvm::json::Object{{"function", jsonText(m.function)},
                                       {"algorithm", jsonText(m.algorithm)},
                                       {"collective", report.points[i].collective.words()},
                                       {"nodes", jsonText(m.nodes)},
                                       {"ranksPerNode", m.ranksPerNode},
                                       {"bytes", m.bytes},
                                       {"measured", m.ns},
                                       {"predicted", report.predicted[i]}});
  }
  PickErrors picks = errorsOf(report.picks);
  return llvm::json::Object{{"measured", report.measured.size()},
                            {"unseen", toJson(report.errors)},
                            {"seen", toJson(report.errorsOfSeen)},
                            {"picks", llvm::json::Object{{"calls", picks.calls},
                                                         {"mean", picks.mean},
                                                         {"worst", picks.worst},
                                                         {"meanOfAll", picks.meanOfAll},
                                                         {"worstOfAll", picks.worstOfAll}}},
                            {"defaults", llvm::json::Object{{"calls", picks.defaults},
                                                            {"mean", picks.meanDefault},
                                                            {"worst", picks.worstDefault}}},
                            {"parameters", std::move(parameters)},
                            {"times", std::move(times)}};
}

} // namespace

Exit fitCommand(Arguments arguments) {
  FitOptions settings;
  Options options(
      "fit", "DATA... [OPTION...]",
      "Fits a machine model to measured times of named algorithms, and tells how well\n"
      "it predicts times that the fit has not seen. DATA is a table of PICO, the output\n"
      "of OSU's programs, or a machine profile that colldsl tune wrote. --model is\n"
      "where the fit begins; parameters that are 0 there stay so (default: cluster).");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().empty())
    return options.refuse("nothing to fit to: name files of measured times");
  Result<FitReport> report = [&] {
    Progress progress;
    return makeFit(options.operands(), settings.request, progress.watch());
  }();
  if (!report)
    return printError(report.status().diagnostic()) ? Exit::Success : Exit::Failure;
  if (!settings.output.empty()) {
    Status written = writeFile(settings.output, [&](llvm::raw_ostream &out) {
      out << modelText(*report, options.operands());
      return Status();
    });
    if (!written)
      return printError(written.diagnostic()) ? Exit::Success : Exit::Failure;
  }
  if (settings.json)
    printJson(toJson(*report));
  else
    print(*report, settings);
  return Exit::Success;
}

} // namespace colldsl::tools
