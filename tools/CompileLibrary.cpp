#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/input/Functions.h"
#include "tools/input/GivenOptions.h"
#include "tools/input/ReadInput.h"
#include "tools/library/ImportedSchedules.h"
#include "tools/library/ProgramContent.h"
#include "tools/library/ProvedImage.h"
#include "tools/library/Rules.h"
#include "tools/library/StandardFunctions.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Lists.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Workers.h"
#include "tools/output/WriteFile.h"
#include "tools/verify/Proofs.h"

#include "ir/ForeignFormat.h"
#include "ir/Image.h"
#include "runtime/StoredImages.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

constexpr const char *kFlat = "flat";

struct Settings {
  ScheduleOptions schedule;
  ProofRequest proofs;
  std::string output;
  std::string depfile;
  std::string rules;
  InputForm form;
  std::optional<ElementType> type; ///< of imports; nothing: all types
  bool stdlib = false;
  bool prove = true;

  Settings() { proofs.variesMachine = true; }
  void addTo(Options &options);
};

void Settings::addTo(Options &options) {
  options.section("what to write");
  options.addOutput("-o", "LIB", "the library (required)", output) = completionOfFiles({".cdag"});
  options.addSideOutput("--depfile", "FILE",
                        "also write which files the library was made of, as a rule of make",
                        depfile);
  options.addFlag("--stdlib", "also every collective of the standard library", stdlib);
  options.addText("--rules", "FILE",
                  "which collective serves a function when (default: the standard library's\n"
                  "rules for the functions that are named); one a line, the first that\n"
                  "fits is taken: FUNCTION [ranks A..B] [bytes A..B] [nodes A..B]\n"
                  "[types T,T] [commutative] [oversubscribed] use COLLECTIVE [NAME=VALUE]...",
                  rules) = completionOfFiles({".rules"});
  options.section("ready images");
  options.add("--ranks", "LIST", "for these numbers of ranks; none: no images",
              [this](llvm::StringRef text) -> Status {
                Result<std::vector<uint32_t>> list = parseRanks(text, 1);
                if (!list)
                  return list.status();
                proofs.ranks = list.take();
                return {};
              });
  options.add("--bytes", "LIST", "and these sizes (default: 64KiB)",
              [this](llvm::StringRef text) -> Status {
                Result<std::vector<uint64_t>> list = parseBytesList(text);
                if (!list)
                  return list.status();
                proofs.bytes = list.take();
                return {};
              });
  options.add("--topology", "T",
              "where the ranks sit (default: flat, all on one node; what looks at nodes\n"
              "or sockets is also proved on several other machines)",
              [this](llvm::StringRef text) {
                schedule.topology = text.str();
                proofs.variesMachine = false;
                return Status();
              }) = completionOfTopology();
  options.addFlag("--no-verify", "write images without proving them", prove, false);
  addAs(options, form);
  schedule.addNoWarn(options);
  schedule.addTo(options);
}

/// An error: options that have no effect on the targets.
Status checkGiven(const Options &options, const Settings &settings,
                  llvm::ArrayRef<Source::Target> targets) {
  auto isSchedule = [](const Source::Target &target) { return target.schedule != nullptr; };
  std::vector<llvm::StringRef> unused = {"--bytes",  "--topology", "--op",      "--set",
                                         "--passes", "--model",    "--network", "--receive-slots"};
  if (llvm::all_of(targets, isSchedule)) {
    unused.push_back("--ranks");
    return options.refuseGiven(unused, "a schedule from a file is as it is");
  }
  if (settings.proofs.ranks)
    return {};
  if (llvm::none_of(targets, isSchedule))
    unused.insert(unused.end(), {"--no-verify", "--type"});
  return options.refuseGiven(unused, "it is for images, which are made with --ranks only");
}

/// The images of one target, in the order of its tasks.
class ImageMaker {
public:
  ImageMaker(const Source &source, const Source::Target &target, const Settings &settings,
             const Proofs &proofs, std::vector<ProofTask> tasks)
      : source_(source), target_(target), settings_(settings), proofs_(proofs),
        tasks_(std::move(tasks)), images_(tasks_.size()) {}

  /// False, after a message: some schedule is wrong.
  bool make() {
    Progress progress(target_.name, tasks_.size());
    forEachInParallel(tasks_.size(), [&](size_t i) {
      makeOne(i);
      progress.step();
    });
    for (size_t i = 0; i < tasks_.size(); ++i)
      if (!images_[i].why.empty()) {
        errorStream() << target_.name << ", " << tasks_[i].words() << ":\n"
                      << source_.render(images_[i].why, target_);
        return false;
      }
    return true;
  }

