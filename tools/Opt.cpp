#include "tools/Commands.h"
#include "tools/output/Convert.h"

#include "formats/GoalText.h"
#include "ir/Image.h"

#include "llvm/ADT/StringSwitch.h"

namespace colldsl::tools {
namespace {

enum class Form { Text, Goal, Image };

struct OptSettings {
  MakeRequest single;
  std::string output = "-";
  Form form = Form::Text;
  GoalOptions goal;

  void addTo(Options &options);
};

void OptSettings::addTo(Options &options) {
  options.section("what to write");
  options.addOutput("-o", "FILE", "write there (default: standard output)", output);
  options.addChoice("--emit", "FORM", "text (the default), goal or image", form,
                    {{"text", Form::Text}, {"goal", Form::Goal}, {"image", Form::Image}});
  options.addFlag("--local-as-calc",
                  "goal: write copy and combine, which GOAL lacks, as calc of a\n"
                  "nanosecond per byte",
                  goal.localOpsAsCalc);
  single.addTo(options);
}

Result<std::string> emit(const Schedule &schedule, const OptSettings &settings) {
  switch (settings.form) {
  case Form::Text:
    return printText(schedule);
  case Form::Goal:
    return printGoal(schedule, settings.goal);
  case Form::Image:
    return bytesOf(encodeImage(schedule));
  }
  llvm_unreachable("form");
}

} // namespace

Exit optCommand(Arguments arguments) {
  OptSettings settings;
  Options options("opt", "FILE|COLLECTIVE [-o OUT] [OPTION...]",
                  "Reads one schedule, or instantiates one collective, and writes it.\n"
                  "A FILE is the text form or GOAL, an image, source text (.coll), a schedule\n"
                  "library, or one of the formats of other tools that `import` reads.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  auto inForm = [&](const Schedule &schedule) { return emit(schedule, settings); };
  return convertOne(options, settings.single, {}, inForm, settings.output);
}

} // namespace colldsl::tools
