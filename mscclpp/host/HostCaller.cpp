#include "mscclpp/host/HostCaller.h"

#include "ir/Concat.h"

#include <tuple>

namespace colldsl::mscclpp {
namespace {

constexpr Word kUnwritten = 0xbad0bad0;

/// The output function of splitmix64 (S. Vigna).
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace

Word HostCaller::input(uint32_t launch, uint32_t gpu, uint64_t index) const {
  return static_cast<Word>(mixed(mixed(mixed(seed_ + launch) + gpu) + index));
}

Word HostCaller::sum(uint32_t launch, uint64_t index) const {
  Word all = 0;
  for (uint32_t gpu = 0; gpu < machine_.plan().numGpus(); ++gpu)
    all += input(launch, gpu, index);
  return all;
}

bool HostCaller::knowsResult() const {
  const std::string &name = machine_.plan().collective;
  for (const char *known : {"allreduce", "allgather", "reducescatter", "reduce_scatter", "alltoall",
                            "sendrecv", "broadcast"})
    if (name == known)
      return true;
  return false;
}

std::optional<Word> HostCaller::result(uint32_t launch, uint32_t gpu, uint64_t index) {
  const std::string &name = machine_.plan().collective;
  uint32_t gpus = machine_.plan().numGpus();
  uint64_t in = words(gpu, Buffer::Input), out = words(gpu, Buffer::Output);
  if (name == "allreduce")
    return sum(launch, index);
  if (name == "allgather")
    return input(launch, static_cast<uint32_t>(index / in), index % in);
  if (name == "reducescatter" || name == "reduce_scatter")
    return sum(launch, gpu * out + index);
  if (name == "alltoall") {
    uint64_t share = in / gpus;
    return input(launch, static_cast<uint32_t>(index / share), gpu * share + index % share);
  }
  if (name == "sendrecv")
    return input(launch, (gpu + gpus - 1) % gpus, index);
  if (name == "broadcast")
    return input(launch, rootOf(launch, gpu), index);
  return std::nullopt;
}

/// The GPU whose input the first output begins with.
uint32_t HostCaller::rootOf(uint32_t launch, uint32_t gpu) {
  std::lock_guard lock(mutex_);
  if (!root_) {
    root_ = 0;
    Word found = loadWord(machine_.at(gpu, Buffer::Output, 0));
    for (uint32_t from = 0; from < machine_.plan().numGpus(); ++from)
      if (found == input(launch, from, 0))
        root_ = from;
  }
  return *root_;
}

void HostCaller::prepare(uint32_t gpu, uint32_t launch) {
  for (uint64_t i = 0; i < words(gpu, Buffer::Output); ++i)
    storeWord(machine_.at(gpu, Buffer::Output, i * sizeof(Word)), kUnwritten);
  for (uint64_t i = 0; i < words(gpu, Buffer::Input); ++i)
    storeWord(machine_.at(gpu, Buffer::Input, i * sizeof(Word)), input(launch, gpu, i));
}

void HostCaller::compare(const WrongWord &word) {
  if (word.found == word.expected)
    return;
  std::lock_guard lock(mutex_);
  ++numWrong_;
  auto key = [](const WrongWord &w) { return std::tuple(w.launch, w.gpu, w.buffer, w.index); };
  if (!first_ || key(word) < key(*first_))
    first_ = word;
}

void HostCaller::check(uint32_t gpu, uint32_t launch) {
  auto found = [&](Buffer buffer, uint64_t i) {
    return loadWord(machine_.at(gpu, buffer, i * sizeof(Word)));
  };
  for (uint64_t i = 0; !machine_.plan().inPlace && i < words(gpu, Buffer::Input); ++i)
    compare({launch, gpu, Buffer::Input, i, found(Buffer::Input, i), input(launch, gpu, i)});
  for (uint64_t i = 0; knowsResult() && i < words(gpu, Buffer::Output); ++i)
    if (std::optional<Word> expected = result(launch, gpu, i))
      compare({launch, gpu, Buffer::Output, i, found(Buffer::Output, i), *expected});
}

/// The input that a wrong word is, if it is one.
std::string HostCaller::originOf(const WrongWord &wrong) const {
  if (wrong.found == kUnwritten)
    return ", which no op wrote";
  uint64_t chunk = machine_.layout().chunkBytes() / sizeof(Word), offset = wrong.index % chunk;
  for (uint32_t back = 0; back < 2 && back < wrong.launch; ++back)
    for (uint32_t gpu = 0; gpu < machine_.plan().numGpus(); ++gpu)
      for (uint64_t i = offset; i < words(gpu, Buffer::Input); i += chunk)
        if (input(wrong.launch - back, gpu, i) == wrong.found)
          return concat(", which is input[", i / chunk, "]@", gpu, " of launch ",
                        wrong.launch - back);
  return {};
}

std::string HostCaller::firstWrong() const {
  if (!first_)
    return {};
  uint64_t chunk = machine_.layout().chunkBytes() / sizeof(Word);
  return concat("launch ", first_->launch, ", gpu ", first_->gpu, ", ", spelling(first_->buffer),
                "[", first_->index / chunk, "], word ", first_->index % chunk, ": ", first_->found,
                originOf(*first_), "; ",
                first_->buffer == Buffer::Input ? "the input was"
                                                : machine_.plan().collective + " leaves",
                " ", first_->expected);
}

} // namespace colldsl::mscclpp
