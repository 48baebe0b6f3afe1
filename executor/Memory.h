/// The memory of a plan: the caller's buffers, and temporaries of its own.
#pragma once

#include "executor/Reduce.h"
#include "ir/Bounds.h"
#include "ir/Image.h"

#include <cstdlib>
#include <memory>

namespace colldsl {

namespace device {
struct CudaDriver;
}

/// A caller's memory for one parameter. Buffers with role `in` are never written.
struct BoundBuffer {
  void *data = nullptr;
  uint64_t bytes = 0;
  bool isConst = false; ///< refused for a parameter that is written
  /// The driver of the device whose memory this is; it outlives what is bound. Null: memory of the
  /// host.
  const device::CudaDriver *driver = nullptr;

  static BoundBuffer in(const void *data, uint64_t bytes) {
    return {const_cast<void *>(data), bytes, true};
  }
};

/// Memory for the temporaries of a plan.
class TemporaryMemory {
public:
  virtual ~TemporaryMemory() = default;
  /// So many bytes, zero at first, which stay until the next call; on a page of their own. Null:
  /// there is no memory.
  virtual std::byte *reserve(uint64_t bytes) = 0;
};

/// Shorter messages are faster by the host.
inline constexpr uint64_t kDeviceMessagesFrom = 16 << 10;

/// The buffers and sizes that a plan is bound to.
struct Binding {
  uint64_t elements = 0; ///< n, within the validity range
  /// Indexed by BufferId, one per parameter. A parameter that is not significant on this rank, is
  /// an alias of another or has no bytes may be null.
  std::vector<BoundBuffer> buffers;
  /// Indexed by BufferId, as in Sizes; may be shorter. CallTime buffers need a table, without
  /// places if their blocks are contiguous. Capacity: the table has only lengths, at the start of
  /// each run, of blocks that hold data then: those of `in` and `inout`. Without a table these are
  /// full. All others are empty, except that a block in which a parameter with data lies has its
  /// length.
  std::vector<BlockTable> blocks;
  /// Replaces the operators of the schedule, which then was made for elements of type u8: each of
  /// these is an element of the combiner, whose bytes stay together. n and the blocks count those.
  Combiner combiner = {};
  /// The parameters' names, by which errors call them: "'x' is null". Others are "buffer 1".
  /// Outlive what is bound.
  std::span<const std::string> names = {};
  /// Memory for the temporaries; null: the plan has its own.
  TemporaryMemory *temporaries = nullptr;
  /// Device memory is copied in segments of so many bytes.
  uint64_t segmentBytes = 512 << 10;
  /// A copy or combine with operands on the host and on the device runs on the device if it has at
  /// least so many bytes.
  uint64_t deviceCombinesFrom = 64 << 10;
  /// All ranks of the plan bind all their buffers in device memory, whenever they bind: messages
  /// between ranks of one machine go from device memory to device memory, from `deviceMessagesFrom`
  /// bytes on. Alike on all ranks.
  bool deviceOnly = false;
  uint64_t deviceMessagesFrom = kDeviceMessagesFrom;
  /// False: the plan is not captured as it is bound. Then it has no words for graphs, which are
  /// memory of the device, and whose first binding waits for the device. Ranks may differ.
  bool mayBeCaptured = true;
};

/// Frees memory from calloc, which is zero without being touched.
struct FreeMemory {
  void operator()(std::byte *memory) const { std::free(memory); }
};

/// A buffer in the words of errors: "'x'", "buffer 1".
std::string bufferInWords(std::span<const std::string> names, uint32_t b);

/// All buffers of one rank, bound and checked. Does not own the caller's buffers;
/// owns the temporaries. Slices are those of the view.
class Memory {
public:
  /// `view` is of data that outlives it.
  explicit Memory(const RankView &view);

  /// Refuses a size outside of the class, buffers that are missing, null or too short, and ops that
  /// touch bytes outside of their buffers; the memory is then of no use until it is bound again.
  /// Bound again to no more than before, it allocates nothing.
  Status bind(const SizeClass &sizeClass, const Binding &binding);

  /// The bytes of a slice, with the length that its block has now.
  std::byte *addressOf(const Slice &slice) const {
    return bases_[index(slice.buffer)].data + rangeOf(slice).offset;
  }
  ByteRange rangeOf(const Slice &slice) const {
    return isVariable(slice) ? resolve(slice, bufferOf(slice), sizes_)
                             : ranges_[static_cast<size_t>(&slice - view_.slices.data())];
  }

  /// True if the length of the block is not fixed when the plan is bound.
  bool isVariable(const Slice &slice) const {
    return slice.block != kNoBlock && bufferOf(slice).layout == Layout::Capacity;
  }
  /// The bytes of its buffer that an op on the slice may touch, whatever length its block has.
  ByteRange touchedBy(const Slice &slice) const;
  uint64_t capacityBytes(const Slice &slice) const { return capacityBytes(index(slice.buffer)); }
  uint64_t elementBytesOf(const Slice &slice) const {
    return sizes_.elementBytesOf(bufferOf(slice));
  }

