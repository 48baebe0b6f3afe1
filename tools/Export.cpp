#include "tools/Commands.h"
#include "tools/output/Convert.h"

#include "formats/GoalBinary.h"
#include "formats/MscclExport.h"

namespace colldsl::tools {
namespace {

struct ExportSettings {
  MakeRequest single;
  std::string output = "-";
  std::optional<FileKind> to;
  GoalOptions goal;

  void addTo(Options &options);
};

void ExportSettings::addTo(Options &options) {
  options.section("what to write");
  options.add("--to", "FORMAT", "goal, goal-bin or msccl-xml", [this](llvm::StringRef word) {
    to = parseForeignKind(word);
    return to ? Status() : Status::error("'" + word.str() + "' is not goal, goal-bin or msccl-xml");
  }) = completionOf({kForeignKinds[0], kForeignKinds[1], kForeignKinds[2]});
  options.addOutput("-o", "FILE", "write there (default: standard output)", output);
  options.addFlag("--local-as-calc",
                  "goal, goal-bin: write copy and combine, which GOAL lacks, as calc of\n"
                  "a nanosecond per byte",
                  goal.localOpsAsCalc);
  single.addTo(options);
}

Result<std::string> emit(const Schedule &schedule, const ExportSettings &settings) {
  if (settings.to == FileKind::Text)
    return printGoal(schedule, settings.goal);
  if (settings.to == FileKind::GoalBinary) {
    Result<std::vector<std::byte>> bytes = encodeGoal(schedule, settings.goal);
    return bytes ? Result<std::string>(bytesOf(*bytes)) : bytes.status();
  }
  Result<msccl::Algorithm> algorithm = msccl::fromSchedule(schedule);
  return algorithm ? Result<std::string>(msccl::print(*algorithm)) : algorithm.status();
}

} // namespace

Exit exportCommand(Arguments arguments) {
  ExportSettings settings;
  Options options(
      "export", "FILE|COLLECTIVE --to FORMAT [-o OUT] [OPTION...]",
      "Reads one schedule, or instantiates one collective, and writes it for another\n"
      "tool: GOAL, as text (goal) or in binary (goal-bin), for LogGOPSim and ATLAHS; or\n"
      "an algorithm for MSCCL (msccl-xml). What the format cannot say is an error that\n"
      "names the op. A FILE is anything that `opt` reads.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (!settings.to)
    return options.refuse("--to goal, goal-bin or msccl-xml is missing");
  auto inFormat = [&](const Schedule &schedule) { return emit(schedule, settings); };
  return convertOne(options, settings.single, {}, inFormat, settings.output);
}

} // namespace colldsl::tools
