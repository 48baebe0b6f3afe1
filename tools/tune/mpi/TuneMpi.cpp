#include "tools/tune/mpi/TuneMpi.h"

#include "tools/mpi/OwnFile.h"
#include "tools/tune/mpi/MpiTuner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

namespace colldsl::tools {
namespace {

Result<std::string> programFor(const KnownMpi &mpi) {
  Result<std::string> path =
      ownFile(mpi, "colldsl-measure-" + mpi.name.str(), {"bin", COLLDSL_LIBEXECDIR "/colldsl"});
  if (path)
    return path;
  return Status::error("the launcher belongs to " + mpi.title.str() +
                       ", for which colldsl is not installed: " + path.message());
}

Result<const KnownMpi *> mpiOf(const std::vector<std::string> &launcher) {
  if (llvm::none_of(launcher, [](const std::string &word) {
        return bool(llvm::sys::findProgramByName(word));
      }))
    return Status::error("there is no '" + launcher.front() +
                         "'; name the MPI's launcher: colldsl tune --mpi -- /opt/mpi/bin/mpirun");
  Result<const KnownMpi *> mpi = whichMpi(launcher);
  if (!mpi)
    return Status::error("'" + llvm::join(launcher, " ") +
                         "' is no launcher of an MPI: " + mpi.message());
  return mpi;
}

Status complete(TuneOptions &options) {
  for (const std::string &name : options.functions)
    if (!llvm::is_contained(mpiFunctions(), name))
      return Status::error("there is no function '" + name + "' of MPI; those that are measured: " +
                           llvm::join(mpiFunctions(), ", "));
  if (options.functions.empty())
    options.functions = mpiFunctions();
  if (!options.ranks.empty())
    return {};
  Result<std::vector<uint32_t>> usual = usualRanks();
  if (!usual)
    return usual.status();
  options.ranks = usual.take();
  return {};
}

} // namespace

Status tuneMpi(TuneOptions options, std::vector<std::string> launcher, const std::string &output) {
  if (Status s = complete(options); !s)
    return s;
  if (launcher.empty())
    launcher = {"mpirun"};
  Result<const KnownMpi *> mpi = mpiOf(launcher);
  if (!mpi)
    return mpi.status();
  Result<std::string> program = programFor(**mpi);
  if (!program)
    return program.status();
  MpiLaunch launch{std::move(launcher), program.take()};
  Result<std::unique_ptr<MpiKind>> kind = MpiKind::make((*mpi)->name.str(), launch);
  if (!kind)
    return kind.status();
  llvm::SmallString<256> path(output.empty() ? (*kind)->usualFile() : output);
  if (std::error_code error = llvm::sys::fs::make_absolute(path))
    return Status::error("cannot name '" + path.str().str() + "': " + error.message());
  return MpiTuner(options, launch, **kind, path.str().str()).run();
}

} // namespace colldsl::tools
