#include "tools/RunPlans.h"

#include "driver/requests/SingleRequest.h"
#include "ir/Printable.h"
#include "mscclpp/Prove.h"
#include "mscclpp/host/HostRun.h"
#include "tools/PlanFile.h"
#include "tools/VerifyPlans.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

struct PlanRow {
  std::string file, name;
  uint32_t gpus = 0;
  size_t threadBlocks = 0;
  uint64_t bytes = 0;
  bool isChecked = false; ///< the collective has a result that is known
};

class PlanRunner {
public:
  explicit PlanRunner(const PlanRunSettings &settings) : settings_(settings) {}

  /// Nothing: a mistake, a refusal, a deadlock or wrong data, which were reported.
  std::optional<PlanRow> run(const std::string &file) const {
    Result<mscclpp::Plan> plan = readPlan(file);
    if (!plan)
      return fail(file, plan.message());
    if (settings_.ranks && *settings_.ranks != plan->numGpus())
      return fail(file, "the plan is for " + counted(plan->numGpus(), "gpu") + ", -n says " +
                            std::to_string(*settings_.ranks));
    Result<uint64_t> bytes = chooseBytes(*plan);
    if (!bytes)
      return fail(file, bytes.message());
    if (settings_.verify && !prove(file, *plan))
      return std::nullopt;
    mscclpp::HostRunOptions options;
    options.messageBytes = *bytes;
    options.launches = settings_.launches;
    options.seed = settings_.seed;
    options.timeout = settings_.timeout;
    Result<mscclpp::HostRunReport> report = mscclpp::runOnHost(*plan, options);
    if (!report)
      return fail(file, report.message());
    if (!isRight(file, *report))
      return std::nullopt;
    PlanRow row{file, nameOf(*plan), plan->numGpus(), 0, *bytes, report->isChecked};
    for (const mscclpp::Gpu &gpu : plan->gpus)
      row.threadBlocks += gpu.threadBlocks.size();
    return row;
  }

private:
  static std::nullopt_t fail(const std::string &file, const std::string &message) {
    printError(file + ": " + message);
    return std::nullopt;
  }

  Result<uint64_t> chooseBytes(const mscclpp::Plan &plan) const {
    if (settings_.bytes)
      return *settings_.bytes;
    if (std::optional<uint64_t> near = mscclpp::PlanLayout::nearestBytes(plan, kUsualBytes))
      return *near;
    return Status::error("plan: no length between min_message_size and max_message_size is a "
                         "multiple of its chunks");
  }

  static bool prove(const std::string &file, const mscclpp::Plan &plan) {
    Result<mscclpp::Verdict> verdict = mscclpp::prove(plan);
    if (!verdict)
      return fail(file, verdict.message() + "; --no-verify runs it"), false;
    if (verdict->refusals.empty())
      return true;
    printRefusals(file, *verdict, 1);
    return fail(file, "the plan was refused, and not run; --no-verify runs it"), false;
  }

  bool isRight(const std::string &file, const mscclpp::HostRunReport &report) const {
    if (!report.hasEnded) {
      fail(file, report.isTimedOut ? "the launches have not ended in time (--timeout)"
                                   : "deadlock: no thread can go on");
      for (const std::string &wait : report.waits)
        errorStream() << printable(file) << ": note: " << printable(wait) << "\n";
    }
    if (report.wrongWords > 0)
      fail(file, "wrong data: " + report.firstWrong + "; " + counted(report.wrongWords, "word") +
                     " in all " + (report.wrongWords == 1 ? "is" : "are") + " wrong");
    return report.hasEnded && report.wrongWords == 0;
  }

  const PlanRunSettings &settings_;
};

llvm::json::Object toJson(const PlanRow &row, const PlanRunSettings &settings) {
  return llvm::json::Object{{"file", jsonText(row.file)}, {"name", jsonText(row.name)},
                            {"gpus", row.gpus},           {"threadblocks", row.threadBlocks},
                            {"bytes", row.bytes},         {"launches", settings.launches},
                            {"proved", settings.verify},  {"checked", row.isChecked}};
}

} // namespace

Exit runPlans(llvm::ArrayRef<std::string> files, const PlanRunSettings &settings) {
  PlanRunner runner(settings);
  std::vector<PlanRow> rows;
  for (const std::string &file : files)
    if (std::optional<PlanRow> row = runner.run(file))
      rows.push_back(std::move(*row));
  bool ok = rows.size() == files.size();
  if (settings.json) {
    llvm::json::Array runs;
    for (const PlanRow &row : rows)
      runs.push_back(toJson(row, settings));
    printJson(llvm::json::Object{{"ok", ok}, {"runs", std::move(runs)}});
  } else if (!rows.empty()) {
    Table table({"plan", "gpus", "threadblocks", "bytes", "launches", "proof", "data"});
    for (const PlanRow &row : rows)
      table.addRow({row.name, std::to_string(row.gpus), std::to_string(row.threadBlocks),
                    std::to_string(row.bytes), std::to_string(settings.launches),
                    settings.verify ? "proved" : "not tried",
                    row.isChecked ? "correct" : "no contract"});
    table.print(resultStream());
  }
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
