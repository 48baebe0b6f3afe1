#include "tools/CompileFormats.h"

#include "driver/Lists.h"
#include "driver/Workers.h"
#include "driver/files/NewFolder.h"
#include "driver/proofs/Proofs.h"
#include "runtime/StoredImages.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace colldsl::tools {
namespace {

/// The name of a collective as that of a file: a schedule from a file may have any name.
std::string fileName(llvm::StringRef name) {
  std::string safe;
  for (char c : name)
    safe += llvm::isAlnum(c) || llvm::StringRef("_.-").contains(c) ? c : '_';
  return safe.empty() || safe.front() == '.' ? "_" + safe : safe;
}

class FolderWriter {
public:
  FolderWriter(LibraryInput &input, const LibraryRequest &request, const ExportSettings &settings,
               NewFolder &folder)
      : source_(*input.source), request_(request), settings_(settings), folder_(folder) {}

  /// False, after a message: a schedule is wrong, or a file cannot be written.
  bool add(const Source::Target &target);

  /// True if a schedule of the collective has a file, and if all have.
  bool hasSome(const std::string &name) const {
    auto found = schedules_.find(name);
    return found != schedules_.end() && found->second.written > 0;
  }
  bool hasAll(const std::string &name) const {
    return hasSome(name) && schedules_.at(name).left == 0;
  }
  size_t written() const { return count(&Counts::written); }
  size_t left() const { return count(&Counts::left); }
  size_t files() const { return files_; }

private:
  struct Counts {
    size_t written = 0;
    size_t left = 0; ///< not written, but for those that the collective's `where` excludes
  };
  struct Made {
    ProofOutcome outcome;
    Result<std::vector<OutputFile>> files = std::vector<OutputFile>();
  };

  std::string stem(const Source::Target &target, const ProofTask &task) const;
  Made make(const Proofs &proofs, const Source::Target &target, const ProofTask &task) const;
  bool keep(const Source::Target &target, const ProofTask &task, Made made);
  bool isImport(const Source::Target &target) const;
  bool leaveOut(const Source::Target &target, const std::string &words, const std::string &why);
  size_t count(size_t Counts::*field) const {
    size_t sum = 0;
    for (const auto &[name, counts] : schedules_)
      sum += counts.*field;
    return sum;
  }

