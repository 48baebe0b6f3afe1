/// What the fuzz programs share. Each of ImageFuzz.cpp and TextFuzz.cpp defines the
/// two functions below; libFuzzer calls the first, FuzzMain.cpp both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Feeds one input to what is tested; aborts if that breaks a promise.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace colldsl {

using FuzzInput = std::vector<uint8_t>;

/// Sound inputs to mutate.
std::vector<FuzzInput> fuzzCorpus();

/// Says what was broken and aborts, so that every driver notices.
[[noreturn]] void failFuzz(const std::string &what);

} // namespace colldsl
