#include "driver/source/Source.h"

#include "compiler/Spelling.h"
#include "compiler/UnusedNames.h"
#include "driver/explain/Explanations.h"
#include "driver/files/FileKind.h"
#include "driver/files/ReadInput.h"
#include "driver/files/StandardFiles.h"
#include "driver/requests/SingleRequest.h"
#include "driver/rules/Rules.h"
#include "driver/source/AlgorithmSchedules.h"
#include "driver/source/RenderInFiles.h"
#include "driver/source/TraceFiles.h"
#include "formats/Chakra.h"
#include "formats/GoalBinary.h"
#include "ir/Image.h"
#include "ir/Printable.h"
#include "mscclpp/PlanLayout.h"
#include "mscclpp/PlanSchedule.h"
#include "mscclpp/Read.h"
#include "select/DecisionRules.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

namespace colldsl::driver {
namespace {

/// True for `allreduce_ring`, false for `ring.coll` and `dir/ring`.
bool looksLikeName(llvm::StringRef operand) { return operand.find_first_of("./-") == operand.npos; }

/// An error if two operands name one stream, which can be read only once.
Status checkStreams(llvm::ArrayRef<std::string> operands) {
  std::vector<int> seen;
  for (const std::string &operand : operands) {
    int fd = descriptorNamed(operand);
    if (fd >= 0 && llvm::is_contained(seen, fd))
      return Status::error("'" + operand + "' is named twice, but can be read once only");
    seen.push_back(fd);
  }
  return {};
}

std::span<const std::byte> bytesIn(llvm::StringRef text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace

std::unique_ptr<Source> Source::read(Session &session, const std::vector<std::string> &operands,
                                     const ScheduleRequest &request, const InputForm &form) {
  auto source = std::make_unique<Source>(session);
  if (!source->readFiles(operands, request, form))
    return nullptr;
  bool isLibrary = source->compilation_.has_value();
  if (isLibrary && !source->sourceFiles_.empty()) {
    source->fail("'" + source->sourceFiles_.front()->getBufferIdentifier() +
                 "': a library stands alone, without sources");
    return nullptr;
  }
  if (!isLibrary && source->needsCompiler(request) && !source->compile(request))
    return nullptr;
  return source;
}

std::unique_ptr<Source> Source::ofText(Session &session, const std::string &name,
                                       llvm::StringRef text, const ScheduleRequest &request) {
  auto source = std::make_unique<Source>(session);
  source->sourceFiles_.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, name));
  source->mainFile_ = name;
  return source->compile(request) ? std::move(source) : nullptr;
}

std::unique_ptr<Source> Source::withText(const std::string &name, llvm::StringRef text,
                                         ScheduleRequest request) const {
  auto source = std::make_unique<Source>(*session_);
  auto add = [&](const std::string &file, llvm::StringRef content) {
    source->sourceFiles_.push_back(llvm::MemoryBuffer::getMemBufferCopy(content, file));
  };
  for (const std::string &file : read_)
    for (size_t i = 0; i < program().files.size(); ++i)
      if (program().files[i] == file)
        add(file, compilation_->sourceText(static_cast<uint16_t>(i)));
  add(name, text);
  source->mainFile_ = mainFile_.empty() ? name : mainFile_;
  request.noWarn = true; // the other Source has printed the warnings
  if (!source->compile(request))
    return nullptr;
  for (const SelectionRule &rule : rules_)
    source->addRulesFor(rule.function);
  return source;
}

std::unique_ptr<Source> Source::of(Session &session, Compilation compilation,
                                   std::string mainFile) {
  auto source = std::make_unique<Source>(session);
  source->compilation_ = std::move(compilation);
  source->mainFile_ = std::move(mainFile);
  return source;
}

std::unique_ptr<Source> Source::of(Session &session, Schedule schedule) {
  auto source = std::make_unique<Source>(session);
  std::string name = schedule.name;
  return source->add(name, std::move(schedule)) ? std::move(source) : nullptr;
}

bool Source::readFiles(const std::vector<std::string> &operands, const ScheduleRequest &request,
                       const InputForm &form) {
  Status streams = checkStreams(operands);
  bool fine = streams || fail(streams);
  for (const std::string &operand : operands)
    if (!form.kind && looksLikeName(operand) && !llvm::sys::fs::exists(operand))
      names_.push_back(operand);
    else
      fine &= readFile(operand, request, form);
  return fine;
}

bool Source::readFile(const std::string &operand, const ScheduleRequest &request,
                      const InputForm &form) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(operand);
  if (!input)
    return fail(input.status());
  std::string name = shownName(operand);
  read_.push_back(name);
  llvm::StringRef content = (*input)->getBuffer();
  bool isPlan = form.allowsPlans && !form.kind && isPlanText(content);
  if (Status s = form.kind || isPlan ? Status() : refuseForeign(content, name); !s)
    return fail(s);
  FileKind found = isPlan ? FileKind::Plan : form.kind.value_or(fileKind(content));
  kinds_.insert(found);
  if (found == FileKind::Source) { // a copy, since a mapped file may be cut off while it is parsed
    sourceFiles_.push_back(llvm::MemoryBuffer::getMemBufferCopy(content, name));
    mainFile_ = mainFile_.empty() ? name : mainFile_;
    return true;
  }
  inputs_[name] = input.take();
  TextLimits limits = request.text;
  limits.allowWildcards = form.allowsWildcards;
  switch (found) {
  case FileKind::Source:
    return true;
  case FileKind::Text:
    return readText(name, content, limits);
  case FileKind::Image:
    return readImage(name, content);
  case FileKind::Library:
    return readLibrary(name, content);
  case FileKind::GoalBinary:
    return readGoalBinary(name, content, limits);
  case FileKind::MscclXml:
    return readMscclXml(name, content, request, form);
  case FileKind::Chakra:
    return readChakra(operand, limits);
  case FileKind::Plan:
    return readPlan(name, content, form);
  }
  return false;
}

