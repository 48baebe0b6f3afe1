#include "tools/Commands.h"
#include "tools/output/Convert.h"

#include "ir/Image.h"

#include "llvm/ADT/StringSwitch.h"

namespace colldsl::tools {
namespace {

struct ConversionSettings {
  SingleRequest single;
  std::string output = "-";
  InputForm form;
  bool asImage = false;

  void addTo(Options &options);
};

void ConversionSettings::addTo(Options &options) {
  options.section("what to read and write");
  options.add(
      "--from", "FORMAT", kForeignKindsInWords.str() + "\n(default: what the file looks like)",
      [this](llvm::StringRef word) {
        form.kind = parseForeignKind(word);
        return form.kind
                   ? Status()
                   : Status::error("'" + word.str() + "' is not " + kForeignKindsInWords.str());
      }) = completionOf(kForeignKinds);
  addAs(options, form);
  options.addOutput("-o", "FILE", "write there (default: standard output)", output);
  options.addChoice("--emit", "FORM", "text (the default) or image", asImage,
                    {{"text", false}, {"image", true}});
  single.addTo(options, "has no say in a schedule from a file");
}

} // namespace

Exit importCommand(Arguments arguments) {
  ConversionSettings settings;
  Options options(
      "import", "FILE [-o OUT] [--from FORMAT] [OPTION...]",
      "Reads a schedule of another tool and writes it as colldsl's text form, or as an\n"
      "image: GOAL, as text (goal) or in binary (goal-bin), of LogGOPSim and ATLAHS;\n"
      "MSCCL's algorithms (msccl-xml), with the contract of their collective, of\n"
      "elements of --type; n counts the elements of a chunk; traces of Chakra (chakra),\n"
      "of which FILE is one: NAME.0.et, NAME.1.et, ...");
  options.completeOperands(completionOfFiles({".goal", ".bin", ".xml", ".et"}));
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  auto emit = [&](const Schedule &schedule) -> Result<std::string> {
    return settings.asImage ? bytesOf(encodeImage(schedule)) : printText(schedule);
  };
  return convertOne(options, settings.single, settings.form, emit, settings.output);
}

} // namespace colldsl::tools