  /// Sets the length of the slice's block, at most its capacity.
  void setLengthBytes(const Slice &slice, uint64_t bytes) {
    Block block{index(slice.buffer), slice.block};
    lengthOf(block) = bytes / elementBytesOf(slice);
    if (!shared_.empty())
      shareLength(block, bytes);
  }

  /// Lengths of the blocks of a Capacity buffer as they are now, in elements.
  const std::vector<uint64_t> &lengthsOf(BufferId buffer) const {
    return sizes_.blocks[index(buffer)].length;
  }

  std::string inWords(uint32_t b) const { return bufferInWords(names_, b); }

  size_t numBuffers() const { return buffers_.size(); }
  /// True if some buffer has blocks.
  bool hasBlocks() const { return hasBlocks_; }
  /// True if it was bound to some n but 0, and if all buffers and slices begin and end at multiples
  /// of n: those of this n overlap, and lie in each other, like those of that one.
  bool scalesTo(uint64_t n) const {
    return isPlaced_ && placedElements_ > 0 && n > 0 && n <= mostScaled_;
  }

  /// The memory that the caller gave for a buffer; empty: there is none, or none of its bytes are
  /// needed.
  std::span<std::byte> parameter(BufferId buffer) const;

  /// The bytes of any buffer, where they are bound; of an alias those that it lies in.
  std::span<std::byte> bytesOf(BufferId buffer) const {
    return {bases_[index(buffer)].data, bases_[index(buffer)].bytes};
  }

  /// Moves the memory of a parameter by so many bytes.
  void shift(BufferId parameter, ptrdiff_t by);

  /// Gives all Capacity blocks the lengths that they were bound with. Costs nothing if
  /// there are none.
  void restoreLengths();

private:
  struct Base {
    std::byte *data = nullptr;
    uint64_t bytes = 0;
  };

  struct Block {
    uint32_t buffer;
    uint32_t number;
    bool operator==(const Block &) const = default;
  };
  /// A parameter that consists of one block, and the block in which it lies.
  struct SharedBlock {
    Block own;
    Block owner;
  };

  /// The memory of all temporaries, one behind the other.
  class Temporaries {
  public:
    /// Makes room for so many bytes, aligned. Null: there is no memory.
    std::byte *reserve(uint64_t bytes);

  private:
    std::unique_ptr<std::byte, FreeMemory> memory_;
    uint64_t bytes_ = 0;
  };

  const Buffer &bufferOf(const Slice &slice) const { return buffers_[index(slice.buffer)]; }
  bool ownsStorage(const Buffer &buffer) const {
    return buffer.aliasOf == kNoBuffer && buffer.significant;
  }
  uint32_t ownerOf(uint32_t b) const;
  Status wrong(uint32_t b, const Status &why) const;
  void findScale();
  void scale();
  Status placeAll(uint64_t elements, uint64_t elementBytes);
  Status placeBuffers();
  Status placeSlices();
  void placeSlicesOfBlocks();
  Status checkCombiner(const Combiner &combiner) const;
  Status bindBlocks(const Binding &binding);
  void findShared();
  Status lendLength(const SharedBlock &shared, const Binding &binding);
  void shareLength(Block block, uint64_t bytes);
  uint64_t &lengthOf(Block block) { return sizes_.blocks[block.buffer].length[block.number]; }
  uint64_t elementBytesOf(Block block) const {
    return sizes_.elementBytesOf(buffers_[block.buffer]);
  }
  Status bindCapacity(uint32_t b, const Binding &binding);
  Status bindCallTime(uint32_t b, const Binding &binding);
  Status bindParameters(const Binding &binding);
  Status bindTemporaries(const Binding &binding);
  void bindAliases();
  uint64_t numElements(uint32_t b) const {
    return static_cast<uint64_t>(elements_[b].end - elements_[b].begin);
  }
  uint64_t neededBytes(uint32_t b) const;
  uint64_t capacityBytes(uint32_t b) const; ///< of each of its blocks
  Status checkOps() const;
  bool isTouchable(const Slice &slice) const;

  struct Touched {
    uint32_t op;
    const Slice *slice;
  };

  RankView view_;
  std::span<const Buffer> buffers_;
  bool hasBlocks_ = false, hasAliases_ = false;
  bool areBlocksRight_ = false; ///< slices of blocks were checked, whatever n is
  bool isPlaced_ = false;       ///< buffers, and slices but those of blocks, were found right
  uint64_t placedElements_ = 0; ///< for this n
  uint64_t placedElementBytes_ = 0;
  uint64_t mostScaled_ = 0;      ///< the largest n to which scale() leads; 0: they are not scaled
  std::vector<Touched> touched_; ///< by ops, and not known to lie in memory
  std::span<const std::string> names_; ///< of the first buffers
  Sizes sizes_;
  std::vector<Elements> elements_; ///< by buffer
  std::vector<ByteRange> ranges_;  ///< by slice, unless its length is variable
  std::vector<uint32_t> capacityBuffers_;
  std::vector<BlockTable> boundBlocks_; ///< parallel to capacityBuffers_
  std::vector<SharedBlock> shared_;     ///< pairs whose length may change
  std::vector<Base> bases_;
  Temporaries temporaries_;
};

} // namespace colldsl
