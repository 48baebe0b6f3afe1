// The calls that a compiler makes for ThreadSanitizer, and those of the system, as steps of a
// thread of the explorer. Outside such threads, and of memory that is not shared, they do what they
// say.
#include "tests/explorer/weak/WeakExplorer.h"

#include <chrono>
#include <cstdarg>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace colldsl::test::weak {
namespace {

// The numbers of __ATOMIC_RELAXED and so on.
Order orderOf(int number) {
  constexpr Order kOrders[] = {Order::Relaxed, Order::Acquire, Order::Acquire,
                               Order::Release, Order::AcqRel,  Order::SeqCst};
  return kOrders[number];
}

/// The explorer, if its thread accesses what is shared.
WeakExplorer *explorerOf(const volatile void *at) {
  if (!WeakExplorer::isInside())
    return nullptr;
  WeakExplorer *explorer = WeakExplorer::current();
  return explorer->memory().isShared(const_cast<const void *>(at)) ? explorer : nullptr;
}

uintptr_t address(const volatile void *at) { return reinterpret_cast<uintptr_t>(at); }

// Nothing that the explorer does here is a step.
class Busy {
public:
  explicit Busy(WeakExplorer &explorer) : explorer_(explorer) { explorer_.setBusy(true); }
  ~Busy() { explorer_.setBusy(false); }

private:
  WeakExplorer &explorer_;
};

void plain(const volatile void *at, size_t bytes, bool isWrite) {
  if (WeakExplorer *explorer = explorerOf(at)) {
    Busy busy(*explorer);
    explorer->memory().plain(WeakExplorer::thread(), address(at), bytes, isWrite);
  }
}

template <typename T> T load(const volatile T *at, int order, const void *caller) {
  WeakExplorer *explorer = explorerOf(at);
  if (!explorer)
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
  explorer->step("loads", address(at), caller);
  Busy busy(*explorer);
  uint64_t value = explorer->memory().load(WeakExplorer::thread(), address(at), sizeof(T),
                                           explorer->orderOf(orderOf(order), caller));
  explorer->note(value);
  return static_cast<T>(value);
}

template <typename T> void store(volatile T *at, T value, int order, const void *caller) {
  WeakExplorer *explorer = explorerOf(at);
  if (!explorer)
    return __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  explorer->step("stores", address(at), caller);
  Busy busy(*explorer);
  explorer->note(value);
  explorer->memory().store(WeakExplorer::thread(), address(at), sizeof(T), value,
                           explorer->orderOf(orderOf(order), caller));
}

template <typename T, typename Change>
T modify(volatile T *at, int order, const void *caller, Change change) {
  WeakExplorer *explorer = explorerOf(at);
  if (!explorer) {
    T before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(at, &before, change(before), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return before;
  }
  explorer->step("modifies", address(at), caller);
  Busy busy(*explorer);
  uint64_t before = explorer->memory().modify(
      WeakExplorer::thread(), address(at), sizeof(T), explorer->orderOf(orderOf(order), caller),
      [&](uint64_t value) { return static_cast<T>(change(static_cast<T>(value))); });
  explorer->note(before);
  return static_cast<T>(before);
}

template <typename T>
int compareExchange(volatile T *at, T *expected, T value, int success, int failure,
                    const void *caller) {
  WeakExplorer *explorer = explorerOf(at);
  if (!explorer)
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  explorer->step("exchanges", address(at), caller);
  T before = *expected;
  Busy busy(*explorer);
  uint64_t found = before;
  bool isDone = explorer->memory().compareExchange(
      WeakExplorer::thread(), address(at), sizeof(T), found, value,
      explorer->orderOf(orderOf(success), caller), explorer->orderOf(orderOf(failure), caller));
  explorer->note(found);
  *expected = static_cast<T>(found);
  return isDone;
}

long futex(WeakExplorer &explorer, uintptr_t word, long what, uint32_t value, const void *caller) {
  if ((what & FUTEX_CMD_MASK) == FUTEX_WAKE) {
    explorer.step("wakes", word, caller);
    Busy busy(explorer);
    explorer.wakeAll(word);
    return 0;
  }
  explorer.step("sleeps on", word, caller);
  Busy busy(explorer);
  if (explorer.memory().loadNewest(WeakExplorer::thread(), word, sizeof(uint32_t)) != value)
    return -1;
  explorer.sleepOn(word);
  return 0;
}

long barrier(WeakExplorer &explorer, long command, const void *caller) {
  if (command != MEMBARRIER_CMD_GLOBAL_EXPEDITED)
    return 0;
  explorer.step("passes the barrier of all cores", 0, caller);
  Busy busy(explorer);
  if (!explorer.isDropped(caller)) {
    explorer.memory().compilerFence(WeakExplorer::thread());
    explorer.memory().barrierOnAll();
  }
  return 0;
}

} // namespace
} // namespace colldsl::test::weak