  /// Adds one image for each validity range.
  void addTo(LibraryContent &content) {
    size_t first = content.images.size();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      LibraryImage key = keyOf(i);
      bool isNew = std::none_of(content.images.begin() + static_cast<ptrdiff_t>(first),
                                content.images.end(), [&](const LibraryImage &other) {
                                  return other.ranks == key.ranks && other.inPlace == key.inPlace &&
                                         other.parameters == key.parameters &&
                                         other.minElements == key.minElements &&
                                         other.maxElements == key.maxElements;
                                });
      if (images_[i].bytes.empty() || !isNew)
        continue;
      content.images.push_back(key);
      content.imageBytes.push_back(std::move(images_[i].bytes));
    }
  }

private:
  struct Made {
    std::vector<std::byte> bytes; ///< empty: the collective's `where` excludes it
    SizeClass sizeClass;
    ImageProof proof = ImageProof::None;
    std::vector<Diagnostic> why;
  };

  /// True if the task's schedule becomes an image. Other tasks are only proved: the library's
  /// program may run on their machines.
  bool isForImage(const ProofTask &task) const {
    return task.lead != ProofTask::Lead::Highest &&
           (task.topology.empty() || task.topology == settings_.schedule.topology);
  }

  /// The levels of the machine on which the image depends; all of them if passes changed it for a
  /// machine.
  LevelSet levelsOf(const ProofTask &task) const {
    bool isOfMachine = !task.levels.empty() || settings_.schedule.topology != kFlat;
    bool hasPasses = !settings_.schedule.passes.pipeline.empty();
    return hasPasses && isOfMachine ? LevelSet::wholeMachine() : task.levels;
  }

  void makeOne(size_t i) {
    if (!settings_.prove && !isForImage(tasks_[i]))
      return;
    ProofOutcome outcome;
    std::shared_ptr<const Schedule> schedule = proofs_.make(target_, tasks_[i], outcome);
    if (schedule && settings_.prove)
      outcome = proofs_.prove(tasks_[i], *schedule);
    images_[i].why = outcome.why;
    if (outcome.kind != ProofOutcome::Kind::Proved || !isForImage(tasks_[i]))
      return;
    Schedule image = *schedule;
    if (settings_.prove)
      images_[i].proof = narrowToProved(image, settings_.proofs.verify);
    images_[i].sizeClass = image.sizeClass;
    images_[i].bytes = encodeImage(image);
  }

  LibraryImage keyOf(size_t i) const {
    const ProofTask &task = tasks_[i];
    LibraryImage key;
    key.collective = target_.name;
    key.ranks = task.shape.ranks;
    key.elements = images_[i].sizeClass.elements;
    key.minElements = images_[i].sizeClass.min;
    key.maxElements = images_[i].sizeClass.max;
    key.type = settings_.schedule.type;
    key.inPlace = task.shape.inPlace;
    key.topology = settings_.schedule.topology;
    key.topologyHash = signatureOf(*task.shape.topology, levelsOf(task));
    key.parameters = task.call.words();
    key.passes = settings_.schedule.passes.pipeline.text();
    key.proof = images_[i].proof;
    InstantiateRequest request = requestFor(target_, settings_.schedule, task.call, task.shape);
    key.isTuned = settings_.schedule.passes.pipeline.has(PassKind::Program) ||
                  tunes(source_.program(), request);
    LibraryArguments arguments = argumentsOfImage(source_.program(), request);
    key.servesCalls = arguments.has_value();
    key.arguments = std::move(arguments).value_or(std::vector<LibraryArgument>());
    return key;
  }

  const Source &source_;
  const Source::Target &target_;
  const Settings &settings_;
  const Proofs &proofs_;
  std::vector<ProofTask> tasks_;
  std::vector<Made> images_;
};

/// The first parameter without a default and without --set; empty: none.
std::string missingValue(const Source &source, const Source::Target &target,
                         const Settings &settings) {
  const Program &program = source.program();
  for (const Param &param : program.decl(target.collective).params) {
    const std::string &name = program.nameOf(param);
    bool isSet = std::any_of(settings.schedule.settings.begin(), settings.schedule.settings.end(),
                             [&](const auto &setting) { return setting.name == name; });
    if (!param.isBuffer && param.defaultValue == kNoExpr && !isSet)
      return name;
  }
  return "";
}

