#include "tools/OutOfMemory.h"

#include "driver/files/NewFolder.h"
#include "tools/Commands.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <new>
#include <string_view>
#include <unistd.h>

namespace colldsl::tools {
namespace {

pid_t owner = 0;

// No destructor runs: other threads still use the objects, and destructors may allocate.
void onFailedNew() {
  if (getpid() != owner)
    throw std::bad_alloc();
  endForLackOfMemory();
}

void onFailedLlvmAllocation(void *, const char *, bool) { endForLackOfMemory(); }

} // namespace

void endWhenMemoryRunsOut() {
  owner = getpid();
  std::set_new_handler(onFailedNew);
  llvm::install_bad_alloc_error_handler(onFailedLlvmAllocation);
}

void endForLackOfMemory() {
  static std::atomic_flag isEnding;
  while (isEnding.test_and_set()) // another thread is ending the program
    pause();
  constexpr std::string_view message = "colldsl: error: there is not enough memory\n";
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  llvm::sys::RunInterruptHandlers(); // removes files that are half written
  driver::removeUnfinishedFolder();
  _exit(static_cast<int>(Exit::Failure));
}

} // namespace colldsl::tools