bool Source::readLibrary(const std::string &name, llvm::StringRef bytes) {
  auto fail = [&](const Status &s) { return this->fail("'" + name + "': " + s.message()); };
  Result<std::unique_ptr<Library>> library = Library::view(bytesIn(bytes));
  if (!library)
    return fail(library.status());
  Result<const LibraryIdentity *> identity = (*library)->identity();
  if (!identity)
    return fail(identity.status());
  Result<const std::vector<LibrarySource> *> sources = (*library)->sources();
  if (!sources)
    return fail(sources.status());
  Result<const Program *> program = (*library)->program();
  if (!program)
    return fail(program.status());
  if ((*sources)->size() != (*program)->files.size())
    return fail(Status::error("library: it has not all of its sources"));
  if (compilation_)
    return this->fail("'" + name + "': one library at a time");
  std::vector<std::string_view> texts;
  for (const LibrarySource &source : **sources)
    texts.push_back(source.text);
  std::vector<DeclId> exports;
  for (uint32_t id : (*identity)->exports)
    exports.push_back(DeclId{id});
  compilation_ = reopenProgram(**program, texts, exports);
  library_ = library.take();
  mainFile_ = name;
  return true;
}

bool Source::readText(const std::string &name, llvm::StringRef text, const TextLimits &limits) {
  ParsedText parsed = parseText({text.data(), text.size()}, name, limits);
  addExplanationNote(parsed.errors);
  for (const Diagnostic &error : parsed.errors)
    session_->sink().take(error.severity, renderInInputs(error, {name}));
  if (!parsed.errors.empty())
    return false;
  return add(name, std::move(parsed.schedule));
}

bool Source::readImage(const std::string &name, llvm::StringRef bytes) {
  Result<Image> image = Image::load(bytesIn(bytes));
  if (!image)
    return fail(name + ": " + image.message());
  return add(name, image->decode());
}

bool Source::add(const std::string &name, Schedule schedule) {
  if (schedule.numRanks() == 0)
    return fail(name + ": the schedule '" + schedule.name + "' has no ranks");
  files_.push_back(std::make_unique<File>(File{name, std::move(schedule)}));
  return true;
}

bool Source::keep(const std::string &name, Result<Schedule> schedule) {
  if (schedule)
    return add(name, schedule.take());
  const Diagnostic &error = schedule.status().diagnostic();
  if (!error.loc.known())
    return fail(name + ": " + error.message);
  std::vector<Diagnostic> all{error};
  addExplanationNote(all);
  for (const Diagnostic &d : all)
    session_->sink().take(d.severity, renderInInputs(d, {name}));
  return false;
}

bool Source::readGoalBinary(const std::string &name, llvm::StringRef bytes,
                            const TextLimits &limits) {
  return keep(name, decodeGoal(bytesIn(bytes), name, limits));
}

bool Source::readMscclXml(const std::string &name, llvm::StringRef xml,
                          const ScheduleRequest &request, const InputForm &form) {
  msccl::ReadOptions reading;
  reading.collective = form.collective;
  Result<msccl::Algorithm> algorithm = msccl::read({xml.data(), xml.size()}, reading);
  if (!algorithm)
    return keep(name, algorithm.status());
  Result<std::vector<Schedule>> schedules =
      schedulesOf(*algorithm, name, {request.elementType(), request.text.maxOps});
  if (!schedules)
    return keep(name, schedules.status());
  auto kept = std::make_shared<const msccl::Algorithm>(algorithm.take());
  for (Schedule &schedule : *schedules) {
    if (!add(name, std::move(schedule)))
      return false;
    files_.back()->algorithm = kept;
  }
  return true;
}

