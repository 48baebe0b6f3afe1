/// The state that the threadblocks and proxies of all GPUs share while a plan runs in the memory of
/// this process. Data are words of 32 bits, each of them read and written as one.
#pragma once

#include "mscclpp/PlanLayout.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>

namespace colldsl::mscclpp {

using Word = uint32_t;

inline Word loadWord(const std::byte *at) {
  return std::atomic_ref(*reinterpret_cast<Word *>(const_cast<std::byte *>(at)))
      .load(std::memory_order_relaxed);
}
inline void storeWord(std::byte *at, Word word) {
  std::atomic_ref(*reinterpret_cast<Word *>(at)).store(word, std::memory_order_relaxed);
}

/// A packet has 8 bytes: a word of payload, and the flag of its launch. Reader and writer move both
/// at once. (MSCCL++'s LL16 packets are two of these.)
inline uint64_t loadPacket(const std::byte *at) {
  return std::atomic_ref(*reinterpret_cast<uint64_t *>(const_cast<std::byte *>(at)))
      .load(std::memory_order_relaxed);
}
inline void storePacket(std::byte *at, Word word, Word flag) {
  std::atomic_ref(*reinterpret_cast<uint64_t *>(at))
      .store(uint64_t{flag} << 32 | word, std::memory_order_relaxed);
}

/// One end of a channel: the signals that came, and the waits that began, each for one more.
struct SignalCounter {
  std::atomic<uint64_t> signals{0}, waits{0};
};

/// The threads, or threadblocks, that meet.
struct Meeting {
  std::atomic<uint32_t> arrived{0}, round{0};
};

/// A put, a signal, or both.
struct ProxyRequest {
  const std::byte *from = nullptr;
  std::byte *to = nullptr;
  uint64_t bytes = 0;
  SignalCounter *signal = nullptr;
};

/// The queue of a GPU to the thread that serves its port channels.
struct ProxyQueue {
  std::mutex mutex;
  std::deque<ProxyRequest> requests;
  uint64_t pushed = 0;
  std::atomic<uint64_t> served{0};

  /// Returns the number that `served` has when the request is done.
  uint64_t push(const ProxyRequest &request) {
    std::lock_guard lock(mutex);
    requests.push_back(request);
    return ++pushed;
  }
};

struct HostGpu {
  std::byte *input = nullptr, *output = nullptr, *scratch = nullptr;
  std::deque<SignalCounter> memoryChannels, portChannels;
  std::deque<std::atomic<int64_t>> semaphores;
  std::array<Meeting, 16> barriers;
  ProxyQueue proxy;
  std::atomic<uint32_t> launch{1};  ///< the one that may run
  uint32_t threads = 0;             ///< of all its threadblocks
  std::atomic<uint32_t> running{0}; ///< those of them that have not ended this launch

  std::deque<SignalCounter> &channels(ChannelKind kind) {
    return kind == ChannelKind::Port ? portChannels : memoryChannels;
  }
};

class HostMachine {
public:
  /// The plan and the layout outlive it. An error: memory is short.
  static Result<std::unique_ptr<HostMachine>> of(const Plan &plan, const PlanLayout &layout);

  const Plan &plan() const { return plan_; }
  const PlanLayout &layout() const { return layout_; }
  HostGpu &gpu(uint32_t gpu) { return gpus_[gpu]; }
  std::byte *at(uint32_t gpu, Buffer buffer, uint64_t offset) {
    HostGpu &g = gpus_[gpu];
    return (buffer == Buffer::Input    ? g.input
            : buffer == Buffer::Output ? g.output
                                       : g.scratch) +
           offset;
  }
  /// The counter at the other end of a channel; null: the peer has none.
  SignalCounter *peerOf(uint32_t gpu, ChannelKind kind, uint32_t channel);

private:
  struct Free {
    void operator()(std::byte *memory) const { std::free(memory); }
  };

  HostMachine(const Plan &plan, const PlanLayout &layout) : plan_(plan), layout_(layout) {}
  /// Zeros, of which the pages that are used count. Null: memory is short.
  std::byte *allocate(uint64_t bytes);
  Status place(uint32_t gpu);

  const Plan &plan_;
  const PlanLayout &layout_;
  std::deque<HostGpu> gpus_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

} // namespace colldsl::mscclpp
