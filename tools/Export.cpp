#include "tools/Commands.h"
#include "tools/output/ExportFormat.h"

namespace colldsl::tools {

Exit exportCommand(Arguments arguments) {
  MakeRequest single;
  std::string output = "-";
  ExportSettings settings;
  Options options(
      "export", "FILE|COLLECTIVE --to FORMAT [-o OUT] [OPTION...]",
      "Reads one schedule, or instantiates one collective, and writes it for another\n"
      "tool: GOAL, as text (goal) or in binary (goal-bin), for LogGOPSim and ATLAHS;\n"
      "an algorithm for MSCCL (msccl-xml); an execution plan for MSCCL++ (mscclpp);\n"
      "or traces of Chakra, a file per rank (chakra), for ASTRA-sim. What was written\n"
      "is read back, and algorithms and plans are proved again. What the format cannot\n"
      "say is an error that names the op. A FILE is anything that `opt` reads.");
  options.completeOperands(completionOfSchedules());
  options.section("what to write");
  settings.addTo(options, exportFormatsInWords());
  options.addOutput("-o", "FILE",
                    "write there (default: standard output); chakra: a file per rank, FILE.0.et,\n"
                    "FILE.1.et, ...",
                    output);
  single.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (!settings.to)
    return options.refuse("--to " + exportFormatsInWords() + " is missing");
  if (Status s = settings.check(); !s)
    return options.refuse(s.message());
  bool isNamed = output != "-" && !output.empty() && output.back() != '/';
  if (settings.to == ExportFormat::Chakra && !isNamed)
    return options.refuse("--to chakra writes a file per rank: -o names them");
  return convertToFiles(options, single, {}, [&](const Schedule &schedule) {
    return exportFiles(schedule, settings, output);
  });
}

} // namespace colldsl::tools
