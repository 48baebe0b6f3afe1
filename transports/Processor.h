/// The instructions of a processor that C++ has no words for. Where a processor has none, they do
/// nothing.
#pragma once

namespace colldsl {

/// Tells the core that this thread polls: another one of the core, or its power, has use for the
/// time.
inline void pauseCore() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile(
      "isb" ::
          : "memory"); // `yield` does nothing on most cores; this waits as long as x86's pause
#endif
}

/// Begins to bring the cache line to this core, as one that it may write.
inline void prefetchToWrite(const void *at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0"
               :
               : "m"(*static_cast<const char *>(at))); // the builtin prefetches to read
#else
  __builtin_prefetch(at, 1);
#endif
}

/// Stands between a load that finds what a device has written and loads of what it wrote before.
/// Acquire orders loads of what cores write; a device is no core.
inline void orderDeviceReads() {
#if defined(__aarch64__)
  asm volatile("dmb oshld" ::: "memory");
#endif
}

} // namespace colldsl
