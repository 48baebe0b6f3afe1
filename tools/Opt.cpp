#include "tools/Commands.h"
#include "tools/input/Messages.h"
#include "tools/input/SingleSchedule.h"

#include "ir/Image.h"

#include "llvm/ADT/StringSwitch.h"

namespace colldsl::tools {
namespace {

enum class Form { Text, Goal, Image };

struct Settings {
  SingleOptions single;
  std::string output = "-";
  Form form = Form::Text;
  GoalOptions goal;

  void addTo(Options &options);
};

void Settings::addTo(Options &options) {
  options.section("what to write");
  options.addText("-o", "FILE", "write there (default: standard output)", output);
  options.add("--emit", "FORM", "text (the default), goal or image", [this](llvm::StringRef word) {
    auto parsed = llvm::StringSwitch<std::optional<Form>>(word)
                      .Case("text", Form::Text)
                      .Case("goal", Form::Goal)
                      .Case("image", Form::Image)
                      .Default(std::nullopt);
    form = parsed.value_or(form);
    return parsed ? Status() : Status::error("'" + word.str() + "' is not text, goal or image");
  });
  options.addFlag("--local-as-calc",
                  "goal: write copy and combine, which GOAL lacks, as calc of a\n"
                  "nanosecond per byte",
                  goal.localOpsAsCalc);
  single.addTo(options, "where the ranks sit (default: flat, all on one node)");
}

Result<std::string> emit(const Schedule &schedule, const Settings &settings) {
  switch (settings.form) {
  case Form::Text:
    return printText(schedule);
  case Form::Goal:
    return printGoal(schedule, settings.goal);
  case Form::Image: {
    std::vector<std::byte> image = encodeImage(schedule);
    return std::string(reinterpret_cast<const char *>(image.data()), image.size());
  }
  }
  llvm_unreachable("form");
}

bool write(const std::string &file, const std::string &content) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error); // "-" is standard output
  if (!error) {
    out << content;
    out.flush();
    error = out.error();
    out.clear_error();
  }
  std::string place = file == "-" ? "to the standard output" : "'" + file + "'";
  return !error || tellError("cannot write " + place + ": " + error.message());
}

/// One target's schedule in the form that was asked for.
Result<std::string> convert(Source &source, const Source::Target &target,
                            const Settings &settings) {
  Result<SingleSchedule> made = makeSingle(source, target, settings.single);
  if (!made)
    return made.status();
  if (made->elements == made->schedule->sizeClass.elements)
    return emit(*made->schedule, settings);
  Schedule resized = *made->schedule;
  resized.sizeClass.elements = made->elements;
  return emit(resized, settings);
}

} // namespace

Exit optCommand(Arguments arguments) {
  Settings settings;
  Options options("opt", "FILE|COLLECTIVE [-o OUT] [OPTION...]",
                  "Reads one schedule, or instantiates one collective, and writes it.\n"
                  "A FILE is the text form or GOAL, an image, source text (.coll), or a\n"
                  "schedule library.");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  ScheduleOptions &schedule = settings.single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to read: name a file or a collective");
  std::unique_ptr<Source> source = Source::read(options.operands(), schedule);
  if (!source)
    return Exit::Failure;
  std::vector<Source::Target> targets = source->choose(schedule);
  if (targets.empty())
    return Exit::Failure;
  if (targets.size() > 1)
    return options.refuse("one schedule at a time: choose among " + std::to_string(targets.size()) +
                          " with --name");
  if (!usedAllSettings(*source, targets, schedule))
    return Exit::Failure;
  Result<std::string> content = convert(*source, targets.front(), settings);
  if (!content) {
    source->tell(content.status().diagnostic(), targets.front());
    return Exit::Failure;
  }
  return write(settings.output, *content) ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
