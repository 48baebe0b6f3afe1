/// The caller of a plan that runs in the memory of this process: it writes fresh inputs before each
/// launch, and compares the outputs with the collective, computed from the inputs alone.
#pragma once

#include "mscclpp/host/HostMachine.h"

#include <mutex>
#include <optional>
#include <string>

namespace colldsl::mscclpp {

struct WrongWord {
  uint32_t launch = 0, gpu = 0;
  Buffer buffer = Buffer::Output;
  uint64_t index = 0; ///< of the word in its buffer
  Word found = 0, expected = 0;
};

class HostCaller {
public:
  HostCaller(HostMachine &machine, uint64_t seed) : machine_(machine), seed_(seed) {}

  /// Writes the input of a GPU, and leaves in the output what no launch writes.
  void prepare(uint32_t gpu, uint32_t launch);
  /// Compares what the launch left. Several GPUs may end at once.
  void check(uint32_t gpu, uint32_t launch);

  /// False: the collective has no result that is known, and inputs alone are compared.
  bool knowsResult() const;
  uint64_t numWrong() const { return numWrong_; }
  /// The first one, by launch, GPU and place; "launch 2, gpu 1, output[3], word 5: ..."
  std::string firstWrong() const;

private:
  Word input(uint32_t launch, uint32_t gpu, uint64_t index) const;
  std::optional<Word> result(uint32_t launch, uint32_t gpu, uint64_t index);
  Word sum(uint32_t launch, uint64_t index) const;
  uint64_t words(uint32_t gpu, Buffer buffer) const {
    return machine_.layout().bufferBytes(gpu, buffer) / sizeof(Word);
  }
  void compare(const WrongWord &word);
  uint32_t rootOf(uint32_t launch, uint32_t gpu);
  std::string originOf(const WrongWord &wrong) const;

  HostMachine &machine_;
  uint64_t seed_;
  std::mutex mutex_;
  std::optional<uint32_t> root_; ///< of a broadcast, which a plan does not name
  std::optional<WrongWord> first_;
  uint64_t numWrong_ = 0;
};

} // namespace colldsl::mscclpp
