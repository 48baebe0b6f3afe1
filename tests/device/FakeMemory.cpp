#include "tests/device/FakeMemory.h"

#include "tests/device/FakeDevice.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace colldsl::device;

// A file is a page with its key, a word per page of memory, and the memory. It has no bytes where
// nothing was written.
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kPages = uint64_t{4} << 20;
constexpr uint64_t kWordsOffset = kPageBytes;
constexpr uint64_t kMemoryOffset = kWordsOffset + kPages * sizeof(uint64_t);
constexpr uint64_t kFileBytes = kMemoryOffset + kPages * kPageBytes;

struct Handle {
  uint64_t key;
  int32_t process, descriptor;
  uint64_t page, bytes, id;
  uint32_t context;
};
static_assert(sizeof(Handle) <= sizeof(CuIpcHandle));

constexpr uint64_t pagesOf(uint64_t bytes) {
  return std::max<uint64_t>((bytes + kPageBytes - 1) / kPageBytes, 1);
}

std::atomic<uint64_t> *wordOf(std::byte *file, uint64_t page) {
  return reinterpret_cast<std::atomic<uint64_t> *>(file + kWordsOffset) + page;
}

uint64_t pageOf(const std::byte *file, uint64_t address) {
  return (address - reinterpret_cast<uint64_t>(file) - kMemoryOffset) / kPageBytes;
}

std::byte *mapped(int descriptor, uint64_t offset, uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      descriptor, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte *>(memory);
}

/// Unmaps a range of another process and the page with its word.
void unmap(uint64_t begin, uint64_t bytes, const void *word) {
  munmap(reinterpret_cast<void *>(begin), pagesOf(bytes) * kPageBytes);
  munmap(reinterpret_cast<void *>(reinterpret_cast<uint64_t>(word) & ~(kPageBytes - 1)),
         kPageBytes);
}

/// Another process's file, while this lives.
class OpenFile {
public:
  explicit OpenFile(const Handle &handle)
      : descriptor_(::open(
            ("/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor))
                .c_str(),
            O_RDWR | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  int descriptor() const { return descriptor_; }
  bool hasKey(uint64_t key) const {
    uint64_t found = 0;
    return descriptor_ >= 0 && pread(descriptor_, &found, sizeof found, 0) == sizeof found &&
           found == key;
  }

private:
  int descriptor_;
};

} // namespace

bool FakeMemory::makeFile() {
  if (file_)
    return true;
  int descriptor = memfd_create("fake device", MFD_CLOEXEC);
  if (descriptor < 0)
    return false;
  std::byte *file =
      ftruncate(descriptor, kFileBytes) == 0 ? mapped(descriptor, 0, kFileBytes) : nullptr;
  if (!file) {
    ::close(descriptor);
    return false;
  }
  std::random_device random;
  key_ = uint64_t{random()} << 32 | random();
  std::memcpy(file, &key_, sizeof key_);
  file_ = file;
  descriptor_ = descriptor;
  owner_ = getpid();
  free_ = {{0, kPages}};
  return true;
}

void FakeMemory::clear() {
  for (const auto &[begin, range] : ranges_)
    if (range.opens > 0)
      unmap(begin, range.bytes, range.word);
    else if (owner_ == getpid())
      wordOf(file_, pageOf(file_, begin))->store(0);
  ranges_.clear();
  free_.clear();
  if (file_) {
    munmap(file_, kFileBytes);
    ::close(descriptor_);
  }
  file_ = nullptr;
  descriptor_ = -1;
}

uint64_t FakeMemory::allocate(uint64_t bytes, uint32_t context, FakeMemoryKind kind) {
  if (bytes > kPages * kPageBytes || !makeFile())
    return 0;
  uint64_t pages = pagesOf(bytes);
  auto room = std::find_if(free_.begin(), free_.end(),
                           [&](const auto &range) { return range.second >= pages; });
  if (room == free_.end())
    return 0;
  auto [page, left] = *room;
  free_.erase(room);
  if (left > pages)
    free_[page + pages] = left - pages;
  std::byte *memory = file_ + kMemoryOffset + page * kPageBytes;
  std::memset(memory, kMeaningless, bytes);
  auto begin = reinterpret_cast<uint64_t>(memory);
  wordOf(file_, page)->store(++ids_);
  ranges_[begin] = {begin, bytes, context, kind, ids_};
  return begin;
}

bool FakeMemory::free(uint64_t address) {
  auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second.opens > 0)
    return false;
  uint64_t page = pageOf(file_, address), pages = pagesOf(found->second.bytes);
  wordOf(file_, page)->store(0);
  ranges_.erase(found);
  auto next = free_.upper_bound(page);
  if (next != free_.end() && next->first == page + pages) {
    pages += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == page)
    std::prev(next)->second += pages;
  else
    free_[page] = pages;
  return true;
}

const FakeMemory::Range *FakeMemory::find(uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin())
    return nullptr;
  const Range &range = std::prev(next)->second;
  return address < range.begin + range.bytes ? &range : nullptr;
}

