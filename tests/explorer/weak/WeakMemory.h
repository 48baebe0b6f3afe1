/// Shared memory as C++ allows processors and compilers to make it: a load may return an old value,
/// as long as nothing that its thread knows forbids that. The model is the view-based one of Kang,
/// Hur, Lahav, Vafeiadis and Dreyer (A promising semantics for relaxed-memory concurrency, POPL
/// 2017), without promises: RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer, PLDI 2017), in which no
/// load reads from a store that follows it. Each atomic word has the list of its stores, in their
/// modification order. A thread has a view: the oldest store of each word that it may still read. A
/// release store carries the view of its thread, and an acquire load that reads it takes that over.
///
/// Plain bytes have one value. Two accesses of different threads, one of which writes, are a race
/// unless what the threads know orders them: then the program means nothing in C++, and the error
/// is reported.
///
/// An access that is seq_cst counts as one that acquires and releases, which allows more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace colldsl::test::weak {

inline constexpr uint32_t kMostThreads = 4;

enum class Order : uint8_t { Relaxed, Acquire, Release, AcqRel, SeqCst };

constexpr bool acquires(Order order) { return order != Order::Relaxed && order != Order::Release; }
constexpr bool releases(Order order) { return order != Order::Relaxed && order != Order::Acquire; }

uint64_t mix(uint64_t a, uint64_t b);

/// One execution. Addresses outside the shared ranges are none of its business.
class Memory {
public:
  /// Takes one of `count` ways.
  using Choose = std::function<uint32_t(uint32_t count)>;

  explicit Memory(Choose choose) : choose_(std::move(choose)) {}

  /// Forgets everything: what the shared bytes hold is known to all threads.
  void restart(uint32_t threads);
  /// Adds a range. All ranges are added in one order before the first access.
  void share(const void *begin, size_t bytes);
  void unshareAll() { ranges_.clear(); }
  bool isShared(const void *at) const { return find(reinterpret_cast<uintptr_t>(at)) != nullptr; }

  // Accesses of a thread. Words have 1 to 8 bytes.

  uint64_t load(uint32_t thread, uintptr_t at, uint32_t bytes, Order order);
  void store(uint32_t thread, uintptr_t at, uint32_t bytes, uint64_t value, Order order);
  /// Reads a value and stores what `change` makes of it behind it.
  uint64_t modify(uint32_t thread, uintptr_t at, uint32_t bytes, Order order,
                  const std::function<uint64_t(uint64_t)> &change);
  /// True: `expected` was there and is replaced; else it becomes what is there.
  bool compareExchange(uint32_t thread, uintptr_t at, uint32_t bytes, uint64_t &expected,
                       uint64_t value, Order success, Order failure);
  void fence(uint32_t thread, Order order);
  /// The compiler makes no load behind it before a store that stands before it.
  void compilerFence(uint32_t thread);
  /// A full fence in all threads. It may come where a compiler has put the next load of a thread
  /// before the last store: then the thread knows and tells nothing of it.
  void barrierOnAll();
  void plain(uint32_t thread, uintptr_t at, size_t bytes, bool isWrite);
  /// Loads the last value of the word in its modification order, as the kernel does under its
  /// locks.
  uint64_t loadNewest(uint32_t thread, uintptr_t at, uint32_t bytes);

  /// True if there is no such execution.
  bool isVoid() const { return isVoid_; }
  /// Empty: no access was wrong.
  const std::string &wrong() const { return wrong_; }
  void blame(const std::string &what);

  // Rounds of a thread that looks for something, again and again.

  /// Begins a round.
  void beginRound(uint32_t thread);
  /// The round found nothing. True: another one finds something only if there is something new.
  bool endRoundInVain(uint32_t thread);
  /// True if some word that the round has read has a newer value that the thread may read.
  bool hasNews(uint32_t thread) const;

  /// The thread has taken a step, also one that changes nothing.
  void advance(uint32_t thread) { threads_[thread].history = mix(threads_[thread].history, 1); }
  /// Two executions of one digest go on in the same ways.
  uint64_t digest() const;

private:
  using StoreId = uint16_t; ///< of one word; 0: the value before all

  struct View {
    std::vector<StoreId> oldest; ///< by word
    std::array<uint32_t, kMostThreads> clock{};
  };
  struct Store {
    uint64_t value = 0;
    uint64_t name = 0; ///< the same in all executions: of its writer, and its number there
    uint32_t place = 0;
    View view;
    bool isReplaced = false; ///< a read-modify-write has read it
  };
  struct Word {
    uintptr_t at = 0;
    uint32_t bytes = 0;
    std::vector<Store> stores;
    std::vector<StoreId> order;
    bool isOver = false; ///< a plain write has ended it
  };
  struct Thread {
    View now, ifAcquired, released;
    uint64_t history = 0, stores = 0;
    bool hasStored = false;   ///< since the last fence of the compiler
    bool isReordered = false; ///< its next load was made before its last store
    bool hasLearned = false;  ///< in this round
    uint64_t roundHistory = 0, roundStores = 0;
    std::vector<uint32_t> roundWords;
  };
  struct Shadow {
    uint32_t execution = 0;
    uint32_t plainWrite = 0; ///< time
    uint8_t writer = 0;
    std::array<uint32_t, kMostThreads> plainReads{}, writes{},
        reads{}; ///< times by thread; 0: none
  };
  struct Range {
    uintptr_t begin;
    size_t bytes;
    size_t shadow; ///< place of the first
  };

  const Range *find(uintptr_t at) const;
  uint64_t nameOf(uintptr_t at) const;
  uint32_t wordAt(uintptr_t at, uint32_t bytes);
  void endWords(uintptr_t at, size_t bytes);
  void take(View &into, const View &from) const;
  StoreId oldestOf(const View &view, uint32_t word) const;
  void setOldest(View &view, uint32_t word, StoreId store) const;
  uint64_t readStore(uint32_t thread, uint32_t word, StoreId store, Order order);
  void addStore(uint32_t thread, uint32_t word, uint64_t value, Order order, uint32_t place,
                const View *replaced);
  /// Those that the thread may read, the newest first.
  std::vector<StoreId> readable(uint32_t thread, uint32_t word) const;
  void touch(uint32_t thread, uintptr_t at, size_t bytes, bool isWrite, bool isAtomic);
  void setTime(uint32_t &field, uint32_t time, uint64_t name);
  void joinOrder(View &into, const View &from) const;
  uint64_t digestOf(const View &view) const;

  Choose choose_;
  uint32_t execution_ = 0;
  std::vector<Range> ranges_;
  std::vector<Shadow> shadows_;
  uint64_t shadowDigest_ = 0;
  std::vector<Word> words_;
  std::unordered_map<uintptr_t, uint32_t> wordOf_;
  std::vector<Thread> threads_;
  View fences_; ///< of all seq_cst fences so far
  bool isVoid_ = false;
  std::string wrong_;
};

} // namespace colldsl::test::weak
