#include "tools/mpi/WhichMpi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <optional>
#include <set>
#include <vector>

namespace colldsl::tools {
namespace {

// Since Open MPI 5 the launcher sets variables and runs PRRTE's.
constexpr KnownLauncher kOpenMpiLaunchers[] = {
    {"libopen-rte.so.40", "", ""},
    {"libpmix.so.2", "", "OMPI_TOOL_NAME"},
};
constexpr KnownLauncher kMpichLaunchers[] = {{"", "mpiexec.hydra", ""}};
constexpr KnownMpi kMpis[] = {
    {"openmpi", "Open MPI", "libmpi.so.40", kOpenMpiLaunchers},
    {"mpich", "MPICH", "libmpich.so.12", kMpichLaunchers},
    {"mpi_abi", "the standard ABI of MPI", "libmpi_abi.so.1", {}},
};

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// Names of the libraries that an ELF file needs; none for any other file.
llvm::Expected<std::vector<std::string>> neededBy(llvm::StringRef bytes) {
  std::vector<std::string> needed;
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return needed;
  llvm::Expected<Elf> elf = Elf::create(bytes);
  if (!elf)
    return elf.takeError();
  auto entries = elf->dynamicEntries();
  if (!entries)
    return entries.takeError();
  std::vector<uint64_t> places;
  uint64_t strings = 0;
  for (const Elf::Elf_Dyn &entry : *entries)
    if (entry.getTag() == llvm::ELF::DT_NEEDED)
      places.push_back(entry.getVal());
    else if (entry.getTag() == llvm::ELF::DT_STRTAB)
      strings = entry.getPtr();
  llvm::Expected<const uint8_t *> table = elf->toMappedAddr(strings);
  if (!table)
    return table.takeError();
  llvm::StringRef names = bytes.drop_front(*table - bytes.bytes_begin());
  for (uint64_t place : places)
    needed.push_back(names.drop_front(std::min<uint64_t>(place, names.size()))
                         .take_until([](char c) { return c == '\0'; })
                         .str());
  return needed;
}

/// The file that a word would run, with all links followed.
std::optional<std::string> executableOf(llvm::StringRef word) {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(word);
  llvm::SmallString<256> path;
  if (llvm::sys::fs::real_path(found ? llvm::StringRef(*found) : word, path) ||
      !llvm::sys::fs::is_regular_file(path) || !llvm::sys::fs::can_execute(path))
    return std::nullopt;
  return path.str().str();
}

/// A word of the command that determines the MPI.
struct Witness {
  const KnownMpi *mpi;
  std::string text;
  bool isProgram;
};

void findWitnesses(llvm::StringRef word, std::vector<Witness> &witnesses) {
  std::optional<std::string> path = executableOf(word);
  if (!path)
    return;
  auto buffer =
      llvm::MemoryBuffer::getFile(*path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return; // an executable file may be unreadable
  llvm::Expected<std::vector<std::string>> needed = neededBy((*buffer)->getBuffer());
  if (!needed) { // for another machine, or broken: it tells nothing
    llvm::consumeError(needed.takeError());
    return;
  }
  std::string name = "'" + word.str() + "'";
  for (const KnownMpi &mpi : kMpis) {
    bool launches = llvm::any_of(mpi.launchers, [&](const KnownLauncher &launcher) {
      return (launcher.library.empty() || llvm::is_contained(*needed, launcher.library)) &&
             (launcher.file.empty() || llvm::sys::path::filename(*path) == launcher.file) &&
             (*buffer)->getBuffer().contains(launcher.text);
    });
    if (llvm::is_contained(*needed, mpi.library))
      witnesses.push_back({&mpi, name + " is linked with " + mpi.title.str(), true});
    else if (launches)
      witnesses.push_back({&mpi, name + " starts programs of " + mpi.title.str(), false});
  }
}

// Longer files are not taken for scripts.
constexpr size_t kLongestScript = 1 << 20;

/// The text that a shell would run for a word of the command: the word itself, or the script that
/// it names; empty for other executable files.
std::string shellTextOf(const std::string &word) {
  std::optional<std::string> path = executableOf(word);
  if (!path)
    return word;
  auto buffer = llvm::MemoryBuffer::getFile(*path, /*IsText=*/true);
  bool isScript = buffer && (*buffer)->getBuffer().starts_with("#!") &&
                  (*buffer)->getBufferSize() <= kLongestScript;
  return isScript ? (*buffer)->getBuffer().str() : "";
}

/// Examines the words that a shell would see in the text. Variables and commands are not expanded.
void findWitnessesInShell(llvm::StringRef text, std::vector<Witness> &witnesses) {
  std::set<llvm::StringRef> seen;
  while (!text.empty()) {
    size_t end = text.find_first_of(" \t\n;|&()<>`\"'=");
    llvm::StringRef word = text.take_front(end);
    if (!word.empty() && seen.insert(word).second)
      findWitnesses(word, witnesses);
    text = text.drop_front(std::min(text.size(), word.size() + 1));
  }
}

} // namespace

Result<const KnownMpi *> whichMpi(std::span<const std::string> command) {
  std::vector<Witness> witnesses;
  for (const std::string &word : command)
    findWitnesses(word, witnesses);
  if (witnesses.empty())
    for (const std::string &word : command)
      findWitnessesInShell(shellTextOf(word), witnesses);
  if (witnesses.empty())
    return Status(Diagnostic::error(
        {},
        "nothing in the command is linked with Open MPI, MPICH or the standard ABI of MPI, or "
        "starts such programs",
        "name the library with --library"));
  // Each launcher starts programs of the standard ABI, too.
  if (llvm::any_of(witnesses, [](const Witness &w) { return w.mpi->launchers.empty(); }))
    llvm::erase_if(witnesses, [](const Witness &w) { return !w.isProgram; });
  for (const Witness &other : witnesses)
    if (other.mpi != witnesses[0].mpi)
      return Status(Diagnostic::error({}, witnesses[0].text + ", but " + other.text,
                                      "name the library with --library"));
  return witnesses[0].mpi;
}

} // namespace colldsl::tools
