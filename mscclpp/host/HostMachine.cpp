#include "mscclpp/host/HostMachine.h"

#include "ir/Concat.h"

#include <algorithm>
#include <unistd.h>

namespace colldsl::mscclpp {

/// The bytes that a run writes to, at most.
static uint64_t usedBytes(const Plan &plan, const PlanLayout &layout) {
  uint64_t bytes = 0;
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    for (Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch})
      bytes += std::min(layout.bufferBytes(gpu, buffer),
                        4 * layout.chunkBytes() * plan.chunks(gpu, buffer));
  return bytes;
}

std::byte *HostMachine::allocate(uint64_t bytes) {
  void *made = std::calloc(std::max<uint64_t>(bytes, 1), 1);
  memory_.emplace_back(static_cast<std::byte *>(made));
  return memory_.back().get();
}

// In place the smaller of the two buffers lies in the larger one, as in PlanMemory.cpp.
Status HostMachine::place(uint32_t gpu) {
  uint64_t in = layout_.bufferBytes(gpu, Buffer::Input),
           out = layout_.bufferBytes(gpu, Buffer::Output);
  HostGpu &g = gpus_[gpu];
  if (plan_.inPlace) {
    std::byte *both = allocate(std::max(in, out));
    g.input = both + (in < out ? gpu * in : 0);
    g.output = both + (out < in ? gpu * out : 0);
  } else {
    g.input = allocate(in);
    g.output = allocate(out);
  }
  g.scratch = allocate(layout_.bufferBytes(gpu, Buffer::Scratch));
  bool isShort = std::any_of(memory_.begin(), memory_.end(), [](const auto &m) { return !m; });
  return isShort ? Status::error(ErrorKind::NoMemory,
                                 concat("memory is short for the buffers of gpu ", gpu))
                 : Status();
}

Result<std::unique_ptr<HostMachine>> HostMachine::of(const Plan &plan, const PlanLayout &layout) {
  // Checked in advance, because the kernel overcommits.
  uint64_t needed = usedBytes(plan, layout),
           present = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (needed > present)
    return Status::error(ErrorKind::NoMemory,
                         concat("the buffers of all GPUs take ", needed,
                                " bytes, this machine has ", present, " of memory"));
  std::unique_ptr<HostMachine> made(new HostMachine(plan, layout));
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu) {
    HostGpu &g = made->gpus_.emplace_back();
    for (ChannelKind kind : {ChannelKind::Memory, ChannelKind::Port})
      for (size_t i = 0; i < plan.gpus[gpu].channels(kind).size(); ++i)
        g.channels(kind).emplace_back();
    for (int32_t value : plan.gpus[gpu].semaphores)
      g.semaphores.emplace_back(value);
    if (Status s = made->place(gpu); !s)
      return s;
  }
  return made;
}

SignalCounter *HostMachine::peerOf(uint32_t gpu, ChannelKind kind, uint32_t channel) {
  const Channel &end = plan_.gpus[gpu].channels(kind)[channel];
  return end.pair == Channel::kNoPair ? nullptr : &gpus_[end.peer].channels(kind)[end.pair];
}

} // namespace colldsl::mscclpp
