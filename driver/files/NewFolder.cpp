#include "driver/files/NewFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace colldsl::driver {
namespace {

/// A file or folder that the unfinished folder consists of, and the one that was made before it.
/// Signal handlers walk the list.
struct Made {
  std::string path;
  bool isFolder;
  Made *before;
};

std::atomic<Made *> newest{nullptr};

void remember(std::string path, bool isFolder) {
  newest = new Made{std::move(path), isFolder, newest};
}

void forget() {
  for (Made *made = newest.exchange(nullptr); made;)
    delete std::exchange(made, made->before);
}

/// The signals that end a process, and what they did before.
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
struct sigaction before[std::size(kSignals)];
bool isWatching = false;

void onSignal(int number) {
  removeUnfinishedFolder();
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == number)
      sigaction(number, &before[i], nullptr);
  raise(number); // once this handler returns
}

void watchSignals() {
  isWatching = true;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN)
      sigaction(kSignals[i], &action, nullptr);
  }
}

void restoreSignals() {
  for (size_t i = 0; i < std::size(kSignals) && isWatching; ++i)
    if (before[i].sa_handler != SIG_IGN)
      sigaction(kSignals[i], &before[i], nullptr);
  isWatching = false;
}

Status cannotMake(const std::string &path, const std::error_code &why) {
  return Status::error("cannot write '" + path + "': " + why.message());
}

} // namespace

void removeUnfinishedFolder() {
  for (Made *made = newest.exchange(nullptr); made; made = made->before)
    made->isFolder ? rmdir(made->path.c_str()) : unlink(made->path.c_str());
}

Result<std::unique_ptr<NewFolder>> NewFolder::make(const std::string &path) {
  std::unique_ptr<NewFolder> folder(new NewFolder(path));
  while (folder->path_.size() > 1 && folder->path_.back() == '/')
    folder->path_.pop_back();
  std::error_code error;
  if (llvm::sys::fs::is_directory(path)) {
    if (llvm::sys::fs::directory_iterator first(path, error);
        !error && first != llvm::sys::fs::directory_iterator())
      return Status::error("the folder '" + path + "' is not empty");
  } else if (llvm::sys::fs::exists(path)) {
    return Status::error("'" + path + "' is there already, and is no folder");
  }
  if (error)
    return cannotMake(path, error);
  watchSignals();
  constexpr int kMostTries = 128;
  error = std::make_error_code(std::errc::file_exists);
  for (int tries = 0; error == std::errc::file_exists && tries < kMostTries; ++tries) {
    llvm::SmallString<128> unique;
    llvm::sys::fs::createUniquePath(folder->path_ + ".%%%%%%.tmp", unique, /*MakeAbsolute=*/false);
    folder->aside_ = unique.str().str();
    error = llvm::sys::fs::create_directory(folder->aside_, /*IgnoreExisting=*/false);
  }
  if (error) {
    folder->aside_.clear();
    return cannotMake(path, error);
  }
  remember(folder->aside_, true);
  return folder;
}

NewFolder::~NewFolder() {
  Made *made = newest;
  removeUnfinishedFolder();
  newest = made;
  forget();
  restoreSignals();
}

Status NewFolder::makeFolder(const std::string &name) {
  std::string path = aside_ + "/" + name;
  if (llvm::sys::fs::is_directory(path))
    return {};
  if (std::error_code error = llvm::sys::fs::create_directory(path, /*IgnoreExisting=*/false))
    return cannotMake(path_ + "/" + name, error);
  remember(path, true);
  return {};
}

Status NewFolder::write(const std::string &name, llvm::StringRef text) {
  if (size_t slash = name.find('/'); slash != std::string::npos)
    if (Status made = makeFolder(name.substr(0, slash)); !made)
      return made;
  std::string path = aside_ + "/" + name;
  std::error_code error;
  llvm::raw_fd_ostream out(path, error, llvm::sys::fs::CD_CreateNew);
  if (error)
    return cannotMake(path_ + "/" + name, error);
  remember(path, false);
  out << text;
  out.close();
  error = out.error();
  out.clear_error();
  return error ? cannotMake(path_ + "/" + name, error) : Status();
}

Status NewFolder::finish() {
  if (std::error_code error = llvm::sys::fs::rename(aside_, path_))
    return cannotMake(path_, error);
  forget();
  return {};
}

} // namespace colldsl::driver
