#include "tools/Commands.h"
#include "tools/output/Convert.h"

#include "driver/source/TraceFiles.h"
#include "formats/Chakra.h"
#include "formats/GoalBinary.h"
#include "formats/MscclExport.h"
#include "mscclpp/FromAlgorithm.h"
#include "mscclpp/Prove.h"
#include "mscclpp/Read.h"

namespace colldsl::tools {
namespace {

constexpr llvm::StringRef kTargets[] = {"goal", "goal-bin", "msccl-xml", "chakra", "mscclpp"};
constexpr llvm::StringLiteral kTargetsInWords = "goal, goal-bin, msccl-xml, chakra or mscclpp";

struct ExportSettings {
  MakeRequest single;
  std::string output = "-";
  std::optional<FileKind> to;
  bool isPlan = false; ///< of MSCCL++, which nothing but `verify` reads
  GoalOptions goal;

  void addTo(Options &options);
};

void ExportSettings::addTo(Options &options) {
  options.section("what to write");
  options.add("--to", "FORMAT", kTargetsInWords.str(), [this](llvm::StringRef word) {
    isPlan = word == "mscclpp";
    to = parseForeignKind(word);
    return to || isPlan ? Status()
                        : Status::error("'" + word.str() + "' is not " + kTargetsInWords.str());
  }) = completionOf(kTargets);
  options.addOutput("-o", "FILE",
                    "write there (default: standard output); chakra: a file per rank, FILE.0.et,\n"
                    "FILE.1.et, ...",
                    output);
  options.addFlag("--local-as-calc",
                  "goal, goal-bin, chakra: write copy and combine, which these lack, as\n"
                  "calc of a nanosecond per byte",
                  goal.localOpsAsCalc);
  single.addTo(options);
}

/// The plan as it reads again; it is written only if it is proved.
Result<std::string> emitPlan(const msccl::Algorithm &algorithm) {
  Result<mscclpp::Plan> plan = mscclpp::fromAlgorithm(algorithm);
  if (!plan)
    return plan.status();
  std::string text = mscclpp::print(*plan);
  Result<mscclpp::Plan> again = mscclpp::read(text);
  if (!again)
    return again.status();
  Result<mscclpp::Verdict> verdict = mscclpp::prove(*again);
  if (!verdict)
    return verdict.status();
  if (!verdict->refusals.empty())
    return Status::error("the plan is refused: " + verdict->refusals.front().message);
  return text;
}

Result<std::string> emit(const Schedule &schedule, const ExportSettings &settings) {
  if (settings.to == FileKind::Text)
    return printGoal(schedule, settings.goal);
  if (settings.to == FileKind::GoalBinary) {
    Result<std::vector<std::byte>> bytes = encodeGoal(schedule, settings.goal);
    return bytes ? Result<std::string>(bytesOf(*bytes)) : bytes.status();
  }
  Result<msccl::Algorithm> algorithm = msccl::fromSchedule(schedule);
  if (!algorithm)
    return algorithm.status();
  return settings.isPlan ? emitPlan(*algorithm) : Result<std::string>(msccl::print(*algorithm));
}

Result<std::vector<OutputFile>> emitTraces(const Schedule &schedule,
                                           const ExportSettings &settings) {
  Result<std::vector<std::string>> traces = chakra::encode(schedule, settings.goal);
  if (!traces)
    return traces.status();
  std::vector<OutputFile> files;
  for (size_t rank = 0; rank < traces->size(); ++rank)
    files.push_back({traceFile(settings.output, rank), std::move((*traces)[rank])});
  return files;
}

} // namespace

Exit exportCommand(Arguments arguments) {
  ExportSettings settings;
  Options options("export", "FILE|COLLECTIVE --to FORMAT [-o OUT] [OPTION...]",
                  "Reads one schedule, or instantiates one collective, and writes it for another\n"
                  "tool: GOAL, as text (goal) or in binary (goal-bin), for LogGOPSim and ATLAHS;\n"
                  "an algorithm for MSCCL (msccl-xml); an execution plan for MSCCL++ (mscclpp),\n"
                  "which is proved first; or traces of Chakra, a file per rank (chakra), for\n"
                  "ASTRA-sim. What the format cannot say is an error that names the op. A FILE is\n"
                  "anything that `opt` reads.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (!settings.to && !settings.isPlan)
    return options.refuse("--to " + kTargetsInWords.str() + " is missing");
  if (settings.goal.localOpsAsCalc && (settings.isPlan || settings.to == FileKind::MscclXml))
    return options.refuse("--local-as-calc is for goal, goal-bin and chakra");
  if (settings.to == FileKind::Chakra) {
    if (settings.output == "-")
      return options.refuse("--to chakra writes a file per rank: -o names them");
    return convertToFiles(options, settings.single, {},
                          [&](const Schedule &schedule) { return emitTraces(schedule, settings); });
  }
  auto inFormat = [&](const Schedule &schedule) { return emit(schedule, settings); };
  return convertOne(options, settings.single, {}, inFormat, settings.output);
}

} // namespace colldsl::tools
