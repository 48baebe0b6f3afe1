/// What the fuzz programs share. Each target defines the first two functions below, and
/// may define the third; else MutateBytes.cpp does. libFuzzer calls the first, FuzzMain.cpp
/// all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Feeds one input to what is tested; aborts if that breaks a promise.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace colldsl {

using FuzzInput = std::vector<uint8_t>;

/// Inputs to mutate.
std::vector<FuzzInput> fuzzCorpus();

/// An input made of the corpus; the same for the same seed and corpus. A process has one
/// corpus.
FuzzInput mutateFuzz(const std::vector<FuzzInput> &corpus, uint64_t seed);

/// The files of a folder, in the order of their names; fails if there are none.
std::vector<FuzzInput> readCorpus(const std::string &folder);

/// Says what was broken and aborts, so that every driver notices.
[[noreturn]] void failFuzz(const std::string &what);

} // namespace colldsl
