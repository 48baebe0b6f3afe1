#include "tests/mutation/Cases.h"

#include "driver/proofs/Proofs.h"
#include "driver/schedule/BlockSizes.h"
#include "stdlib/StdlibFiles.h"
#include "tools/input/ErrorMessages.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl::mutation {
namespace {

using namespace colldsl::tools;

constexpr uint64_t kBytes = 7 * 4;
// allreduce_ring_segmented has segments for each rank: at least three of them on 8 ranks.
constexpr uint64_t kManyBytes = 23 * 4;

/// The library as one file, in which segments may be as short as an element.
std::string libraryText() {
  const llvm::StringRef range = "bytes = 64KiB in 4KiB..1MiB", shorter = "bytes = 8B in 4B..1MiB";
  std::string text;
  for (const StdlibFile &file : stdlibFiles())
    text += file.text;
  for (size_t at = 0; (at = text.find(range.str(), at)) != std::string::npos;)
    text.replace(at, range.size(), shorter.str());
  return text;
}

std::unique_ptr<Source> readLibrary(const ScheduleRequest &options) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("stdlib", "coll", path)) {
    printError("no temporary file can be made: " + error.message());
    return nullptr;
  }
  llvm::FileRemover remover(path);
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  out << libraryText();
  out.close();
  return error ? nullptr : Source::read(tools::session(), {path.str().str()}, options);
}

/// Sends the cases of one collective to `cases`; false: something was wrong and told.
bool addCases(Source &source, const Source::Target &target, const ScheduleRequest &options,
              std::vector<Case> &cases) {
  ProofRequest request;
  request.schedule = options;
  request.ranks = {5, 8};
  request.bytes = {kBytes};
  request.variesMachine = request.variety.vary = false;
  request.variety.roots = {0, 3};
  if (target.name == "allreduce_ring_segmented") {
    request.bytes = {kManyBytes};
    request.schedule.settings.push_back({"segment", "4B"});
  }
  Proofs proofs(source, request);
  Result<std::vector<ProofTask>> tasks = proofs.plan(target);
  if (!tasks)
    return source.report(tasks.status().diagnostic(), target);
  for (const ProofTask &task : *tasks) {
    ProofOutcome outcome;
    std::shared_ptr<const Schedule> schedule = proofs.make(target, task, outcome);
    if (!schedule && outcome.kind != ProofOutcome::Kind::Excluded)
      return source.report(outcome.why, target);
    if (!schedule)
      continue;
    Result<std::vector<Sizes>> sizes = chooseSizes(*schedule, task.shape.elements, request.seed);
    if (!sizes)
      return source.report(sizes.status().diagnostic(), target);
    cases.push_back({target.name + ", " + task.words(), schedule, sizes.take()});
  }
  return true;
}

} // namespace

std::vector<Case> stdlibCases(const std::vector<std::string> &names) {
  ScheduleRequest options;
  options.topology = "node:4 core:3";
  options.names = names;
  std::vector<Case> cases;
  std::unique_ptr<Source> source = readLibrary(options);
  if (!source)
    return {};
  for (const Source::Target &target : source->choose(options))
    if (!addCases(*source, target, options, cases))
      return {};
  return cases;
}

} // namespace colldsl::mutation