bool FakeMemory::contains(uint64_t address, uint64_t bytes) const {
  const Range *range = find(address);
  return range && address + bytes <= range->begin + range->bytes;
}

bool FakeMemory::isFreedByOwner(const Range &range) {
  return range.word &&
         static_cast<const std::atomic<uint64_t> *>(range.word)->load() != range.ownersId;
}

CuResult FakeMemory::handleOf(uint64_t address, CuIpcHandle &handle) const {
  const Range *range = find(address);
  if (!range || range->opens > 0 || range->kind != FakeMemoryKind::Plain)
    return kCudaInvalidValue;
  Handle made{key_,         owner_,    descriptor_,   pageOf(file_, range->begin),
              range->bytes, range->id, range->context};
  handle = {};
  std::memcpy(handle.bytes, &made, sizeof made);
  return kCudaSuccess;
}

CuResult FakeMemory::open(const CuIpcHandle &handle, uint32_t context, bool reachesPeers,
                          uint64_t &address) {
  Handle wanted;
  std::memcpy(&wanted, handle.bytes, sizeof wanted);
  if (file_ && wanted.key == key_)
    return kCudaInvalidContext;
  if (context != wanted.context && !reachesPeers)
    return kCudaPeerAccessUnsupported;
  for (auto &[begin, range] : ranges_)
    if (range.opens > 0 && range.key == wanted.key && range.ownersId == wanted.id) {
      if (range.context != context)
        return kCudaInvalidContext;
      ++range.opens;
      address = begin;
      return kCudaSuccess;
    }
  OpenFile file(wanted);
  if (!file.hasKey(wanted.key) || wanted.page >= kPages ||
      wanted.bytes > (kPages - wanted.page) * kPageBytes)
    return kCudaInvalidValue;
  uint64_t wordAt = kWordsOffset + wanted.page * sizeof(uint64_t);
  std::byte *words = mapped(file.descriptor(), wordAt & ~(kPageBytes - 1), kPageBytes);
  std::byte *memory = mapped(file.descriptor(), kMemoryOffset + wanted.page * kPageBytes,
                             pagesOf(wanted.bytes) * kPageBytes);
  auto *word =
      reinterpret_cast<std::atomic<uint64_t> *>(words ? words + wordAt % kPageBytes : nullptr);
  if (!words || !memory || word->load() != wanted.id) {
    if (words)
      munmap(words, kPageBytes);
    if (memory)
      munmap(memory, pagesOf(wanted.bytes) * kPageBytes);
    return kCudaInvalidValue;
  }
  address = reinterpret_cast<uint64_t>(memory);
  ranges_[address] = {address,   wanted.bytes, context,   FakeMemoryKind::Plain, ++ids_, 1,
                      wanted.id, word,         wanted.key};
  return kCudaSuccess;
}

CuResult FakeMemory::close(uint64_t address) {
  auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second.opens == 0)
    return kCudaInvalidValue;
  Range &range = found->second;
  if (--range.opens > 0)
    return kCudaSuccess;
  unmap(address, range.bytes, range.word);
  ranges_.erase(found);
  return kCudaSuccess;
}

int FakeMemory::exportPages(uint64_t address, uint64_t bytes) const {
  const Range *range = find(address);
  if (!range || range->opens > 0 || range->kind != FakeMemoryKind::Plain ||
      address % kPageBytes != 0 || bytes % kPageBytes != 0 ||
      address + bytes > range->begin + pagesOf(range->bytes) * kPageBytes)
    return -1;
  int file = ::open(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0)
    lseek(file, static_cast<off_t>(address - reinterpret_cast<uint64_t>(file_)), SEEK_SET);
  return file;
}

size_t FakeMemory::numOpened() const {
  return static_cast<size_t>(std::count_if(
      ranges_.begin(), ranges_.end(), [](const auto &range) { return range.second.opens > 0; }));
}

} // namespace colldsl::test