std::string Source::otherCollective(const Target &target) const {
  for (const std::unique_ptr<File> &file : files_)
    if (&file->schedule == target.schedule && file->algorithm)
      return hintOfOther(*file->algorithm, {});
  return "";
}

bool Source::readChakra(const std::string &operand, const TextLimits &limits) {
  Result<Traces> traces = readTraces(operand);
  if (!traces)
    return fail(traces.status());
  std::vector<std::string_view> ranks;
  for (const std::unique_ptr<llvm::MemoryBuffer> &rank : traces->ranks)
    ranks.emplace_back(rank->getBufferStart(), rank->getBufferSize());
  return keep(traces->name, chakra::decode(ranks, traces->name, limits));
}

bool Source::readPlan(const std::string &name, llvm::StringRef json, const InputForm &form) {
  Result<mscclpp::Plan> plan = mscclpp::read({json.data(), json.size()});
  if (!plan)
    return keep(name, plan.status());
  std::optional<uint64_t> bytes = form.planBytes;
  if (!bytes)
    bytes = mscclpp::PlanLayout::nearestBytes(*plan, kUsualBytes);
  return keep(name, mscclpp::scheduleOf(*plan, bytes.value_or(kUsualBytes), 1, name));
}

const Program &Source::program() const { return compilation_ ? compilation_->program() : none_; }

/// False if all targets are schedules from files, which need no standard library.
bool Source::needsCompiler(const ScheduleRequest &request) const {
  auto isInFile = [&](const std::string &name) { return findFile(name) != nullptr; };
  return files_.empty() || !sourceFiles_.empty() || !llvm::all_of(names_, isInFile) ||
         !llvm::all_of(request.names, isInFile);
}

bool Source::compile(const ScheduleRequest &request) {
  CompileOptions compile = request.compile;
  SymbolIndex symbols;
  compile.symbols = request.noWarn ? nullptr : &symbols;
  compilation_ = compileTexts(std::move(sourceFiles_), compile);
  std::vector<Diagnostic> diagnostics = compilation_->diagnostics();
  addExplanationNote(diagnostics);
  for (const Diagnostic &diagnostic : diagnostics)
    session_->sink().take(diagnostic.severity, compilation_->render(diagnostic));
  if (!request.noWarn && compilation_->ok())
    warnOfUnusedNames(symbols);
  return compilation_->ok();
}

std::set<uint16_t> Source::mainFiles() const {
  std::set<uint16_t> files;
  for (DeclId id : compilation_->mainDecls())
    files.insert(compilation_->program().decl(id).loc.file);
  return files;
}

void Source::warnOfUnusedNames(const SymbolIndex &symbols) const {
  for (uint16_t file : mainFiles())
    for (const Diagnostic &warning : unusedNames(symbols, file))
      session_->sink().take(warning.severity, compilation_->render(warning));
}

Source::Target Source::collective(DeclId id) const {
  const Program &program = compilation_->program();
  return {program.nameOf(program.decl(id)), id, nullptr};
}

/// The target of a schedule from a file. Plain GOAL has no name, so that the file's name stands for
/// it.
Source::Target Source::whole(const File &file) {
  const std::string &name = file.schedule.name;
  return {name == file.name ? llvm::sys::path::filename(name).str() : name, kNoDecl,
          &file.schedule};
}

std::vector<Source::Target> Source::all() const {
  std::vector<Target> targets;
  if (compilation_)
    for (DeclId id : compilation_->mainDecls())
      if (compilation_->program().decl(id).kind == DeclKind::Collective)
        targets.push_back(collective(id));
  for (const std::unique_ptr<File> &file : files_)
    targets.push_back(whole(*file));
  return targets;
}

std::vector<Source::Target> Source::stdlib() const {
  const Program &program = compilation_->program();
  std::vector<Target> targets;
  for (uint32_t i = 0; i < program.decls.size(); ++i)
    if (program.decls[i].kind == DeclKind::Collective)
      targets.push_back(collective(DeclId{i}));
  return targets;
}

