#include "tools/tune/Interrupt.h"

#include <csignal>
#include <sys/mman.h>

namespace colldsl::tools {
namespace {

std::atomic<uint32_t> ownCount;
std::atomic<uint32_t> *countOfAll = &ownCount; // the handler increments it

void countSignal(int) { countOfAll->fetch_add(1); }

} // namespace

// Without a shared page each forked process has its own count; a terminal signals all of them.
Interrupt::Interrupt() : count_(&ownCount) {
  void *page =
      mmap(nullptr, sizeof(*count_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    count_ = static_cast<std::atomic<uint32_t> *>(page); // zero
  countOfAll = count_;
  struct sigaction action {};
  action.sa_handler = countSignal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

} // namespace colldsl::tools