using namespace colldsl::test::weak;

// Within threads of the explorer time stands still.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  timespec at = {1, 0};
  if (!WeakExplorer::isInside())
    clock_gettime(CLOCK_MONOTONIC, &at);
  return time_point(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

extern "C" {

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
long __real_syscall(long number, ...);
int __real_sched_yield();

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

#define PLAIN(bytes)                                                                               \
  void __tsan_read##bytes(void *at) { plain(at, bytes, false); }                                   \
  void __tsan_write##bytes(void *at) { plain(at, bytes, true); }                                   \
  void __tsan_unaligned_read##bytes(void *at) { plain(at, bytes, false); }                         \
  void __tsan_unaligned_write##bytes(void *at) { plain(at, bytes, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
void __tsan_read_range(void *at, size_t bytes) { plain(at, bytes, false); }
void __tsan_write_range(void *at, size_t bytes) { plain(at, bytes, true); }

#define MODIFY(bits, name, T, expression)                                                          \
  T __tsan_atomic##bits##_##name(volatile T *at, T value, int order) {                             \
    return modify(at, order, CALLER, [value](T before) {                                           \
      (void)before;                                                                                \
      return static_cast<T>(expression);                                                           \
    });                                                                                            \
  }
#define ATOMIC(bits, T)                                                                            \
  T __tsan_atomic##bits##_load(const volatile T *at, int order) {                                  \
    return load(at, order, CALLER);                                                                \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile T *at, T value, int order) {                           \
    store(at, value, order, CALLER);                                                               \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T *at, T *expected, T value,          \
                                                    int success, int failure) {                    \
    return compareExchange(at, expected, value, success, failure, CALLER);                         \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T *at, T *expected, T value,            \
                                                  int success, int failure) {                      \
    return compareExchange(at, expected, value, success, failure, CALLER);                         \
  }                                                                                                \
  MODIFY(bits, exchange, T, value)                                                                 \
  MODIFY(bits, fetch_add, T, before + value)                                                       \
  MODIFY(bits, fetch_sub, T, before - value)                                                       \
  MODIFY(bits, fetch_and, T, before &value)                                                        \
  MODIFY(bits, fetch_or, T, before | value)                                                        \
  MODIFY(bits, fetch_xor, T, before ^ value)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (!WeakExplorer::isInside())
    return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  WeakExplorer *explorer = WeakExplorer::current();
  explorer->step("passes a fence", 0, CALLER);
  Busy busy(*explorer);
  if (!explorer->isDropped(CALLER))
    explorer->memory().fence(WeakExplorer::thread(), explorer->orderOf(orderOf(order), CALLER));
}

void __tsan_atomic_signal_fence(int) {
  if (!WeakExplorer::isInside())
    return;
  WeakExplorer *explorer = WeakExplorer::current();
  explorer->step("passes a fence of the compiler", 0, CALLER);
  Busy busy(*explorer);
  if (!explorer->isDropped(CALLER))
    explorer->memory().compilerFence(WeakExplorer::thread());
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
  plain(from, bytes, false);
  plain(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes) {
  plain(from, bytes, false);
  plain(to, bytes, true);
  return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes) {
  plain(to, bytes, true);
  return __real_memset(to, value, bytes);
}

int __wrap_sched_yield() {
  if (!WeakExplorer::isInside())
    return __real_sched_yield();
  WeakExplorer::current()->awaitNews();
  WeakExplorer::current()->memory().beginRound(WeakExplorer::thread());
  return 0;
}

long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long &argument : a)
    argument = va_arg(list, long);
  va_end(list);
  bool isInside = WeakExplorer::isInside();
  if (isInside && number == SYS_futex)
    return futex(*WeakExplorer::current(), static_cast<uintptr_t>(a[0]), a[1],
                 static_cast<uint32_t>(a[2]), CALLER);
  if (isInside && number == SYS_membarrier)
    return barrier(*WeakExplorer::current(), a[0], CALLER);
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

} // extern "C"