std::vector<Source::Target> Source::choose(const ScheduleRequest &request) {
  std::vector<std::string> names = names_;
  names.insert(names.end(), request.names.begin(), request.names.end());
  std::vector<Target> targets;
  bool fine = true;
  for (const std::string &name : names)
    fine &= chooseNamed(name, targets);
  if (fine && !names_.empty() && request.names.empty()) {
    std::vector<Target> others;
    for (const std::string &file : read_)
      if (!hasAnyOf(file, targets))
        llvm::append_range(others, allOf(file));
    targets.insert(targets.begin(), others.begin(), others.end());
  }
  if (names.empty()) {
    targets = all();
    fine = !targets.empty() || fail("there is no collective in " +
                                    (mainFile_.empty() ? "the library" : "'" + mainFile_ + "'"));
  }
  return fine ? targets : std::vector<Target>();
}

/// The targets of one file. All of a library belongs to the library's file, whatever the names of
/// its sources are.
std::vector<Source::Target> Source::allOf(const std::string &file) const {
  std::vector<Target> targets = all();
  llvm::erase_if(targets, [&](const Target &target) {
    if (target.schedule)
      return llvm::none_of(files_, [&](const auto &f) {
        return f->name == file && target.schedule == &f->schedule;
      });
    return (library_ ? mainFile_ : nameOfFile(target)) != file;
  });
  return targets;
}

const std::string &Source::nameOfFile(const Target &target) const {
  return program().files[program().decl(target.collective).loc.file];
}

/// True if a target is from the file, or from one that it imports. Imports count for each of the
/// files that were read.
bool Source::hasAnyOf(const std::string &file, llvm::ArrayRef<Target> targets) const {
  bool isSource = llvm::none_of(files_, [&](const auto &f) { return f->name == file; });
  return llvm::any_of(targets, [&](const Target &target) {
    if (target.schedule)
      return llvm::any_of(files_, [&](const auto &f) {
        return f->name == file && target.schedule == &f->schedule;
      });
    if (library_ || target.isFunction)
      return library_ && mainFile_ == file;
    const std::string &its = nameOfFile(target);
    bool isImported = !standardText(its) && !llvm::is_contained(read_, its);
    return its == file || (isSource && isImported);
  });
}

/// True if a --set names a declaration of the file, such as a tree for a collective of the standard
/// library.
bool Source::isNamedBySettings(const std::string &file, const ScheduleRequest &request) const {
  for (const ScheduleRequest::Setting &setting : request.settings)
    for (const std::string &word : wordsOf(setting.value))
      for (const Decl &decl : program().decls)
        if (program().nameOf(decl) == word && program().files[decl.loc.file] == file)
          return true;
  return false;
}

bool Source::usesAllFiles(llvm::ArrayRef<Target> targets, const ScheduleRequest &request) const {
  for (const std::string &file : read_) {
    if (hasAnyOf(file, targets) || isNamedBySettings(file, request) || allOf(file).empty())
      continue;
    std::string names;
    for (const std::string &name : request.names)
      names += " --name " + name;
    return fail("'" + file + "' has nothing that is named:" + names +
                " leaves nothing of it; without --name all of it counts");
  }
  return true;
}

const Source::File *Source::findFile(const std::string &name) const {
  for (const std::unique_ptr<File> &file : files_)
    if (whole(*file).name == name)
      return file.get();
  return nullptr;
}

Source::Target Source::ruled(const SelectionRule &rule) const {
  Target target = collective(DeclId{rule.collective});
  for (uint32_t i : rule.arguments)
    target.arguments.emplace_back(program().arguments[i].param, program().arguments[i].value);
  return target;
}

// Reads the rules for the function alone: others may name collectives that are not in scope.
Result<std::vector<SelectionRule>> Source::standardRules(const std::string &function) {
  return readRules(kStandardRules, linesOfFunction(selectionRules(), function), *compilation_);
}

bool Source::addRulesFor(const std::string &function) {
  auto isOurs = [&](const SelectionRule &rule) { return rule.function == function; };
  if (!compilation_)
    return false;
  if (llvm::any_of(rules_, isOurs))
    return true;
  Result<std::vector<SelectionRule>> found = std::vector<SelectionRule>();
  if (!library_)
    found = standardRules(function);
  else if (auto rules = library_->rules())
    found = **rules;
  if (found)
    llvm::copy_if(*found, std::back_inserter(rules_), isOurs);
  return llvm::any_of(rules_, isOurs);
}