/// With --stdlib, collectives whose parameters lack a value get no images.
bool addImages(Source &source, const std::vector<Source::Target> &targets, const Settings &settings,
               LibraryContent &content) {
  Proofs proofs(source, settings.schedule, settings.proofs);
  for (const Source::Target &target : targets) {
    std::string missing = settings.stdlib ? missingValue(source, target, settings) : "";
    if (!missing.empty()) {
      errorStream() << target.name << ": no images, since parameter '" << missing
                    << "' has no value\n";
      continue;
    }
    Result<std::vector<ProofTask>> tasks = proofs.plan(target);
    if (!tasks)
      return source.report(tasks.status().diagnostic(), target);
    ImageMaker maker(source, target, settings, proofs, tasks.take());
    if (!maker.make())
      return false;
    maker.addTo(content);
  }
  return true;
}

bool addGivenRules(Source &source, const Settings &settings, llvm::StringRef text,
                   LibraryContent &content) {
  Result<StandardFunctions> standard = StandardFunctions::make();
  if (!standard)
    return printError(standard.status().diagnostic());
  Result<std::vector<SelectionRule>> rules =
      readRules(shownName(settings.rules), text, source.compilation(), &*standard);
  if (!rules)
    return printError(rules.status().diagnostic());
  content.rules = rules.take();
  return true;
}

bool write(const std::string &file, const std::vector<std::byte> &bytes) {
  Status status = writeFile(file, [&](llvm::raw_ostream &out) {
    out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return Status();
  });
  return status || printError(status.diagnostic());
}

/// A path as make reads it.
std::string escapedForMake(llvm::StringRef path) {
  std::string escaped;
  for (char c : path) {
    if (c == ' ' || c == '#')
      escaped += '\\';
    escaped += c == '$' ? "$$" : std::string(1, c);
  }
  return escaped;
}

/// The parts of a library.
struct Parts {
  Source &source; ///< declares the imports, too
  std::vector<std::string> operands;
  std::vector<Source::Target> collectives; ///< but for the imports
  std::vector<ImportedSchedule> imports;
};

/// The regular files among the operands, their imports and the rules.
std::vector<std::string> filesRead(const Parts &parts, const Settings &settings) {
  std::vector<std::string> files = parts.operands;
  if (!parts.source.library())
    for (const std::string &file :
         llvm::ArrayRef(parts.source.program().files).drop_front(stdlibFiles().size()))
      if (!llvm::is_contained(files, file))
        files.push_back(file);
  if (!settings.rules.empty())
    files.push_back(settings.rules);
  llvm::erase_if(files,
                 [](const std::string &file) { return !llvm::sys::fs::is_regular_file(file); });
  return files;
}

bool writeDepfile(const Parts &parts, const Settings &settings) {
  Status status = writeFile(settings.depfile, [&](llvm::raw_ostream &out) {
    out << escapedForMake(settings.output) << ":";
    for (const std::string &file : filesRead(parts, settings))
      out << " \\\n  " << escapedForMake(file);
    out << "\n";
    return Status();
  });
  return status || printError(status.message());
}

/// Adds the given rules. Without these, adds a rule for each import, then the rules of the
/// functions that were named.
bool addRules(Parts &parts, const Settings &settings, llvm::StringRef text,
              LibraryContent &content) {
  if (!settings.rules.empty())
    return addGivenRules(parts.source, settings, text, content);
  for (const ImportedSchedule &import : parts.imports)
    content.rules.push_back(ruleFor(import, parts.source.program()));
  llvm::append_range(content.rules, parts.source.rules());
  return true;
}

/// `input`: the sources as they were read, which render counterexamples of imports.
Exit writeLibrary(Parts parts, const Source &input, const Settings &settings,
                  llvm::StringRef rules) {
  LibraryContent content;
  if (!addRules(parts, settings, rules, content))
    return Exit::Failure;
  if (settings.proofs.ranks && !addImages(parts.source, parts.collectives, settings, content))
    return Exit::Failure;
  for (const ImportedSchedule &import : parts.imports)
    if (!addImages(input, import, {settings.type, settings.prove, settings.proofs.verify}, content))
      return Exit::Failure;
  std::vector<Source::Target> all = parts.collectives;
  for (const ImportedSchedule &import : parts.imports)
    all.push_back(parts.source.collective(idOf(import, parts.source.program())));
  addProgram(parts.source, all, content);
  std::vector<std::byte> bytes = encodeLibrary(content);
  if (!write(settings.output, bytes) ||
      (!settings.depfile.empty() && !writeDepfile(parts, settings)))
    return Exit::Failure;
  resultStream() << settings.output << ": " << counted(all.size(), "collective") << ", "
                 << counted(content.images.size(), "image")
                 << (settings.prove || content.images.empty() ? "" : " (not proved)") << ", "
                 << counted(content.rules.size(), "rule") << ", " << bytesWord(bytes.size())
                 << "\n";
  return Exit::Success;
}

