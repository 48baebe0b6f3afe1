#include "tests/runtime/FailingAllocator.h"

#include <cstdlib>
#include <new>

constinit thread_local int64_t colldsl::test::allocationsUntilFailure = -1;

namespace {

void *allocate(size_t bytes) {
  int64_t &untilFailure = colldsl::test::allocationsUntilFailure;
  for (;;) {
    bool fails = untilFailure >= 0 && untilFailure-- == 0;
    if (void *memory = fails ? nullptr : std::malloc(bytes != 0 ? bytes : 1))
      return memory;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

} // namespace

void *operator new(size_t bytes) { return allocate(bytes); }
void *operator new[](size_t bytes) { return allocate(bytes); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
