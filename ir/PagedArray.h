/// An array that grows without copying: its pages are moved, not its values. New values are
/// zero, and take memory when they are first written. Asks the kernel for huge pages, because
/// simulations and proofs jump about in it. A small array is of malloc: passes simulate thousands
/// of small schedules, and a mapping each costs more than the simulation.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace colldsl {

template <typename T> class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  PagedArray() = default;
  explicit PagedArray(size_t size) { grow(size); }
  PagedArray(PagedArray &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  PagedArray &operator=(PagedArray other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }
  ~PagedArray() { giveBack(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *data() { return data_; }
  const T *data() const { return data_; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }

  /// Room for so many values without moving; it takes no memory before they are written.
  void reserve(size_t count) {
    if (count > room_)
      makeRoom(count);
  }

  /// Makes it longer by so many values, and returns the first of them.
  T *grow(size_t count) {
    if (size_ + count > room_)
      makeRoom(size_ + count > 2 * room_ ? size_ + count : 2 * room_);
    size_ += count;
    return data_ + (size_ - count);
  }
  void append(std::span<const T> values) {
    T *into = grow(values.size());
    for (const T &value : values)
      *into++ = value;
  }

private:
  static constexpr size_t kPage = size_t{1} << 12, kHugePage = size_t{1} << 21;
  static constexpr size_t kSmall = size_t{1} << 15; ///< bytes up to which memory is of malloc

  bool isMapped() const { return room_ * sizeof(T) > kSmall; }

  void giveBack() {
    if (isMapped())
      munmap(data_, room_ * sizeof(T));
    else
      std::free(data_);
  }

  void makeRoom(size_t count) {
    size_t bytes = count * sizeof(T);
    void *at = bytes > kSmall ? mapped(bytes) : std::calloc(count, sizeof(T));
    if (at == nullptr || at == MAP_FAILED)
      fail();
    if (!isMapped()) {
      if (size_ > 0)
        std::memcpy(at, data_, size_ * sizeof(T));
      std::free(data_);
    }
    data_ = static_cast<T *>(at);
    room_ = bytes / sizeof(T);
  }

  /// A new mapping, or the one that there is, moved. Rounds `bytes` up to what is mapped.
  void *mapped(size_t &bytes) {
    size_t page = bytes < kHugePage / 8 ? kPage : kHugePage;
    bytes = (bytes + page - 1) / page * page;
    void *at = isMapped() ? mremap(data_, room_ * sizeof(T), bytes, MREMAP_MAYMOVE)
                          : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED && bytes >= kHugePage)
      madvise(at, bytes, MADV_HUGEPAGE);
    return at;
  }

  /// As operator new does where its handler has no more memory.
  [[noreturn]] static void fail() {
    if (std::new_handler handler = std::get_new_handler())
      handler();
    throw std::bad_alloc();
  }

  T *data_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

} // namespace colldsl
