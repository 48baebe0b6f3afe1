/// Memory that ranks lend beyond their arenas: each block is mapped by itself, where it is
/// allocated and by each process that reaches it, so it takes address space only there.
#pragma once

#include "ir/Result.h"
#include "transports/Payload.h"
#include "transports/shm/Layout.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace colldsl::shm {

/// The blocks that this process has mapped. Thread safe.
class LentMemory {
public:
  /// `descriptor`, of the memory that ranks share, stays the caller's.
  static Result<std::unique_ptr<LentMemory>> open(int descriptor);
  ~LentMemory();
  LentMemory(const LentMemory &) = delete;
  LentMemory &operator=(const LentMemory &) = delete;

  /// The bytes at an offset that lies in the block, which is lent and mapped as long as it is.
  /// Null: it cannot be mapped.
  std::byte *reach(uint64_t offset, const LentBlock &block);
  /// Variant of reach() for a block that is mapped; null: none is known to be there.
  std::byte *find(uint64_t offset);

  /// Gives the pages of a block back to the system, for all processes, and unmaps it in this one.
  /// Other processes unmap it when they map another block.
  void remove(const LentBlock &block);

  /// The offset of these bytes, if they lie in a block that is mapped.
  std::optional<uint64_t> offsetOf(const void *memory, uint64_t bytes);

  /// Copies that map nothing. False: the system refuses them.
  bool read(uint64_t offset, const Payload &to) const;
  bool write(uint64_t offset, const Payload &from) const;

private:
  struct View {
    std::byte *memory;
    uint64_t bytes;
    const LentBlock *block;
    uint32_t use; ///< the block is another one once its use differs
  };
  using Views = std::map<uint64_t, View>; ///< by offset

  explicit LentMemory(int descriptor) : descriptor_(descriptor) {}
  bool isOurs() const;
  Views::iterator viewAt(uint64_t offset);
  void unmap(Views::iterator view);

  const int descriptor_;
  uint64_t device_ = 0, file_ = 0; ///< of the descriptor, which a program may close
  std::mutex mutex_;
  Views views_;
  std::map<const std::byte *, uint64_t> offsets_; ///< of views, by address
  std::atomic<bool> isUsed_{false};               ///< relaxed: a payload is known to who lent it
};

} // namespace colldsl::shm
