// Modules and kernels of the fake device.
#include "tests/device/FakeState.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test {
namespace {

/// The memory of the device, as kernels of a launch use it.
class KernelMemory : public PtxMemory {
public:
  explicit KernelMemory(FakeState &state) : state_(state) {}
  std::byte *find(uint64_t address, uint64_t bytes, bool) override {
    return state_.memory.contains(address, bytes) ? reinterpret_cast<std::byte *>(address)
                                                  : nullptr;
  }

private:
  FakeState &state_;
};

/// A launch that changes nothing, and notes the ranges that are read and written.
class NotedUses : public PtxMemory {
public:
  explicit NotedUses(FakeState &state) : memory_(state) {}
  std::byte *find(uint64_t address, uint64_t bytes, bool isStore) override {
    std::byte *found = memory_.find(address, bytes, isStore);
    add(isStore ? stored : loaded, address, bytes);
    ++count;
    return found && isStore ? ignored_ : found;
  }
  std::map<uint64_t, uint64_t> loaded, stored; ///< ends of ranges, by begin
  uint64_t count = 0;

private:
  // A range that begins at the end of another one, or in it, is part of it.
  static void add(std::map<uint64_t, uint64_t> &ranges, uint64_t begin, uint64_t bytes) {
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin() && std::prev(next)->second >= begin)
      --next;
    else
      next = ranges.emplace_hint(next, begin, begin);
    next->second = std::max(next->second, begin + bytes);
    for (auto after = std::next(next); after != ranges.end() && after->first <= next->second;
         after = ranges.erase(after))
      next->second = std::max(next->second, after->second);
  }

  KernelMemory memory_;
  std::byte ignored_[16];
};

/// Adds the parts of a range, which may lie in neighbouring allocations.
void addUses(std::vector<FakeUse> &uses, const FakeMemory &memory, uint64_t from, uint64_t to) {
  while (from < to) {
    const FakeMemory::Range *range = memory.find(from);
    uint64_t end = range ? std::min(to, range->begin + range->bytes) : to;
    uses.push_back({from, end - from, FakeUse::Where::Device});
    from = end;
  }
}

bool overlapsAny(const std::map<uint64_t, uint64_t> &ranges, uint64_t begin, uint64_t end) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto &range) { return range.first < end && begin < range.second; });
}

} // namespace

extern "C" {

CuResult cuModuleLoadData(CuModule *module, const void *image) {
  FakeCall call("cuModuleLoadData");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails())
    return kCudaInvalidPtx;
  if (call->isUnsafe("cuModuleLoadData"))
    return kCudaCaptureUnsupported;
  Result<PtxModule> parsed = PtxModule::parse(static_cast<const char *>(image));
  if (!parsed) {
    call->complain(parsed.message());
    return kCudaInvalidPtx;
  }
  *module = call->newHandle<CuModule>();
  call->modules.emplace(*module, std::pair(fakeContexts().back(), parsed.take()));
  return kCudaSuccess;
}

CuResult cuModuleUnload(CuModule module) {
  FakeCall call("cuModuleUnload");
  std::erase_if(call->functions, [&](const auto &one) { return one.second.module == module; });
  return !call.fails() && call->modules.erase(module) ? kCudaSuccess : kCudaInvalidHandle;
}

CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  FakeCall call("cuModuleGetFunction");
  auto found = call->modules.find(module);
  if (found == call->modules.end())
    return kCudaInvalidHandle;
  const PtxModule::Functions &functions = found->second.second.functions();
  auto kernel = functions.find(name);
  if (call.fails() || kernel == functions.end())
    return kCudaNotFound;
  *function = call->newHandle<CuFunction>();
  call->functions.emplace(*function, FakeFunction{module, kernel->second});
  return kCudaSuccess;
}

CuResult cuLaunchKernel(CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned,
                        CuStream handle, void **parameters, void **) {
  FakeCall call("cuLaunchKernel");
  FakeStream *stream = call->streamOf(handle);
  auto found = call->functions.find(function);
  if (!stream || found == call->functions.end() ||
      call->modules.at(found->second.module).first != stream->context)
    return kCudaInvalidHandle;
  if (gridX == 0 || gridY == 0 || gridZ != 1 || blockX == 0 || blockY != 1 || blockZ != 1)
    return kCudaInvalidValue;
  ++call->kernels;
  if (call.fails())
    return kCudaIllegalAddress;
  const PtxFunction &kernel = found->second.kernel;
  auto *begin = static_cast<const std::byte *>(parameters[0]);
  std::vector parameter(begin, begin + kernel.parameterBytes());
  const PtxFunction::Grid grid{gridX, gridY, blockX};
  NotedUses uses(*call);
  if (Status s = kernel.run(grid, parameter, uses); !s)
    call->complain(s.message()); // it fails when it runs
  call->accesses += uses.count;
  FakeWork work;
  work.begin = [&state = *call, loaded = uses.loaded,
                stored = uses.stored](const FakeStream *stream) {
    for (auto &[from, to] : stored)
      if (!state.isInUse(from, to - from, stream) && !overlapsAny(loaded, from, to) &&
          state.memory.contains(from, to - from))
        std::memset(reinterpret_cast<void *>(from), kMeaningless, to - from);
  };
  for (auto &ranges : {uses.loaded, uses.stored})
    for (auto &[from, to] : ranges)
      addUses(work.uses, call->memory, from, to);
  work.run = [&state = *call, kernel, grid, parameter, used = work.uses] {
    KernelMemory memory(state);
    bool isThere =
        std::all_of(used.begin(), used.end(), [&](const FakeUse &use) { return state.check(use); });
    return isThere && kernel.run(grid, parameter, memory) ? kCudaSuccess : kCudaIllegalAddress;
  };
  return call->add(*stream, std::move(work));
}

} // extern "C"
} // namespace colldsl::test
