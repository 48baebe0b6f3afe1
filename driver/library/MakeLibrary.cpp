#include "driver/library/MakeLibrary.h"

#include "driver/Workers.h"
#include "driver/choice/Functions.h"
#include "driver/files/ReadInput.h"
#include "driver/library/ImportedSchedules.h"
#include "driver/library/ProgramContent.h"
#include "driver/library/ProvedImage.h"
#include "driver/proofs/Proofs.h"
#include "driver/rules/Rules.h"
#include "driver/rules/StandardFunctions.h"
#include "ir/Image.h"
#include "runtime/StoredImages.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

constexpr const char *kFlat = "flat";

/// The images of one target, in the order of its tasks.
class ImageMaker {
public:
  ImageMaker(const Source &source, const Source::Target &target, const LibraryRequest &request,
             const Proofs &proofs, std::vector<ProofTask> tasks)
      : source_(source), target_(target), request_(request), proofs_(proofs),
        tasks_(std::move(tasks)), images_(tasks_.size()) {}

  /// False, after a message: some schedule is wrong, or the watch stopped the work.
  bool make(const Watch &watch) {
    Steps steps(watch, target_.name, tasks_.size());
    forEachInParallel(tasks_.size(), [&](size_t i) {
      if (watch.isStopped())
        return;
      makeOne(i);
      steps.step();
    });
    Sink &sink = source_.session().sink();
    if (watch.isStopped())
      return sink.error("the library was stopped");
    for (size_t i = 0; i < tasks_.size(); ++i)
      if (!images_[i].why.empty()) {
        sink.take(Severity::Error, target_.name + ", " + tasks_[i].words() + ":\n" +
                                       source_.render(images_[i].why, target_));
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

  /// The levels of the machine on which the image depends; all of them if passes changed it for a
  /// machine.
  LevelSet levelsOf(const ProofTask &task) const {
    bool isOfMachine = !task.levels.empty() || request_.proofs.schedule.topology != kFlat;
    bool hasPasses = !request_.proofs.schedule.passes.pipeline.empty();
    return hasPasses && isOfMachine ? LevelSet::wholeMachine() : task.levels;
  }

  void makeOne(size_t i) {
    if (!request_.prove && !isForImage(tasks_[i], request_))
      return;
    ProofOutcome outcome;
    std::shared_ptr<const Schedule> schedule = proofs_.make(target_, tasks_[i], outcome);
    if (schedule && request_.prove)
      outcome = proofs_.prove(tasks_[i], *schedule);
    images_[i].why = outcome.why;
    if (outcome.kind != ProofOutcome::Kind::Proved || !isForImage(tasks_[i], request_))
      return;
    Schedule image = *schedule;
    if (request_.prove)
      images_[i].proof = narrowToProved(image, request_.proofs.verify);
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
    key.type = request_.proofs.schedule.elementType();
    key.inPlace = task.shape.inPlace;
    key.topology = request_.proofs.schedule.topology;
    key.topologyHash = signatureOf(*task.shape.topology, levelsOf(task));
    key.parameters = task.call.words();
    key.passes = request_.proofs.schedule.passes.pipeline.text();
    key.proof = images_[i].proof;
    InstantiateRequest request =
        instantiationOf(target_, request_.proofs.schedule, task.call, task.shape);
    key.isTuned = request_.proofs.schedule.passes.pipeline.has(PassKind::Program) ||
                  tunes(source_.program(), request);
    LibraryArguments arguments = argumentsOfImage(source_.program(), request);
    key.servesCalls = arguments.has_value();
    key.arguments = std::move(arguments).value_or(std::vector<LibraryArgument>());
    return key;
  }

  const Source &source_;
  const Source::Target &target_;
  const LibraryRequest &request_;
  const Proofs &proofs_;
  std::vector<ProofTask> tasks_;
  std::vector<Made> images_;
};

/// With --stdlib, collectives whose parameters lack a value get no images.
bool addImages(Source &source, const std::vector<Source::Target> &targets,
               const LibraryRequest &request, LibraryContent &content, const Watch &watch) {
  Proofs proofs(source, request.proofs, watch);
  for (const Source::Target &target : targets) {
    std::string missing = request.stdlib ? missingValue(source, target, request) : "";
    if (!missing.empty()) {
      source.session().sink().take(Severity::Note, target.name + ": no images, since parameter '" +
                                                       missing + "' has no value\n");
      continue;
    }
    Result<std::vector<ProofTask>> tasks = proofs.plan(target);
    if (!tasks)
      return source.report(tasks.status().diagnostic(), target);
    ImageMaker maker(source, target, request, proofs, tasks.take());
    if (!maker.make(watch))
      return false;
    maker.addTo(content);
  }
  return true;
}

bool addGivenRules(Source &source, const LibraryRequest &request, llvm::StringRef text,
                   LibraryContent &content) {
  Sink &sink = source.session().sink();
  Result<StandardFunctions> standard = StandardFunctions::make();
  if (!standard)
    return sink.error(standard.status().diagnostic());
  Result<std::vector<SelectionRule>> rules =
      readRules(shownName(request.rules), text, source.compilation(), &*standard, &sink);
  if (!rules)
    return sink.error(rules.status().diagnostic());
  content.rules = rules.take();
  return true;
}

/// The parts of a library.
struct Parts {
  Source &source;                          ///< declares the imports, too
  std::vector<Source::Target> collectives; ///< but for the imports
  std::vector<ImportedSchedule> imports;
};

/// Adds the given rules. Without these, adds a rule for each import, then the rules of the
/// functions that were named.
bool addRules(Parts &parts, const LibraryRequest &request, llvm::StringRef text,
              LibraryContent &content) {
  if (!request.rules.empty())
    return addGivenRules(parts.source, request, text, content);
  for (const ImportedSchedule &import : parts.imports)
    content.rules.push_back(ruleFor(import, parts.source.program()));
  llvm::append_range(content.rules, parts.source.rules());
  return true;
}

/// `input`: the sources as they were read, which render counterexamples of imports.
std::optional<LibraryContent> contentOf(Parts parts, const Source &input,
                                        const LibraryRequest &request, llvm::StringRef rules,
                                        const Watch &watch) {
  LibraryContent content;
  if (!addRules(parts, request, rules, content))
    return std::nullopt;
  if (request.proofs.ranks && !addImages(parts.source, parts.collectives, request, content, watch))
    return std::nullopt;
  for (const ImportedSchedule &import : parts.imports)
    if (!addImages(input, import,
                   {request.proofs.schedule.type, request.prove, request.proofs.verify}, content,
                   watch))
      return std::nullopt;
  std::vector<Source::Target> all = parts.collectives;
  for (const ImportedSchedule &import : parts.imports)
    all.push_back(parts.source.collective(idOf(import, parts.source.program())));
  addProgram(parts.source, all, content);
  return content;
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

std::optional<LibraryInput> readForLibrary(Session &session,
                                           const std::vector<std::string> &operands,
                                           const LibraryRequest &request) {
  ScheduleRequest reading = request.proofs.schedule;
  Result<std::string> rules = rulesText(request.rules);
  if (!rules)
    return session.sink().error(rules.status().diagnostic()), std::nullopt;
  if (!request.stdlib)
    reading.compile.usedBy = namesIn(operands, reading.names, *rules);
  LibraryInput input{
      Source::read(session, operands, reading, request.form), {}, reading, rules.take()};
  if (!input.source)
    return std::nullopt;
  input.targets = request.stdlib ? input.source->stdlib() : input.source->choose(reading);
  expandFunctions(*input.source, input.targets);
  if (input.targets.empty())
    return std::nullopt;
  return input;
}

bool isForImage(const ProofTask &task, const LibraryRequest &request) {
  return task.lead != ProofTask::Lead::Highest &&
         (task.topology.empty() || task.topology == request.proofs.schedule.topology);
}

std::string missingValue(const Source &source, const Source::Target &target,
                         const LibraryRequest &request) {
  const Program &program = source.program();
  for (const Param &param : program.decl(target.collective).params) {
    const std::string &name = program.nameOf(param);
    bool isSet = std::any_of(request.proofs.schedule.settings.begin(),
                             request.proofs.schedule.settings.end(),
                             [&](const auto &setting) { return setting.name == name; });
    if (!param.isBuffer && param.defaultValue == kNoExpr && !isSet)
      return name;
  }
  return "";
}

std::optional<LibraryContent> makeLibrary(LibraryInput &input, const LibraryRequest &request,
                                          const Watch &watch) {
  Sink &sink = input.source->session().sink();
  std::vector<Source::Target> schedules, collectives;
  for (const Source::Target &target : input.targets)
    (target.schedule ? schedules : collectives).push_back(target);
  if (schedules.empty())
    return contentOf({*input.source, collectives, {}}, *input.source, request, input.rules, watch);
  if (input.source->library())
    return sink.error("'" + input.source->mainFile() +
                      "': a library stands alone, without schedules"),
           std::nullopt;
  Result<std::vector<ImportedSchedule>> imports =
      describeImports(schedules, input.source->program());
  if (!imports)
    return sink.error(imports.message()), std::nullopt;
  std::unique_ptr<Source> declared =
      input.source->withText("<imported>", declarationsOf(*imports), input.reading);
  if (!declared)
    return std::nullopt;
  for (Source::Target &target : collectives)
    target.collective = declared->program().find(target.name, DeclKind::Collective);
  return contentOf({*declared, std::move(collectives), imports.take()}, *input.source, request,
                   input.rules, watch);
}

} // namespace colldsl::driver
