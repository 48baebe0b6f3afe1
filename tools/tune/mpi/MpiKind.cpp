#include "tools/tune/mpi/MpiKind.h"

#include "driver/files/WriteFile.h"
#include "tools/tune/mpi/Mpich.h"
#include "tools/tune/mpi/OpenMpi.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

namespace colldsl::tools {

using namespace driver;

Status writeTogether(const std::vector<TuningFile> &files) {
  std::vector<std::string> added;
  for (const TuningFile &file : files) {
    bool isNew = !llvm::sys::fs::exists(file.path);
    Status s = writeFile(file.path, [&](llvm::raw_ostream &out) {
      out << file.text;
      return Status();
    });
    if (s && isNew)
      added.push_back(file.path);
    if (s)
      continue;
    for (const std::string &path : added)
      llvm::sys::fs::remove(path);
    return s;
  }
  return {};
}

const std::vector<std::string> &mpiFunctions() {
  static const std::vector<std::string> functions = {
      "barrier",   "bcast",      "reduce",   "allreduce", "gather",         "scatter",
      "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block",
      "scan",      "exscan"};
  return functions;
}

bool mpiFunctionReduces(const std::string &function) {
  return llvm::StringRef(function).contains("reduce") ||
         llvm::StringRef(function).ends_with("scan");
}

Result<std::unique_ptr<MpiKind>> MpiKind::make(const std::string &name, const MpiLaunch &launch) {
  if (name == "openmpi")
    return OpenMpi::make(launch);
  if (name == "mpich")
    return Mpich::make(launch);
  return Status::error("no tuning files of '" + name + "' are known");
}

} // namespace colldsl::tools
