#include "device/LockedWords.h"

#include <atomic>
#include <sys/mman.h>

namespace colldsl::device {
namespace {

constexpr size_t kPageBytes = 4096;

} // namespace

// On a page of their own, as pages are locked.
Result<std::unique_ptr<LockedWords>> LockedWords::open(const CudaDriver &driver,
                                                       CuContext context) {
  void *page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return Status::error(ErrorKind::NoMemory, "no memory for a word that streams wait for");
  CurrentContext current(driver, context);
  Status s = checkCuda(
      driver, driver.memHostRegister(page, kPageBytes, kRegisterPortable | kRegisterDeviceMap),
      "cuMemHostRegister");
  if (!s) {
    munmap(page, kPageBytes);
    return s;
  }
  std::unique_ptr<LockedWords> words(new LockedWords(driver, context));
  words->page_ = static_cast<uint32_t *>(page);
  s = checkCuda(driver, driver.memHostGetDevicePointer(&words->there_, page, 0),
                "cuMemHostGetDevicePointer");
  if (!s)
    return s;
  return words;
}

LockedWords::~LockedWords() {
  if (!page_)
    return;
  if (CurrentContext current(driver_, context_); current)
    driver_.memHostUnregister(page_);
  munmap(page_, kPageBytes);
}

uint32_t LockedWords::load(size_t i) const {
  return std::atomic_ref(page_[i]).load(std::memory_order_acquire);
}

void LockedWords::store(size_t i, uint32_t value) {
  std::atomic_ref(page_[i]).store(value, std::memory_order_release);
}

} // namespace colldsl::device
