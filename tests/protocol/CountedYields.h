/// Counts how often the program yields its core. In one source of a program.
#pragma once

#include <atomic>
#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colldsl::test {
inline std::atomic<uint32_t> numYields{0};
}

// In place of that of libc.
extern "C" int sched_yield() noexcept {
  colldsl::test::numYields.fetch_add(1);
  return static_cast<int>(syscall(SYS_sched_yield));
}