  Source &source_;
  const LibraryRequest &request_;
  const ExportSettings &settings_;
  NewFolder &folder_;
  std::map<std::string, Counts> schedules_; ///< per target
  size_t files_ = 0;
};

/// "allreduce_ring-n4-in-place-64b", without the size if there is one size.
std::string FolderWriter::stem(const Source::Target &target, const ProofTask &task) const {
  bool hasSizes = request_.proofs.bytes && request_.proofs.bytes->size() > 1;
  return fileName(target.name) + "-n" + std::to_string(task.shape.ranks) +
         (task.shape.inPlace ? "-in-place" : "") +
         (hasSizes ? "-" + std::to_string(task.bytes) + "b" : "");
}

FolderWriter::Made FolderWriter::make(const Proofs &proofs, const Source::Target &target,
                                      const ProofTask &task) const {
  Made made;
  std::shared_ptr<const Schedule> schedule = proofs.make(target, task, made.outcome);
  if (schedule)
    made.outcome = proofs.prove(task, *schedule);
  if (made.outcome.kind != ProofOutcome::Kind::Proved)
    return made;
  Schedule atSize = *schedule;
  atSize.sizeClass.elements = task.shape.elements;
  llvm::StringRef ending = settings_.to == ExportFormat::Chakra ? "" : extension(*settings_.to);
  made.files = exportFiles(atSize, settings_, stem(target, task) + ending.str());
  return made;
}

bool FolderWriter::leaveOut(const Source::Target &target, const std::string &words,
                            const std::string &why) {
  resultStream() << target.name << (words.empty() ? "" : ", ") << words << ": not written: " << why
                 << "\n";
  return true;
}

bool FolderWriter::keep(const Source::Target &target, const ProofTask &task, Made made) {
  Counts &counts = schedules_[target.name];
  if (made.outcome.kind == ProofOutcome::Kind::Excluded)
    return leaveOut(target, task.words(), "its `where` excludes this");
  if (made.outcome.kind != ProofOutcome::Kind::Proved) {
    source_.session().sink().take(Severity::Error, target.name + ", " + task.words() + ":\n" +
                                                       source_.render(made.outcome.why, target));
    return false;
  }
  if (!made.files) {
    const Diagnostic &why = made.files.status().diagnostic();
    ++counts.left;
    return leaveOut(target, task.words(), why.message + (why.hint.empty() ? "" : "; " + why.hint));
  }
  for (const OutputFile &file : *made.files)
    if (Status s = folder_.write(file.name, file.content); !s)
      return printError(s.diagnostic());
  ++counts.written;
  files_ += made.files->size();
  resultStream() << target.name << ", " << task.words() << ": " << made.files->front().name
                 << (made.files->size() > 1 ? " .. " + made.files->back().name : "") << "\n";
  return true;
}

/// True for a collective of a library that was a schedule from a file: it has no text.
bool FolderWriter::isImport(const Source::Target &target) const {
  if (!source_.library())
    return false;
  auto imported = source_.library()->imported();
  return imported && unitOf(**imported, target.name);
}

bool FolderWriter::add(const Source::Target &target) {
  if (!schedules_.try_emplace(target.name).second)
    return printError("two schedules are called '" + target.name + "'");
  if (isImport(target)) {
    ++schedules_[target.name].left;
    return leaveOut(target, "", "its library has images of it alone");
  }
  std::string missing = target.schedule ? "" : missingValue(source_, target, request_);
  if (!missing.empty()) {
    ++schedules_[target.name].left;
    return leaveOut(target, "", "parameter '" + missing + "' has no value, which --set gives");
  }
  Progress progress;
  Proofs proofs(source_, request_.proofs, progress.watch());
  Result<std::vector<ProofTask>> tasks = proofs.plan(target);
  if (!tasks)
    return source_.report(tasks.status().diagnostic(), target);
  llvm::erase_if(*tasks, [&](const ProofTask &task) { return !isForImage(task, request_); });
  std::vector<Made> made(tasks->size());
  Steps steps(progress.watch(), target.name, tasks->size());
  forEachInParallel(tasks->size(), [&](size_t i) {
    made[i] = make(proofs, target, (*tasks)[i]);
    steps.step();
  });
  for (size_t i = 0; i < tasks->size(); ++i)
    if (!keep(target, (*tasks)[i], std::move(made[i])))
      return false;
  return true;
}

/// The names of collectives and functions in the request of which something has no file: of a
/// collective some schedule, of a function all collectives that its rules name.
std::vector<std::string> unserved(const LibraryInput &input, const FolderWriter &writer) {
  const Source &source = *input.source;
  std::vector<std::string> names = source.names();
  llvm::append_range(names, input.reading.names);
  std::vector<std::string> missing;
  for (const std::string &name : names) {
    bool isServed = false, isFunction = false;
    for (const SelectionRule &rule : source.rules())
      if (rule.function == name) {
        isFunction = true;
        isServed |= writer.hasSome(source.collective(DeclId{rule.collective}).name);
      }
    if (!(isFunction ? isServed : writer.hasAll(name)))
      missing.push_back(name);
  }
  return missing;
}

} // namespace

Exit compileFormats(LibraryInput &input, const LibraryRequest &request,
                    const ExportSettings &settings, const std::string &folder) {
  Result<std::unique_ptr<NewFolder>> made = NewFolder::make(folder);
  if (!made)
    return printError(made.status().diagnostic()), Exit::Failure;
  FolderWriter writer(input, request, settings, **made);
  for (const Source::Target &target : input.targets) {
    bool isFine = writer.add(target);
    llvm::outs().flush();
    if (!isFine)
      return Exit::Failure;
  }
  std::string word = spelling(*settings.to).str();
  if (writer.written() == 0)
    return printError("none of this can be written as " + word + ": there is no '" + folder + "'"),
           Exit::Failure;
  if (Status s = (*made)->finish(); !s)
    return printError(s.diagnostic()), Exit::Failure;
  resultStream() << folder << ": " << counted(writer.files(), "file") << " of "
                 << counted(writer.written(), "schedule")
                 << (writer.left() > 0 ? ", " + std::to_string(writer.left()) + " not written" : "")
                 << "\n";
  llvm::outs().flush();
  std::vector<std::string> missing = unserved(input, writer);
  if (missing.empty())
    return Exit::Success;
  return printError("not all of " + llvm::join(missing, ", ") + " can be written as " + word),
         Exit::Failure;
}

} // namespace colldsl::tools
