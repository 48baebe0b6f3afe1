#include "transports/shm/LentMemory.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl::shm {
namespace {

/// Copies pieces one after the other by `copy(piece, bytes, offset)`, which returns the number of
/// bytes that it copied.
template <typename Copy> bool copyPieces(const Payload &payload, uint64_t offset, Copy copy) {
  uint64_t left = payload.bytes;
  for (uint32_t i = 0; i < payload.count && left > 0; ++i) {
    auto *piece = static_cast<std::byte *>(payload.pieces[i].iov_base);
    for (uint64_t here = std::min<uint64_t>(left, payload.pieces[i].iov_len); here > 0;) {
      ssize_t done = copy(piece, here, static_cast<off_t>(offset));
      if (done <= 0)
        return false;
      auto bytes = static_cast<uint64_t>(done);
      piece += bytes;
      offset += bytes;
      left -= bytes;
      here -= bytes;
    }
  }
  return true;
}

} // namespace

Result<std::unique_ptr<LentMemory>> LentMemory::open(int descriptor) {
  struct stat file {};
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0 || fstat(own, &file) != 0) {
    int error = errno;
    if (own >= 0)
      close(own);
    return Status::error(concat("cannot keep shared memory open: ", std::strerror(error)));
  }
  std::unique_ptr<LentMemory> made(new LentMemory(own));
  made->device_ = file.st_dev;
  made->file_ = file.st_ino;
  return made;
}

LentMemory::~LentMemory() {
  for (const auto &[offset, view] : views_)
    munmap(view.memory, view.bytes);
  if (isOurs())
    close(descriptor_);
}

// A program that closes all descriptors may have got the number for a file of its own.
bool LentMemory::isOurs() const {
  struct stat file {};
  return fstat(descriptor_, &file) == 0 && file.st_dev == device_ && file.st_ino == file_;
}

// The view of the block that was there before counts no more.
LentMemory::Views::iterator LentMemory::viewAt(uint64_t offset) {
  auto view = views_.upper_bound(offset);
  if (view == views_.begin())
    return views_.end();
  --view;
  bool isThere = offset - view->first < view->second.bytes &&
                 view->second.block->use.load(std::memory_order_acquire) == view->second.use;
  return isThere ? view : views_.end();
}

void LentMemory::unmap(Views::iterator view) {
  munmap(view->second.memory, view->second.bytes);
  offsets_.erase(view->second.memory);
  views_.erase(view);
}

std::byte *LentMemory::find(uint64_t offset) {
  std::lock_guard lock(mutex_);
  auto view = viewAt(offset);
  return view == views_.end() ? nullptr : view->second.memory + (offset - view->first);
}

// Blocks that were lent meanwhile may lie where others lay, so all views of those go first.
std::byte *LentMemory::reach(uint64_t offset, const LentBlock &block) {
  std::lock_guard lock(mutex_);
  for (auto view = views_.begin(); view != views_.end();) {
    auto next = std::next(view);
    if (view->second.block->use.load(std::memory_order_acquire) != view->second.use)
      unmap(view);
    view = next;
  }
  if (auto view = viewAt(offset); view != views_.end())
    return view->second.memory + (offset - view->first);
  uint64_t begin = block.begin.load(std::memory_order_relaxed);
  uint64_t bytes = block.bytes.load(std::memory_order_relaxed);
  void *memory = !isOurs()
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            descriptor_, static_cast<off_t>(begin));
  if (memory == MAP_FAILED)
    return nullptr;
  auto *first = static_cast<std::byte *>(memory);
  views_[begin] = {first, bytes, &block, block.use.load(std::memory_order_relaxed)};
  offsets_[first] = begin;
  isUsed_.store(true, std::memory_order_relaxed);
  return first + (offset - begin);
}

// If the system cannot remove the pages, they stay.
void LentMemory::remove(const LentBlock &block) {
  std::lock_guard lock(mutex_);
  auto view = views_.find(block.begin.load(std::memory_order_relaxed));
  if (view == views_.end())
    return;
  (void)madvise(view->second.memory, view->second.bytes, MADV_REMOVE);
  unmap(view);
}

std::optional<uint64_t> LentMemory::offsetOf(const void *memory, uint64_t bytes) {
  if (!isUsed_.load(std::memory_order_relaxed))
    return std::nullopt;
  std::lock_guard lock(mutex_);
  const auto *first = static_cast<const std::byte *>(memory);
  auto found = offsets_.upper_bound(first);
  if (found == offsets_.begin())
    return std::nullopt;
  --found;
  uint64_t into = static_cast<uint64_t>(first - found->first);
  uint64_t size = views_.at(found->second).bytes;
  return into < size && bytes <= size - into ? std::optional(found->second + into) : std::nullopt;
}

bool LentMemory::read(uint64_t offset, const Payload &to) const {
  return isOurs() && copyPieces(to, offset, [&](std::byte *piece, uint64_t bytes, off_t at) {
           return pread(descriptor_, piece, bytes, at);
         });
}

bool LentMemory::write(uint64_t offset, const Payload &from) const {
  return isOurs() &&
         copyPieces(from, offset, [&](const std::byte *piece, uint64_t bytes, off_t at) {
           return pwrite(descriptor_, piece, bytes, at);
         });
}

} // namespace colldsl::shm
