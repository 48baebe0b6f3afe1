#include "tools/options/Progress.h"

#include "tools/options/ErrorStream.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

constexpr std::chrono::milliseconds kInterval{500};
constexpr const char *kClearLine = "\r\033[K";

Progress::Progress(std::string what, uint64_t total)
    : what_(printable(what)), total_(total),
      watched_(!CapturedErrors::areCaptured() && llvm::sys::Process::StandardErrIsDisplayed()),
      next_(std::chrono::steady_clock::now() + kInterval) {}

Progress::~Progress() {
  if (shown_)
    llvm::errs() << kClearLine;
}

void Progress::step() {
  uint64_t done = ++done_;
  if (!watched_)
    return;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && isDue())
    show(done, "");
}

void Progress::reached(uint64_t done, const std::string &more) {
  std::lock_guard lock(mutex_);
  if (watched_ && isDue())
    show(done, more);
}

bool Progress::isDue() {
  auto now = std::chrono::steady_clock::now();
  if (now < next_)
    return false;
  next_ = now + kInterval;
  return true;
}

void Progress::show(uint64_t done, const std::string &more) {
  shown_ = true;
  llvm::errs() << kClearLine << what_ << ": " << done << " of " << total_ << more;
}

} // namespace colldsl::tools
