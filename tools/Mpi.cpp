#include "runtime/job/JobNetwork.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/mpi/OwnFile.h"
#include "tools/options/ResultStream.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <unistd.h>

namespace colldsl::tools {
namespace {

struct MpiSettings {
  std::string library, network;
  bool which = false;

  void addTo(Options &options);
};

void MpiSettings::addTo(Options &options) {
  options.addText("--library", "FILE",
                  "the library to load (default: the one for the MPI that the programs\n"
                  "of the command are linked with, or else that its launcher belongs to)",
                  library) = completionOfFiles({".so"});
  std::vector<llvm::StringRef> networks(kNetworkNames.begin(), kNetworkNames.end());
  networks.push_back(kMpiBelow);
  options.add("--network", "N",
              "what carries messages between nodes: ofi, verbs or datagram, with options as in\n"
              "datagram{bind=10.0.0.0/24}, or mpi, the MPI below; in place of COLLDSL_NETWORK",
              [this](llvm::StringRef text) {
                network = text;
                return Network::parseForMpi(network).status();
              }) = completionOf(networks);
  options.addFlag("--which", "print the library, and run nothing", which);
}

Result<std::string> ownLibrary(const KnownMpi &mpi) {
  Result<std::string> path =
      ownFile(mpi, "libcolldsl-" + mpi.name.str() + ".so", {"lib", COLLDSL_LIBDIR "/colldsl"});
  if (path)
    return path;
  return Status::error("the command uses " + mpi.title.str() +
                       ", for which colldsl is not installed: " + path.message());
}

Result<std::string> givenLibrary(llvm::StringRef file) {
  llvm::SmallString<256> path;
  if (std::error_code error = llvm::sys::fs::real_path(file, path))
    return Status::error("cannot load '" + file.str() + "': " + error.message());
  llvm::file_magic kind;
  if (std::error_code error = llvm::identify_magic(path, kind))
    return Status::error("cannot load '" + file.str() + "': " + error.message());
  if (kind != llvm::file_magic::elf_shared_object)
    return Status::error("cannot load '" + file.str() + "': it is no shared library");
  return path.str().str();
}

/// An error if execvp() would not find the command.
Status checkCommand(const std::string &command) {
  if (command.find('/') == std::string::npos) {
    if (!llvm::sys::findProgramByName(command))
      return Status::error("cannot run '" + command + "': no folder of PATH has such a program");
  } else if (access(command.c_str(), X_OK) != 0) {
    return Status::error("cannot run '" + command + "': " + llvm::sys::StrError());
  }
  return {};
}

Result<std::string> chooseLibrary(const MpiSettings &settings,
                                  const std::vector<std::string> &command) {
  if (!settings.library.empty())
    return givenLibrary(settings.library);
  Result<const KnownMpi *> mpi = whichMpi(command);
  if (!mpi)
    return mpi.status();
  return ownLibrary(**mpi);
}

/// Appends the library to LD_PRELOAD: tools in front of it see a program's calls first, and a
/// sanitizer must be the very first.
Status preload(const std::string &library) {
  if (library.find_first_of(": ") != std::string::npos)
    return Status::error("cannot load '" + library +
                         "': the loader takes ':' and ' ' for the end of a name");
  const char *before = std::getenv("LD_PRELOAD");
  std::string all = before && *before ? before + (":" + library) : library;
  if (setenv("LD_PRELOAD", all.c_str(), 1) != 0)
    return Status::error("cannot set LD_PRELOAD: " + llvm::sys::StrError());
  return {};
}

/// Replaces this process by the command; returns only if that fails.
Exit execute(const std::vector<std::string> &command) {
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  printError("cannot run '" + command[0] + "': " + llvm::sys::StrError());
  return Exit::Failure;
}

} // namespace

Exit mpiCommand(Arguments arguments) {
  MpiSettings settings;
  Options options(
      "mpi", "[OPTION...] -- COMMAND...",
      "Runs an MPI program with the library of colldsl for its MPI loaded into all its\n"
      "processes, by LD_PRELOAD: libcolldsl-openmpi.so, libcolldsl-mpich.so, or for programs\n"
      "of the standard ABI libcolldsl-mpi_abi.so. The command is what starts the program,\n"
      "mpirun and all, also within a script or behind sh -c. The exit code is the command's.");
  options.completeOperands(completionOfFiles({}));
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  const std::vector<std::string> &command = options.operands();
  if (command.empty())
    return options.refuse("nothing to run: colldsl mpi -- mpirun -n 4 ./app");
  Status isThere = settings.which ? Status() : checkCommand(command.front());
  Result<std::string> library = isThere ? chooseLibrary(settings, command) : isThere;
  if (!library) {
    printError(library.status().diagnostic());
    return Exit::Failure;
  }
  if (settings.which) {
    resultStream() << *library << "\n";
    return Exit::Success;
  }
  Status status = preload(*library);
  if (status && !settings.network.empty() &&
      setenv("COLLDSL_NETWORK", settings.network.c_str(), 1) != 0)
    status = Status::error("cannot set COLLDSL_NETWORK: " + llvm::sys::StrError());
  if (!status) {
    printError(status.diagnostic());
    return Exit::Failure;
  }
  return execute(command);
}

} // namespace colldsl::tools
