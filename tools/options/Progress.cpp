#include "tools/options/Progress.h"

#include "ir/Printable.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

constexpr std::chrono::milliseconds kInterval{500};
constexpr const char *kClearLine = "\r\033[K";

Progress::Progress()
    : isShown_(llvm::sys::Process::StandardErrIsDisplayed()),
      next_(std::chrono::steady_clock::now() + kInterval) {
  watch_.progress = [this](const driver::Reached &reached) { show(reached); };
}

Progress::~Progress() {
  if (hasLine_)
    llvm::errs() << kClearLine;
}

void Progress::show(const driver::Reached &reached) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  auto now = std::chrono::steady_clock::now();
  if (!isShown_ || !lock || now < next_)
    return;
  next_ = now + kInterval;
  hasLine_ = true;
  llvm::errs() << kClearLine << printable(reached.what) << ": " << reached.done << " of "
               << reached.total << reached.more;
}

} // namespace colldsl::tools