// As for a library: if one of the decisions cannot be followed, none counts.
std::vector<SelectionRule> Source::readDecisions() {
  const MachineProfile *profile = session_->profile();
  if (!profile)
    return {};
  std::vector<SelectionRule> rules;
  std::set<std::string> known;
  for (const Decision &decision : profile->decisions)
    if (known.insert(decision.function).second)
      if (Result<std::vector<SelectionRule>> found = standardRules(decision.function))
        llvm::append_range(rules, *found);
  if (rules.empty())
    return {};
  auto add = [&](DeclId collective, uint32_t p, int64_t value) -> Result<uint32_t> {
    const Param &param = program().decl(collective).params[p];
    std::string text = param.type != ValueType::Bool ? std::to_string(value)
                       : value                       ? "true"
                                                     : "false";
    Result<ExprId> added = compilation_->addArgument(collective, program().nameOf(param), text);
    if (!added)
      return added.status();
    return static_cast<uint32_t>(program().arguments.size() - 1);
  };
  Result<std::vector<SelectionRule>> made = rulesOf(program(), rules, profile->decisions, add);
  if (made)
    return made.take();
  session_->sink().warn("the machine profile is not used: '" + profilePath() +
                        "': " + made.message());
  return {};
}

Chooser Source::chooser(bool usesProfile) {
  bool counts = usesProfile && compilation_ && !library_;
  if (counts && !decisions_)
    decisions_ = readDecisions();
  std::span<const SelectionRule> decisions;
  if (counts)
    decisions = *decisions_;
  return Chooser(program(), decisions, rules_);
}

bool Source::chooseNamed(const std::string &name, std::vector<Target> &targets) {
  auto isKnown = [&](const Target &target) { return target.name == name; };
  if (llvm::any_of(targets, isKnown)) // named twice
    return true;
  if (const File *file = findFile(name)) {
    targets.push_back(whole(*file));
    return true;
  }
  DeclId id = compilation_ ? compilation_->program().find(name, DeclKind::Collective) : kNoDecl;
  if (id != kNoDecl)
    targets.push_back(collective(id));
  else if (addRulesFor(name))
    targets.push_back({name, kNoDecl, nullptr, true});
  else
    return refuseName(name);
  return true;
}

bool Source::refuseName(const std::string &name) const {
  std::vector<llvm::StringRef> known;
  for (const std::unique_ptr<File> &file : files_)
    known.push_back(file->schedule.name);
  if (compilation_)
    for (const Decl &decl : compilation_->program().decls)
      if (decl.kind == DeclKind::Collective)
        known.push_back(compilation_->program().nameOf(decl));
  llvm::append_range(known, functionNames());
  std::string hint = didYouMean(nearestWord(name, known));
  return fail("there is no collective '" + name + "'; " +
              (hint.empty() ? "`colldsl list` lists the standard library's" : hint));
}

uint64_t Source::elementBytes(const Target &target, ElementType typeVariable) const {
  if (target.schedule) {
    for (const Dag &dag : target.schedule->ranks)
      if (!dag.buffers.empty())
        return sizeBytes(dag.buffers.front().type);
    return 1;
  }
  const Decl &decl = program().decl(target.collective);
  const BufferType *first = nullptr;
  for (const Param &param : decl.params) {
    if (param.isBuffer && param.buffer.generic)
      return sizeBytes(typeVariable);
    if (param.isBuffer && !first)
      first = &param.buffer;
  }
  return first ? sizeBytes(first->type) : 1;
}

bool Source::report(llvm::ArrayRef<Diagnostic> diagnostics, const Target &target) const {
  std::vector<Diagnostic> all(diagnostics.begin(), diagnostics.end());
  addExplanationNote(all);
  for (const Diagnostic &d : all)
    session_->sink().take(d.severity,
                          (d.loc.known() || d.severity != Severity::Error ? "" : "colldsl: ") +
                              render(d, target));
  return false;
}

std::string Source::render(llvm::ArrayRef<Diagnostic> diagnostics, const Target &target) const {
  std::string text;
  for (const Diagnostic &d : diagnostics)
    text += target.schedule ? renderInInputs(d, target.schedule->files) : compilation_->render(d);
  return printable(text);
}

std::string Source::lineAt(const SourceLoc &loc, const Target &target) const {
  llvm::StringRef text;
  if (!target.schedule) {
    text = compilation_->sourceText(loc.file);
  } else if (loc.file < target.schedule->files.size()) {
    auto it = inputs_.find(target.schedule->files[loc.file]);
    text = it == inputs_.end() ? "" : it->second->getBuffer();
  }
  for (uint32_t line = 1; line < loc.line; ++line)
    text = text.split('\n').second;
  return text.split('\n').first.trim().str();
}

std::string Source::renderInInputs(const Diagnostic &d,
                                   const std::vector<std::string> &files) const {
  return renderInFiles(d, files, [&](llvm::StringRef file) {
    auto it = inputs_.find(file);
    return it == inputs_.end() ? nullptr : it->second.get();
  });
}

} // namespace colldsl::driver
