/// An execution plan of MSCCL++: the ops of every thread block of every GPU, with their channels
/// and buffers resolved. docs/mscclpp.md says what an op does and what it orders.
#pragma once

#include "ir/Ids.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::mscclpp {

enum class OpKind : uint8_t {
#define COLLDSL_MSCCLPP_OP(Name, spelling, usesPackets) Name,
#include "mscclpp/Ops.def"
};

std::string_view spelling(OpKind kind);
/// True for ops that write packets, or wait for them.
bool usesPackets(OpKind kind);

enum class Buffer : uint8_t { Input, Output, Scratch };
enum class ChannelKind : uint8_t { None, Memory, Port, Switch };

std::string_view spelling(Buffer buffer);
std::string_view spelling(ChannelKind kind);

/// Chunks of one buffer. Over a switch they lie on several GPUs, at one place on each.
struct ChunkRange {
  std::vector<uint32_t> gpus; ///< one, or those of a switch group
  Buffer buffer = Buffer::Input;
  uint32_t index = 0, size = 0; ///< chunks
  bool isSwitch = false;
  bool isRemote = false; ///< a buffer of another GPU, by a channel
};

struct Op {
  OpKind kind = OpKind::Nop;
  ChannelKind channelKind = ChannelKind::None;
  std::vector<uint32_t> channels; ///< of the GPU's memory or port channels, by position
  std::vector<ChunkRange> sources, destinations;
  uint32_t slice = 0, slices = 1; ///< the part of its ranges that this thread block serves
  uint32_t barrier = 0, barrierSize = 0;
  std::vector<uint32_t> semaphores;
  uint64_t unitBytes = 0;  ///< of a pipeline, per iteration
  uint32_t numChunks = 0;  ///< of a pipeline, over all iterations
  std::vector<Op> members; ///< of a pipeline
  SourceLoc loc;           ///< its name in the text of the plan
};

struct ThreadBlock {
  std::vector<Op> ops;
};

/// One end of a connection: a signal on it counts at the same channel of the peer.
struct Channel {
  static constexpr uint32_t kNoPair = ~0U;
  uint32_t peer = 0;
  uint32_t pair = kNoPair; ///< the peer's channel of that kind
};

struct Gpu {
  uint32_t inputChunks = 0, outputChunks = 0, scratchChunks = 0;
  std::vector<Channel> memoryChannels, portChannels;
  std::vector<int32_t> semaphores; ///< initial values
  std::vector<ThreadBlock> threadBlocks;

  const std::vector<Channel> &channels(ChannelKind kind) const {
    return kind == ChannelKind::Port ? portChannels : memoryChannels;
  }
};

struct Plan {
  std::string name, collective;
  bool usesPackets = false; ///< protocol LL
  bool inPlace = false, reusesResources = false, doubleScratch = false;
  uint32_t alignment = 16;
  uint32_t numThreads = 1024; ///< of a thread block
  uint64_t minBytes = 0, maxBytes = ~0ULL;
  std::vector<Gpu> gpus;

  uint32_t numGpus() const { return static_cast<uint32_t>(gpus.size()); }
  uint32_t chunks(uint32_t gpu, Buffer buffer) const;
};

} // namespace colldsl::mscclpp
