/// The memory of the fake device: ranges of a file that other processes can map.
///
/// A handle names the process, its file and the range. The file also has a word for each range, its
/// id while it is allocated, by which a process that opened it notices that its owner freed it. A
/// freed range is allocated again at once if one of that size is asked for, under another id.
#pragma once

#include "device/CudaDriver.h"

#include <atomic>
#include <map>

namespace colldsl::test {

enum class FakeMemoryKind : uint8_t {
  Plain,
  Pool,   ///< has no context and no handle
  Managed ///< has no handle
};

/// The device memory of one process. Not thread safe.
class FakeMemory {
public:
  struct Range {
    uint64_t begin, bytes;
    uint32_t context; ///< number
    FakeMemoryKind kind;
    uint64_t id;                ///< in this process
    uint32_t opens = 0;         ///< 0: this process owns the range
    uint64_t ownersId = 0;      ///< of a range of another process
    const void *word = nullptr; ///< where the owner keeps its id
    uint64_t key = 0;           ///< of the file with the range
  };

  FakeMemory() = default;
  ~FakeMemory() { clear(); }
  FakeMemory(const FakeMemory &) = delete;
  FakeMemory &operator=(const FakeMemory &) = delete;

  /// Frees and closes everything. In a child of fork() it leaves the parent's memory alone.
  void clear();

  /// The bytes are of no meaning. 0: there is no room.
  uint64_t allocate(uint64_t bytes, uint32_t context, FakeMemoryKind kind);
  /// False: no range of this process begins there.
  bool free(uint64_t address);

  /// The range that the address lies in, or null.
  const Range *find(uint64_t address) const;
  /// True: the bytes are in one range.
  bool contains(uint64_t address, uint64_t bytes) const;
  /// True: the range is one of another process, which has freed it.
  static bool isFreedByOwner(const Range &range);

  device::CuResult handleOf(uint64_t address, device::CuIpcHandle &handle) const;
  /// `reachesPeers`: one context can open memory of another one's device.
  device::CuResult open(const device::CuIpcHandle &handle, uint32_t context, bool reachesPeers,
                        uint64_t &address);
  device::CuResult close(uint64_t address);

  /// A dma-buf of whole pages of one allocation of this process. -1: they are none.
  int exportPages(uint64_t address, uint64_t bytes) const;

  size_t numOpened() const;

private:
  bool makeFile();

  std::byte *file_ = nullptr; ///< mapped
  int descriptor_ = -1;
  uint64_t key_ = 0;                  ///< no other file has it
  int owner_ = 0;                     ///< process
  std::map<uint64_t, Range> ranges_;  ///< by address
  std::map<uint64_t, uint64_t> free_; ///< numbers of pages, by the first one
  uint64_t ids_ = 0;
};

} // namespace colldsl::test