/// Compiles the library. Schedules among the targets are declared in an additional source text.
Exit compile(Source &input, llvm::ArrayRef<Source::Target> targets,
             const std::vector<std::string> &operands, const Settings &settings,
             llvm::StringRef rules) {
  std::vector<Source::Target> schedules, collectives;
  for (const Source::Target &target : targets)
    (target.schedule ? schedules : collectives).push_back(target);
  if (schedules.empty())
    return writeLibrary({input, operands, collectives, {}}, input, settings, rules);
  if (input.library())
    return printError("'" + input.mainFile() + "': a library stands alone, without schedules"),
           Exit::Failure;
  Result<std::vector<ImportedSchedule>> imports = describeImports(schedules, input.program());
  if (!imports)
    return printError(imports.message()), Exit::Failure;
  std::unique_ptr<Source> declared =
      input.withText("<imported>", declarationsOf(*imports), settings.schedule);
  if (!declared)
    return Exit::Failure;
  for (Source::Target &target : collectives)
    target.collective = declared->program().find(target.name, DeclKind::Collective);
  return writeLibrary({*declared, operands, std::move(collectives), imports.take()}, input,
                      settings, rules);
}

/// Words that may be names of declarations. Words of the rules that are no names do no harm.
std::vector<std::string> namesIn(const std::vector<std::string> &operands,
                                 const std::vector<std::string> &names, std::string rules) {
  std::vector<std::string> all = operands;
  all.insert(all.end(), names.begin(), names.end());
  for (const std::string &name : all)
    rules += linesOfFunction(selectionRules(), name);
  llvm::append_range(all, wordsOf(rules));
  return all;
}

} // namespace

Exit compileCommand(Arguments arguments) {
  Settings settings;
  Options options("compile", "FILE... -o LIB [OPTION...]",
                  "Writes collectives (.coll) as a schedule library: programs that are\n"
                  "instantiated anywhere without a compiler, images for named numbers of ranks\n"
                  "and sizes, rules that choose among collectives, and their sources. Images\n"
                  "are proved first. Schedules from files, such as algorithms of MSCCL, become\n"
                  "images for the ranks that each has, of all types or --type, which serve the\n"
                  "function that their contract is of.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (settings.output.empty() || settings.output == "-")
    return options.refuse("say where to write the library, with -o LIB");
  if (options.operands().empty() && !settings.stdlib && settings.schedule.names.empty())
    return options.refuse("nothing to compile: name files, or --stdlib");
  if (!settings.schedule.passes.pipeline.empty()) // the image is their result for one machine
    settings.proofs.variesMachine = false;
  if (!settings.proofs.bytes)
    settings.proofs.bytes = {64 << 10};
  if (options.isGiven("--type"))
    settings.type = settings.schedule.type;
  settings.schedule.retypes = true;
  Result<std::string> rules = rulesText(settings.rules);
  if (!rules)
    return printError(rules.status().diagnostic()), Exit::Failure;
  if (!settings.stdlib)
    settings.schedule.compile.usedBy = namesIn(options.operands(), settings.schedule.names, *rules);
  std::unique_ptr<Source> source =
      Source::read(options.operands(), settings.schedule, settings.form);
  if (!source)
    return Exit::Failure;
  std::vector<Source::Target> targets =
      settings.stdlib ? source->stdlib() : source->choose(settings.schedule);
  expandFunctions(*source, targets);
  if (targets.empty())
    return Exit::Failure;
  if (Status s = checkGiven(options, settings, targets); !s)
    return printError(s.diagnostic()), Exit::Failure;
  if (!usedAllSettings(*source, targets, settings.schedule) ||
      !usesAllGiven(options, *source, targets, settings.schedule))
    return Exit::Failure;
  return compile(*source, targets, options.operands(), settings, *rules);
}

} // namespace colldsl::tools
